#include "launcher/past/fault_draw.h"

#include <fmt/format.h>

#include <algorithm>

#include "actors/job/args.h"
#include "runtime/base/duration_text.h"

namespace sterna::launcher {
namespace {

constexpr Duration kFinest = std::chrono::milliseconds(10);  // of what is said

/// "worker12" without "12".
std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  return name.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

Duration FaultDraw::pause() {
  const auto most = 2 * static_cast<std::uint64_t>(options_.every.count());
  return Duration(static_cast<std::int64_t>(random_.below(most + 1)));
}

bool FaultDraw::may_be_struck(const ProcessStatus& member) const {
  if (member.state != "running") return false;
  const std::string& name = member.identity.name;
  if (std::ranges::any_of(struck_, [&](const std::string& one) {
        return one == actors::replica_of(name) || name == actors::replica_of(one);
      })) {
    return false;
  }
  if (options_.actors.empty()) return member.comes_again;
  return std::ranges::any_of(options_.actors,
                             [&](const std::string& word) { return means(word, name); });
}

std::vector<PeerIdentity> FaultDraw::candidates(const Overview& overview) const {
  std::vector<PeerIdentity> actors;
  for (const ProcessStatus& member : overview.members) {
    if (may_be_struck(member)) actors.push_back(member.identity);
  }
  std::ranges::sort(actors, {}, &PeerIdentity::name);
  return actors;
}

std::optional<DrawnFault> FaultDraw::next(const Overview& overview) {
  const std::vector<PeerIdentity> actors = candidates(overview);
  // Always as many draws: who is there now does not change what comes later.
  const std::uint64_t who = random_.next();
  const std::uint64_t how = random_.next();
  const bool ends = random_.below(2) == 1;
  const std::uint64_t lasts = 1 + random_.below(static_cast<std::uint64_t>(kLongest / kFinest));
  if (actors.empty() || options_.kinds.empty()) return std::nullopt;
  DrawnFault fault{actors[who % actors.size()], options_.kinds[how % options_.kinds.size()]};
  if (must_last(fault.kind) || (may_last(fault.kind) && ends)) {
    fault.lasts = kFinest * static_cast<std::int64_t>(lasts);
  }
  if (struck_.size() == kRemembered) struck_.pop_front();
  struck_.push_back(fault.actor.name);
  return fault;
}

bool means(std::string_view word, std::string_view name) {
  return word == name || word == without_number(name);
}

std::string words_of(const DrawnFault& fault) {
  const std::string_view kind = name_of(fault.kind);
  if (!may_last(fault.kind)) return std::string(kind);
  return fmt::format("{} for {}", kind,
                     fault.lasts > Duration::zero() ? duration_text(fault.lasts) : "good");
}

}  // namespace sterna::launcher
