// Links: a connection that was lost, another in its place, and what is sent again on it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/link/link_state.h"

namespace sterna {

using detail::index;
using detail::kEveryLane;

namespace {
/// A process above or below us that lives can be dialled at once, and again a heartbeat later.
constexpr int kHeartbeatsInTree = 2;
/// So often it may come back and be lost again before it has received anything.
constexpr std::uint32_t kMostFruitless = 8;
/// Twice what a peer of ours makes of its two lanes.
constexpr double kResumesInHeartbeat = 8;
/// A connection that is back sooner is not worth a word.
constexpr Duration kTroubleLasts = std::chrono::seconds(1);

/// As it was sent the first time (Links::transmit).
Header header_of(const Mail& mail, std::uint64_t number) {
  Header header;
  header.target = mail.target;
  header.source = mail.source.local;
  header.correlation = mail.correlation;
  header.kind = mail.kind;
  header.type_id = mail.type == nullptr ? 0 : mail.type->type_id;
  header.deadline_ns = mail.deadline_ns;
  header.sequence = number;
  return header;
}

}  // namespace

/// Whether the loss of a connection is no end. Who leaves says Goodbye before; and who is above or
/// below us in the tree has ended, if there was no connection with it yet, on either lane.
bool Links::resumes(const Link& link) const {
  const bool connected =
      std::ranges::any_of(link.lanes, [](const LaneState& lane) { return lane.was_open; });
  return options_.patience > Duration::zero() && !link.parting &&
         (connected || !tree_peers_.contains(link.peer));
}

Duration Links::patience_with(const Link& link) const {
  // Who dialled only one lane of it may have given the session up: then nobody else ends it.
  const bool half_accepted = !link.was_open && !link.dialled;
  return half_accepted || tree_peers_.contains(link.peer)
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
  state.open = state.doubtful = false;
  if (!link.lost_cause.empty()) return;
  link.lost_cause = cause;
  recount(link);
  // What costs each connection that it is sent on is not tried for ever.
  const bool back = link.progressed || loop_.now() - link.back_at >= kTroubleLasts;
  if (link.progressed) link.fruitless = 0;
  // Whoever is above or below us has little time to come back, and lives if it has.
  const bool lives = tree_peers_.contains(link.peer) && link.back_at > link.lost_at;
  if (back || (lives && ++link.fruitless <= kMostFruitless)) link.lost_at = loop_.now();
  link.progressed = false;
  link.logged = !link.was_open;  // as often as anybody likes who is let in
}

/// Once it lasts, or is over: a peer that has ended is often known to have a moment later.
void Links::log_loss(Link& link) {
  if (std::exchange(link.logged, true)) return;
  log_(fmt::format("{}: {}; {} again", link.contact.identity.text(), link.lost_cause,
                   link.dialled ? "dialling" : "it may dial"));
}

/// Those lanes that were lost, each at once, then with each heartbeat.
void Links::dial_again(Link& link) {
  for (const Lane lane : kEveryLane) {
    LaneState& state = link.lanes[index(lane)];
    if (state.channel != 0 || loop_.now() < state.next_dial) continue;
    state.dialled_at = loop_.now();
    state.next_dial = loop_.now() + options_.heartbeat / 2;
    ++state.dials;
    const Result<ChannelId> channel = transport_.dial(lane, link.contact);
    if (!channel) continue;  // the next time, then
    state.channel = *channel;
    channels_[*channel] = {link.peer, lane};
    // If the connection is gone already, the transport says so.
    (void)say(link, lane, hello_of(link, lane), 0).ok();
  }
}

void Links::tell_trouble(Link& link) {
  const Duration lasts = loop_.now() - link.lost_at;
  if (!resumes(link)) return;
  if (lasts >= options_.heartbeat / 2) log_loss(link);
  if (link.told || lasts < kTroubleLasts) return;
  link.told = true;
  owner_.link_trouble(link.contact, link.lost_cause, lasts, false);
}

void Links::resume(ChannelId channel, Lane lane, const Contact& peer, const Hello& hello) {
  Link* link = find({peer.process});
  if (link == nullptr || link->session != hello.session || link->dialled || !resumes(*link) ||
      !link->lanes[index(lane)].was_open) {
    refuse(channel, std::string(kSessionOver));
    return;
  }
  LaneState& state = link->lanes[index(lane)];
  // A connection that it has given up may be heard of after the one that it made then. And each
  // costs us what is sent again.
  if (hello.dial <= state.dials || !may_resume(*link)) {
    transport_.mute(channel);
    return;
  }
  state.dials = hello.dial;
  // It may know sooner than we that the old connection is gone.
  lose(*link, lane, "link lost: the peer dials again");
  state.channel = channel;
  channels_[channel] = {link->peer, lane};
  if (!say(*link, lane, welcome_of(*link, lane), 0)) return;
  // Who does not know yet that the lane was open has had nothing on it.
  if (!go_on(*link, lane, hello.resumes ? hello.received : 1, hello.credit)) {
    blame(link->peer, "it has received what was never sent");
  }
}

bool Links::may_resume(Link& link) const {
  const double heartbeats =
      in_seconds(loop_.now() - link.resumes_at) / in_seconds(options_.heartbeat);
  link.resumes_at = loop_.now();
  link.resumes_left =
      std::min(Link::kMostResumes, link.resumes_left + kResumesInHeartbeat * heartbeats);
  if (link.resumes_left < 1) return false;
  --link.resumes_left;
  return true;
}

/// The lane's new connection is open, and the peer waits there for the message of number
/// `received`.
bool Links::go_on(Link& link, Lane lane, std::uint64_t received, std::uint64_t credit) {
  LaneState& state = link.lanes[index(lane)];
  const std::uint64_t first = state.next_out - state.kept.size();
  if (received < first || received > state.next_out) return false;
  state.let_go(received - first);
  link.progressed = link.progressed || received > first;
  state.granted = std::max(state.granted, within_reason(state, lane, credit));
  std::uint64_t number = received;
  for (const Mail* mail = state.kept.front(); mail != nullptr; mail = mail->next) {
    ++counters_.sent_again;
    // It went once, so it goes again.
    (void)put(link, lane, header_of(*mail, number++), *mail).ok();
  }
  recount(link);
  if (link.lanes[1 - index(lane)].doubtful) {
    lose(link, lane == Lane::control ? Lane::data : Lane::control, link.lost_cause);
    dial_again(link);
  }
  opened(link, lane);
  return true;
}

/// The lane has opened, for the first time or again.
void Links::opened(Link& link, Lane lane) {
  LaneState& state = link.lanes[index(lane)];
  state.open = state.was_open = true;
  if (link.open()) {
    link.was_open = true;
    if (!link.lost_cause.empty() && !link.parting) back(link);
  }
  flush(link.peer, lane);
}

void Links::back(Link& link) {
  ++counters_.resumed;
  log_loss(link);
  log_(fmt::format("{}: linked again after {:.0f} ms", link.contact.identity.text(),
                   std::chrono::duration<double, std::milli>(loop_.now() - link.lost_at).count()));
  const std::string cause = std::exchange(link.lost_cause, {});
  recount(link);
  const bool told = std::exchange(link.told, false);
  link.last_heard = link.back_at = loop_.now();
  // Where nothing is sent again nothing can cost it this connection.
  link.progressed = link.progressed || (link.lanes[0].kept.empty() && link.lanes[1].kept.empty());
  if (link.dialled || told)
    owner_.link_trouble(link.contact, cause, loop_.now() - link.lost_at, true);
}

/// Lets go of what the peer has; false if it grants more than goes with that, so that we would keep
/// more and more. What it cannot have is its own concern: it would only miss it itself.
bool Links::acknowledged(Link& link, const Header& header) {
  if (options_.patience == Duration::zero()) return true;
  for (const Lane lane : kEveryLane) {
    LaneState& state = link.lanes[index(lane)];
    const auto first = static_cast<std::uint32_t>(state.next_out - state.kept.size());
    const auto more = static_cast<std::int32_t>(header.received[index(lane)] - first);
    if (more > 0 && std::cmp_less_equal(more, state.kept.size())) {
      link.progressed = true;
      state.let_go(static_cast<std::uint64_t>(more));
    }
    // It has at least what it has handled, so it grants no more than its window beyond what it has.
    const std::uint64_t most = detail::kMostWindows * options_.window[index(lane)];
    if (state.granted + state.kept_bytes > state.sent + most) return false;
  }
  if (!link.lost_cause.empty()) recount(link);
  return true;
}

}  // namespace sterna
