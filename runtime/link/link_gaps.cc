// Links: what did not come over a connection that stands, how that is noticed, and that it is
// dialled anew for it. A gap in the numbers shows it, and so does a Hello that nobody answers. The
// last message of a lane has none behind it that would show the gap, so where a lane has been
// quiet, and what was said there is not known to have come, its number is said there again.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/link/link_state.h"

namespace sterna {

using detail::index;
using detail::kEveryLane;

namespace {
/// A network loses one message a few times; who never says it lies.
constexpr std::uint32_t kMostMissedAgain = 8;
}  // namespace

/// Another message than the one that was due: of the number `came`, or any before the Welcome.
void Links::missed(Link& link, Lane lane, std::uint64_t came) {
  LaneState& state = link.lanes[index(lane)];
  const std::string cause =
      state.open ? fmt::format("link lost: message {} came where {} was due", came, state.next_in)
                 : std::string("link lost: a message came before the answer to our Hello");
  state.missed_again = state.missed == state.next_in ? state.missed_again + 1 : 0;
  state.missed = state.next_in;
  const bool mended = resumes(link) && (!state.open || came > state.next_in) &&
                      state.missed_again < kMostMissedAgain;
  if (!mended) {
    end(link.peer, cause, false, true);
  } else if (link.dialled) {
    lose(link, lane, cause);
    dial_again(link);
  } else {
    // Only who dialled can mend it. Where this is lost, too, it hears nothing more from us.
    (void)say(link, lane, Redial{}, state.next_out).ok();
    for (const Lane each : kEveryLane) lose(link, each, cause);
  }
}

void Links::asked_to_redial(Link& link) {
  if (!link.dialled) return blame(link.peer, "it dialled, and wants us to dial again");
  if (!resumes(link)) return end(link.peer, "link lost: the peer misses a message", false, true);
  for (const Lane lane : kEveryLane) lose(link, lane, "link lost: the peer misses a message");
  dial_again(link);
}

/// A Hello that was lost, or its answer, never comes.
void Links::dial_unanswered(Link& link, Time now) {
  if (!link.dialled || !resumes(link)) return;
  for (const Lane lane : kEveryLane) {
    LaneState& state = link.lanes[index(lane)];
    const bool waits = state.channel != 0 && !state.open;
    if (!waits || now - std::max(state.dialled_at, attentive_since_) < options_.silence / 2) {
      continue;
    }
    channels_.erase(state.channel);
    transport_.mute(state.channel);
    state.channel = 0;
  }
  if (link.lost_cause.empty()) dial_again(link);  // else that is done anyway
}

/// Says on the data lane which message is next, once nothing has been said there for a heartbeat
/// and the last may not have come. (On the control lane each heartbeat says so.)
void Links::probe(Link& link) {
  LaneState& state = link.lanes[index(Lane::data)];
  if (!state.kept.empty() && state.next_out == state.next_at_tick) {
    (void)say(link, Lane::data, Heartbeat{}, state.next_out).ok();
  }
  state.next_at_tick = state.next_out;
}

}  // namespace sterna
