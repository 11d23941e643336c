#include "launcher/record/link_troubles.h"

#include <fmt/format.h>

namespace sterna::launcher {

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

}  // namespace sterna::launcher
