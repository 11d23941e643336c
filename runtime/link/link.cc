// Links: opening and ending them, heartbeats, and looking at them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/link/link_state.h"

namespace sterna {

using detail::control_header;
using detail::index;
using detail::kEveryLane;

namespace {
/// A connection that is gone takes the link's other one with it, sooner or later.
constexpr Duration kOtherLaneFollows = std::chrono::milliseconds(200);
}  // namespace

Links::Links(Owner& owner, Transport& transport, Loop& loop, Timers& timers, Random& random,
             std::function<void(std::string_view)> log, LinkOptions options)
    : owner_(owner),
      transport_(transport),
      loop_(loop),
      timers_(timers),
      random_(random),
      log_(std::move(log)),
      options_(std::move(options)) {
  transport_.set_events(*this);
  expected_tick_ = loop_.now() + options_.heartbeat;
  timer_ = timers_.arm(expected_tick_, *this);
}

Links::~Links() {
  timers_.cancel(timer_);
  for (const auto& [peer, link] : links_) say_goodbye(*link);
}

void Links::say_goodbye(Link& link) {
  const LaneState& state = link.lanes[index(Lane::control)];
  if (state.open) (void)say(link, Lane::control, Goodbye{}, state.next_out).ok();
}

Links::Link* Links::find(ProcessId peer) const {
  const auto found = links_.find(peer);
  return found == links_.end() ? nullptr : found->second.get();
}

Links::Link& Links::link_to(ProcessId peer) {
  auto& link = links_[peer];
  if (!link) {
    link = std::make_unique<Link>();
    link->peer = peer;
  }
  return *link;
}

void Links::admit(const Contact& peer) {
  Contact& known = admitted_[peer.identity.name];
  if (peer.identity.incarnation < known.identity.incarnation) return;  // fenced
  known = peer;
  std::erase_if(announced_, [&](const Contact& next) {
    return next.identity.name == peer.identity.name &&
           next.identity.incarnation <= peer.identity.incarnation;
  });
  transport_.admit(known);
}

void Links::announce(const Contact& next) {
  const auto known = std::ranges::find(announced_, next.identity, &Contact::identity);
  const auto present = admitted_.find(next.identity.name);
  const bool over = present != admitted_.end() &&
                    next.identity.incarnation <= present->second.identity.incarnation;
  if (over || known != announced_.end()) return;
  announced_.push_back(next);
  transport_.announce(next);
}

void Links::dial(const Contact& peer) {
  Link& link = link_to({peer.process});
  if (link.session != 0) return;  // connected, or about to be
  link.contact = peer;
  link.session = random_.next() | 1;
  link.started = link.last_heard = loop_.now();
  link.dialled = true;
  for (const Lane lane : kEveryLane) {
    Result<ChannelId> channel = transport_.dial(lane, peer);
    if (!channel) {
      end({peer.process}, channel.error().message, false, true);
      return;
    }
    LaneState& state = link.lanes[index(lane)];
    state.channel = *channel;
    state.dialled_at = loop_.now();
    state.announced = options_.window[index(lane)];
    channels_[*channel] = {{peer.process}, lane};
    if (!say(link, lane, hello_of(link, lane), 0)) return;
  }
}

Hello Links::hello_of(const Link& link, Lane lane) const {
  const LaneState& state = link.lanes[index(lane)];
  Hello hello;
  hello.protocol = kProtocolVersion;
  hello.schema_hash = options_.schema_hash;
  hello.build_id = options_.build_id;
  hello.host = options_.host;
  hello.run = options_.run;
  hello.session = link.session;
  hello.process = options_.self;
  hello.incarnation = options_.identity.incarnation;
  hello.codecs = options_.codecs;
  hello.credit = state.announced;
  hello.resumes = state.was_open;
  hello.received = state.was_open ? state.next_in : 0;
  hello.dial = state.dials;
  return hello;
}

void Links::unreachable(ProcessId peer, const std::string& cause) {
  const Link* link = find(peer);
  if (link != nullptr && link->session == 0) end(peer, cause, false, true);
}

void Links::drop(ProcessId peer, const std::string& cause) {
  const Link* link = find(peer);
  if (link != nullptr && !link->contact.identity.name.empty()) {
    transport_.revoke(link->contact.identity);
  }
  end(peer, cause, false, false);
  // It may have been let in without ever having dialled.
  std::erase_if(admitted_, [&](const auto& entry) {
    if (entry.second.process != peer.value) return false;
    transport_.revoke(entry.second.identity);
    return true;
  });
}

void Links::blame(ProcessId peer, const std::string& cause) {
  const Link* link = find(peer);
  if (link != nullptr && link->session != 0) mute(Contact(link->contact), cause);
}

/// What blame() does, whether there is a link yet or not.
void Links::mute(const Contact& peer, const std::string& cause) {
  ++counters_.faults;
  log_(peer.identity.text() + " is muted: " + cause);
  transport_.revoke(peer.identity);
  admitted_.erase(peer.identity.name);
  const ProcessId process{peer.process};
  const Link* link = find(process);
  if (link != nullptr && link->session != 0) {
    end(process, cause, true, true);
  } else {
    owner_.link_ended(peer, cause, true);
  }
}

// ---- endings and heartbeats

/// A kernel that ends a connection with its process says so; one that gives it up, because nobody
/// answers, has heard nothing for long. Of the latter the peer may live.
std::string Links::why_closed(const Link& link, std::string_view cause) const {
  const Time heard = link.heard ? loop_.now() : std::max(link.last_heard, attentive_since_);
  const Duration quiet = loop_.now() - heard;
  if (cause != kConnectionLost || quiet < options_.silence / 2) return std::string(cause);
  return fmt::format("connection lost after {:.1f} s of silence", in_seconds(quiet));
}

void Links::closed(ChannelId channel, std::string_view said, bool denied) {
  const auto known = channels_.find(channel);
  if (known == channels_.end()) return;
  const auto [peer, lane] = known->second;
  Link& link = *find(peer);
  const std::string cause = why_closed(link, said);
  if (resumes(link) && !denied) {
    lose(link, lane, "link lost: " + cause);
    if (!link.dialled) return;
    // What a peer said last may still be on its way on the other lane, and it may be gone by now.
    link.lanes[1 - index(lane)].doubtful = link.lanes[1 - index(lane)].open;
    dial_again(link);
    return;
  }
  link.lanes[index(lane)].lost = true;
  if (link.lost_cause.empty()) {
    link.lost_cause = "link lost: " + cause;
    link.lost_at = loop_.now();
    recount(link);
  }
  // Each lane has an I/O thread of its own: what a peer said last on the other one may come after.
  const LaneState& other = link.lanes[1 - index(lane)];
  if (denied || other.channel == 0 || other.lost)
    end(peer, std::string(link.lost_cause), false, true);
}

void Links::end(ProcessId peer, const std::string& cause, bool fault, bool report) {
  auto node = links_.extract(peer);
  if (node.empty()) return;
  // Out of the table before anyone is told: what they send now opens a new session.
  Link& link = *node.mapped();
  waiting_bytes_ -= link.counted;
  say_goodbye(link);
  slow_no_more(link);
  const auto tree = tree_peers_.find(peer);
  if (tree != tree_peers_.end() && link.lanes[index(Lane::control)].was_open) {
    tree->second = loop_.now();
  }
  for (LaneState& state : link.lanes) {
    if (state.channel == 0) continue;
    channels_.erase(state.channel);
    transport_.mute(state.channel);
  }
  if (link.contact.identity.name.empty()) link.contact.process = peer.value;
  if (report) owner_.link_ended(link.contact, cause, fault);
  for (LaneState& state : link.lanes) {
    for (Queued& queued : state.queue) {
      if (queued.header.kind != Kind::ASK) continue;
      owner_.failed_to_send(queued.header, {peer, queued.header.target},
                            Error{Errc::actor_down, cause});
    }
  }
}

void Links::heartbeat(Link& link) {
  Heartbeat beat;
  for (const Lane lane : kEveryLane) {
    LaneState& state = link.lanes[index(lane)];
    state.announced = std::max(state.announced, state.consumed + options_.window[index(lane)]);
    beat.credit[index(lane)] = state.announced;
  }
  const LinkStatistics statistics = owner_.statistics();
  beat.loop_lag = loop_lag_;
  beat.queued_bytes = statistics.queued_bytes;
  beat.bytes_in = statistics.bytes_in;
  beat.bytes_out = statistics.bytes_out;
  beat.actors = statistics.actors;
  const Time now = loop_.now();
  beat.sent = Duration(now.ns);
  if (link.last_sent > Duration::zero()) {
    beat.echoed = link.last_sent;
    beat.held = now - link.last_sent_came;
  }
  (void)say(link, Lane::control, beat, link.lanes[index(Lane::control)].next_out).ok();
}

void Links::tick(Link& link, Time now) {
  if (link.session == 0) return;
  if (std::exchange(link.heard, false)) link.last_heard = now;
  dial_unanswered(link, now);
  if (!link.lost_cause.empty()) {
    // After a pause of our own nobody could have come back yet.
    if (now - std::max(link.lost_at, attentive_since_) >=
        (resumes(link) ? patience_with(link) : kOtherLaneFollows)) {
      end(link.peer, std::string(link.lost_cause), false, true);
      return;
    }
    if (link.dialled && resumes(link)) dial_again(link);
    tell_trouble(link);
    if (link.was_open && link.lanes[index(Lane::control)].open) heartbeat(link);
    return;
  }
  const bool tree = tree_peers_.contains(link.peer);
  // Who dials is the first to try another connection: the other could only wait for that.
  const Duration patience = tree ? options_.silence
                            : link.was_open && resumes(link) && link.dialled
                                ? options_.silence / 2
                                : options_.silence * 3 / 2;
  const Time since = std::max(link.last_heard, attentive_since_);
  if (now - since > patience) {
    // One lane may have opened before the peer fell silent.
    const bool spoke = link.lanes[0].open || link.lanes[1].open;
    if (link.was_open && resumes(link) && !tree) {
      for (const Lane lane : kEveryLane) lose(link, lane, "silence");
      if (link.dialled) dial_again(link);
      return;
    }
    end(link.peer, spoke ? "silence" : std::string(kNoAnswer), false, true);
    return;
  }
  if (!link.open()) return;
  heartbeat(link);
  probe(link);
  measure(link, now);
}

void Links::timer_fired() {
  const Time now = loop_.now();
  loop_lag_ = now - expected_tick_;
  // After a pause of our own (stopped, swapped out) what peers said may still lie unread.
  if (loop_lag_ > options_.heartbeat) attentive_since_ = now;
  expected_tick_ = now + options_.heartbeat;
  timer_ = timers_.arm(expected_tick_, *this);
  std::vector<ProcessId> peers;
  peers.reserve(links_.size());
  for (const auto& [peer, link] : links_) peers.push_back(peer);
  std::sort(peers.begin(), peers.end());  // the same order on every machine, for simulations
  for (const ProcessId peer : peers) {
    if (Link* link = find(peer)) tick(*link, now);
  }
}

// ---- looking

bool Links::connected(ProcessId peer) const {
  const Link* link = find(peer);
  return link != nullptr && link->open();
}

std::size_t Links::open_links() const {
  return static_cast<std::size_t>(std::count_if(
      links_.begin(), links_.end(), [](const auto& entry) { return entry.second->open(); }));
}

const PeerIdentity* Links::identity_of(ProcessId peer) const {
  const Link* link = find(peer);
  return link == nullptr || link->session == 0 ? nullptr : &link->contact.identity;
}

Duration Links::age_of(ProcessId peer) const {
  const Link* link = find(peer);
  return link == nullptr || link->session == 0 ? Duration::zero() : loop_.now() - link->started;
}

Time Links::last_open(ProcessId peer) const {
  const Link* link = find(peer);
  if (link != nullptr && link->lanes[index(Lane::control)].was_open) return loop_.now();
  const auto tree = tree_peers_.find(peer);
  return tree == tree_peers_.end() ? Time{} : tree->second;
}

const LinkStatistics* Links::last_words(ProcessId peer) const {
  const Link* link = find(peer);
  return link == nullptr || !link->heard_words ? nullptr : &link->words;
}

void Links::set_tree_peer(ProcessId peer) { tree_peers_.try_emplace(peer); }

}  // namespace sterna
