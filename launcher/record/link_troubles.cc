#include "launcher/record/link_troubles.h"

#include <fmt/format.h>

#include <vector>

#include "launcher/text/text_format.h"
#include "runtime/base/byte_size.h"

namespace sterna::launcher {

namespace {
/// All of them stand in each status.
constexpr std::size_t kMostSlowLinks = 64;
}  // namespace

std::string note_link_trouble(RunRecord& record, const LinkTrouble& trouble) {
  const std::set<std::string> both = {trouble.from_name, trouble.to_name};
  const std::string who = trouble.from_name + " and " + trouble.to_name;
  if (!trouble.over) {
    record.apart.insert(both);
    return fmt::format("{} do not reach each other ({}): they go on trying", who, trouble.cause);
  }
  record.result.relinked = ++record.status.relinked;
  if (record.apart.erase(both) == 0) return "";
  return fmt::format("{} reach each other again, after {:.1f} s", who, in_seconds(trouble.lasts));
}

std::string note_link_pace(RunRecord& record, const LinkPace& pace, std::uint64_t limit) {
  const SlowLink link{.from = pace.from_name,
                      .from_host = pace.from_host,
                      .to = pace.to_name,
                      .to_host = pace.to_host,
                      .bytes_per_second = pace.rate};
  const std::string who = fmt::format("the link from {} on {} to {} on {}", link.from,
                                      link.from_host, link.to, link.to_host);
  std::vector<SlowLink>& known = record.status.slow_links;
  std::erase_if(known,
                [&](const SlowLink& one) { return one.from == link.from && one.to == link.to; });
  if (pace.over) {
    return fmt::format("{} is slow no more, after {:.1f} s", who, in_seconds(pace.lasts));
  }
  if (known.size() < kMostSlowLinks) known.push_back(link);
  return fmt::format("{} carries at most {}/s, less than the {}/s of cluster.slow_link", who,
                     bytes_text(pace.rate), byte_size_text(limit));
}

}  // namespace sterna::launcher
