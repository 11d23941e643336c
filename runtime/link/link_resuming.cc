// Links: a connection that was lost, another in its place, and what is sent again on it.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/link/link_state.h"

namespace sterna {

using detail::index;
using detail::kEveryLane;

namespace {
/// Of what a peer may have received without having said so, in windows. One of ours says it with
/// each message, and is never sent more than a window beyond.
constexpr std::uint64_t kMostWindowsKept = 8;
/// A process above or below us that lives can be dialled at once, and again a heartbeat later.
constexpr int kHeartbeatsInTree = 2;
}  // namespace

/// Whether the loss of a connection is no end. Who leaves says Goodbye before.
bool Links::resumes(const Link& link) const {
  return options_.patience > Duration::zero() && link.was_open && !link.parting;
}

Duration Links::patience_with(const Link& link) const {
  return tree_peers_.contains(link.peer)
             ? std::min(options_.patience, kHeartbeatsInTree * options_.heartbeat)
             : options_.patience;
}

void Links::lose(Link& link, Lane lane, const std::string& cause) {
  LaneState& state = link.lanes[index(lane)];
  if (state.channel != 0) {
    channels_.erase(state.channel);
    transport_.mute(state.channel);
  }
  state.channel = 0;
  state.open = false;
  if (!link.lost_cause.empty()) return;
  link.lost_cause = cause;
  link.lost_at = loop_.now();
  log_(fmt::format("{}: {}; {} again", link.contact.identity.text(), cause,
                   link.dialled ? "dialling" : "it may dial"));
}

/// Those lanes that were lost, each at once, then with each heartbeat.
void Links::dial_again(Link& link) {
  for (const Lane lane : kEveryLane) {
    LaneState& state = link.lanes[index(lane)];
    if (state.channel != 0 || loop_.now() < state.next_dial) continue;
    state.next_dial = loop_.now() + options_.heartbeat / 2;
    const Result<ChannelId> channel = transport_.dial(lane, link.contact);
    if (!channel) continue;  // the next time, then
    state.channel = *channel;
    channels_[*channel] = {link.peer, lane};
    // If the connection is gone already, the transport says so.
    (void)say(link, lane, hello_of(link, lane), 0).ok();
  }
}

void Links::resume(ChannelId channel, Lane lane, const Contact& peer, const Hello& hello) {
  Link* link = find({peer.process});
  if (link == nullptr || link->session != hello.session || link->dialled || !resumes(*link)) {
    refuse(channel, "that session is over");
    return;
  }
  // It may know sooner than we that the old connection is gone.
  lose(*link, lane, "link lost: the peer dials again");
  LaneState& state = link->lanes[index(lane)];
  state.channel = channel;
  channels_[channel] = {link->peer, lane};
  if (!say(*link, lane, welcome_of(*link, lane), 0)) return;
  if (!go_on(*link, lane, hello.received, hello.credit)) {
    blame(link->peer, "it has received what was never sent");
  }
}

/// The lane's new connection is open, and the peer waits there for the message of number
/// `received`.
bool Links::go_on(Link& link, Lane lane, std::uint64_t received, std::uint64_t credit) {
  LaneState& state = link.lanes[index(lane)];
  const std::uint64_t first = state.next_out - state.kept.size();
  if (received < first || received > state.next_out) return false;
  Header header;
  for (const Lane each : kEveryLane) {
    const LaneState& other = link.lanes[index(each)];
    header.received[index(each)] =
        static_cast<std::uint32_t>(each == lane ? received : other.next_out - other.kept.size());
  }
  if (!acknowledged(link, header)) return false;
  state.open = true;
  state.granted = std::max(state.granted, within_reason(state, lane, credit));
  for (const Kept& kept : state.kept) {
    ++counters_.sent_again;
    // It went once, so it goes again.
    (void)put(link, lane, kept.header, *kept.mail).ok();
  }
  if (link.open()) {
    ++counters_.resumed;
    log_(
        fmt::format("{}: linked again after {:.0f} ms", link.contact.identity.text(),
                    std::chrono::duration<double, std::milli>(loop_.now() - link.lost_at).count()));
    link.lost_cause.clear();
    link.last_heard = loop_.now();
  }
  flush(link.peer, lane);
  return true;
}

/// Lets go of what the peer has; false if it cannot have all that, or keeps us from letting go.
bool Links::acknowledged(Link& link, const Header& header) {
  if (options_.patience == Duration::zero()) return true;
  for (const Lane lane : kEveryLane) {
    LaneState& state = link.lanes[index(lane)];
    const auto first = static_cast<std::uint32_t>(state.next_out - state.kept.size());
    const auto more = static_cast<std::int32_t>(header.received[index(lane)] - first);
    if (more > static_cast<std::int64_t>(state.kept.size())) return false;
    for (std::int32_t i = 0; i < more; ++i) {
      state.kept_bytes -= state.kept.front().charge;
      state.kept.pop_front();
    }
    const std::uint64_t last = state.kept.empty() ? 0 : state.kept.back().charge;
    if (state.kept_bytes - last > kMostWindowsKept * options_.window[index(lane)]) return false;
  }
  return true;
}

}  // namespace sterna
