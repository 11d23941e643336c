// Links: which of them is slower than LinkOptions::slow_below, while there is something to send.
//
// What was under way when the measuring began, and has not all come when it ends, kept the link
// busy all the while. In that time it carried at most what the peer has said that it has, and the
// message that is on its way. A link that all has come over says nothing of its speed, unless that
// was much.
#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/link/link_state.h"

namespace sterna {

using detail::index;
using detail::kEveryLane;

namespace {
/// A peer says at each heartbeat what it has; so that a late one of these is no slow link.
constexpr int kHeartbeatsMeasured = 4;
/// Who was not heard of for longer may stand still, and says nothing of the link.
constexpr int kHeartbeatsUnheard = 2;
/// A link that was not found slow for so long, as it had nothing to send, is slow no more.
constexpr int kHeartbeatsQuiet = 60;
}  // namespace

bool Links::LaneState::waits_behind(std::uint64_t number) const {
  return !kept.empty() && next_out - kept.size() < number;
}

void Links::measure(Link& link, Time now) {
  if (options_.slow_below == 0) return;
  Pace& pace = link.pace;
  bool busy = false;
  std::uint64_t arrived = 0;
  std::uint64_t on_its_way = 0;
  for (const Lane lane : kEveryLane) {
    const LaneState& state = link.lanes[index(lane)];
    arrived += state.arrived;
    if (!state.waits_behind(pace.mark[index(lane)])) continue;
    busy = true;
    on_its_way += state.kept.front()->charge;
  }
  const auto more = static_cast<double>(arrived - pace.arrived);
  const double seconds = in_seconds(now - pace.began);
  const auto limit = static_cast<double>(options_.slow_below);
  const bool known = std::max(link.back_at, attentive_since_) <= pace.began &&
                     now - link.last_heard < kHeartbeatsUnheard * options_.heartbeat;
  const bool fast = more >= limit * seconds;
  const double at_most = (more + static_cast<double>(on_its_way)) / std::max(seconds, 1e-9);
  const bool long_enough = now - pace.began >= kHeartbeatsMeasured * options_.heartbeat;
  const bool slow = known && busy && long_enough && at_most < limit;
  // It may turn out either way once the message on its way has come.
  if (known && busy && !slow && !fast) return;
  if (slow) {
    pace.last_slow = now;
    if (!pace.slow_since) {
      pace.slow_since = now;
      owner_.link_pace(link.contact, static_cast<std::uint64_t>(at_most), now - pace.began, false);
    }
  } else if (fast || now - pace.last_slow >= kHeartbeatsQuiet * options_.heartbeat) {
    slow_no_more(link);
  }
  pace.began = now;
  pace.arrived = arrived;
  for (const Lane lane : kEveryLane) {
    pace.mark[index(lane)] = link.lanes[index(lane)].next_out;
  }
}

void Links::slow_no_more(Link& link) {
  if (!link.pace.slow_since) return;
  const Duration lasted = loop_.now() - *std::exchange(link.pace.slow_since, std::nullopt);
  owner_.link_pace(link.contact, 0, lasted, true);
}

}  // namespace sterna
