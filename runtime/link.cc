#include "runtime/link.h"

#include <algorithm>

#include "runtime/link_messages.h"

namespace sterna {

namespace {

std::size_t index(Lane lane) { return static_cast<std::size_t>(lane); }
constexpr std::array<Lane, kLanes> kEveryLane = {Lane::control, Lane::data};
// Credit is announced anew when a quarter of the window has been consumed: a sender never starves,
// and small messages cost no announcement each.
constexpr std::uint64_t kAnnounceAt = 4;

/// What a link says itself goes to local id 0 and needs no credit.
bool is_control(const Header& header) { return !header.target && header.kind == Kind::TELL; }

const MessageType* control_type(std::uint64_t type_id) {
  static constexpr const MessageType* kTypes[] = {&kMessageType<Heartbeat>, &kMessageType<Welcome>,
                                                  &kMessageType<Watch>, &kMessageType<Down>};
  for (const MessageType* type : kTypes) {
    if (type->type_id == type_id) return type;
  }
  return nullptr;
}

template <class M>
const M& body(const Mail& mail) {
  return static_cast<const MessageMail<M>&>(mail).message;
}

template <class M>
Header control_header() {
  Header header;
  header.type_id = type_id_of<M>();
  return header;
}

}  // namespace

struct Links::Queued {
  Header header;
  std::unique_ptr<Mail> mail;
  std::uint64_t charge;
};

struct Links::LaneState {
  ChannelId channel = 0;
  bool open = false;
  std::uint64_t next_out = 0;
  std::uint64_t next_in = 0;
  std::uint64_t sent = 0;       // charged bytes sent this session
  std::uint64_t granted = 0;    // ... that the peer has allowed
  std::uint64_t received = 0;   // charged bytes received this session
  std::uint64_t consumed = 0;   // ... and handled
  std::uint64_t announced = 0;  // ... and allowed to the peer
  std::deque<Queued> queue;
  std::uint64_t queued_bytes = 0;
};

struct Links::Link {
  ProcessId peer;
  Contact contact;
  std::uint64_t session = 0;  // 0: no connection, only a queue that waits for an introduction
  Time started;
  Time last_heard;
  bool heard_words = false;
  LinkStatistics words;
  std::array<LaneState, kLanes> lanes;

  bool open() const { return lanes[0].open && lanes[1].open; }
};

/// What the type resolver needs to know about the message being decoded.
struct Links::Receiving {
  Links& links;
  ProcessId from;
};

/// A message held back by the tests' chaos.
class Links::Delayed final : public Timers::Target {
 public:
  Delayed(Links& links, ProcessId to, const Header& header, std::unique_ptr<Mail> mail)
      : links_(links), to_(to), header_(header), mail_(std::move(mail)) {}
  void timer_fired() override {
    // A message that cannot be queued now is lost, which is what chaos is for.
    if (!links_.send_now_or_queue(to_, header_, std::move(mail_)))
      links_.log_("a delayed message was lost");
    std::erase_if(links_.delayed_, [this](const auto& held) { return held.get() == this; });
  }

 private:
  Links& links_;
  ProcessId to_;
  Header header_;
  std::unique_ptr<Mail> mail_;
};

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

Links::~Links() { timers_.cancel(timer_); }

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
  transport_.admit(peer);
}

void Links::dial(const Contact& peer) {
  Link& link = link_to({peer.process});
  if (link.session != 0) return;  // connected, or about to be
  link.contact = peer;
  link.session = random_.next() | 1;
  link.started = link.last_heard = loop_.now();
  for (const Lane lane : kEveryLane) {
    Result<ChannelId> channel = transport_.dial(lane, peer);
    if (!channel) {
      end({peer.process}, channel.error().message, false, true);
      return;
    }
    LaneState& state = link.lanes[index(lane)];
    state.channel = *channel;
    state.announced = options_.window[index(lane)];
    channels_[*channel] = {{peer.process}, lane};
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
    if (!transmit(link, lane, control_header<Hello>(), MessageMail<Hello>(std::move(hello))))
      return;
  }
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

// ---- sending
// -------------------------------------------------------------------------------------

Result<void> Links::send(ProcessId to, const Header& header, std::unique_ptr<Mail> mail) {
  const Fate fate = chaos_ ? chaos_(header, to) : Fate{};
  switch (fate.kind) {
    case Fate::Kind::lose:
      return {};
    case Fate::Kind::delay:
      delayed_.push_back(std::make_unique<Delayed>(*this, to, header, std::move(mail)));
      timers_.arm(loop_.now() + fate.delay, *delayed_.back());
      return {};
    case Fate::Kind::repeat: {
      Link* link = find(to);
      if (link != nullptr && link->open()) transmit(*link, mail->lane, header, *mail);
      break;
    }
    case Fate::Kind::deliver:
      break;
  }
  return send_now_or_queue(to, header, std::move(mail));
}

Result<void> Links::send_now_or_queue(ProcessId to, const Header& header,
                                      std::unique_ptr<Mail> mail) {
  // An answer belongs to the session it was asked in: it opens no other.
  const bool answer = header.kind == Kind::REPLY || header.kind == Kind::FAILURE;
  if (const Link* known = find(to); known == nullptr || known->session == 0) {
    if (answer || (header.kind == Kind::CANCEL && known == nullptr)) return {};
  }
  Link& link = link_to(to);
  const Lane lane = mail->lane;
  LaneState& state = link.lanes[index(lane)];
  if (state.open && state.queue.empty()) {
    if (is_control(header) || state.sent < state.granted) {
      // The charge is only known once encoded; a message may overdraw what is left of the window
      // (the receiver allows for one), so that any message can be sent at all.
      transmit(link, lane, header, *mail);
      return {};
    }
  }
  const std::uint64_t bytes = charge(encoder_.encode(
      header, [&](auto& envelope, WireWriter& writer) { mail->encode_body(envelope, writer); }));
  if (!is_control(header) && state.queued_bytes > options_.window[index(lane)]) {
    return Error{Errc::overloaded,
                 std::to_string(state.queued_bytes) + " bytes already wait for " +
                     (link.contact.identity.name.empty() ? "process " + std::to_string(to.value)
                                                         : link.contact.identity.name)};
  }
  const bool introduce =
      link.session == 0 && link.lanes[0].queue.empty() && link.lanes[1].queue.empty();
  state.queued_bytes += bytes;
  state.queue.push_back({header, std::move(mail), bytes});
  if (introduce) owner_.introduce(to);
  return {};
}

bool Links::transmit(Link& link, Lane lane, Header header, const Mail& mail) {
  LaneState& state = link.lanes[index(lane)];
  header.sequence = state.next_out;
  const auto frames = encoder_.encode(
      header, [&](auto& envelope, WireWriter& writer) { mail.encode_body(envelope, writer); });
  const std::uint64_t bytes = charge(frames);
  const ProcessId peer = link.peer;
  const Result<void> sent = transport_.send(state.channel, frames);
  if (!sent) {
    end(peer, "link lost: " + sent.error().message, false, true);
    return false;
  }
  ++state.next_out;
  if (!is_control(header)) state.sent += bytes;
  for (const OutFrame& frame : frames) counters_.bytes_out[index(lane)] += frame.view.size();
  return true;
}

void Links::flush(ProcessId peer, Lane lane) {
  while (true) {
    Link* link = find(peer);
    if (link == nullptr) return;
    LaneState& state = link->lanes[index(lane)];
    if (!state.open || state.queue.empty()) return;
    if (!is_control(state.queue.front().header) && state.sent >= state.granted) return;
    Queued next = std::move(state.queue.front());
    state.queue.pop_front();
    state.queued_bytes -= next.charge;
    if (!transmit(*link, lane, next.header, *next.mail)) {
      return;
    }
  }
}

void Links::send_watch(ProcessId to, LocalId actor) {
  auto mail = std::make_unique<MessageMail<Watch>>(Watch{actor});
  // Control messages are never refused.
  (void)send_now_or_queue(to, control_header<Watch>(), std::move(mail)).ok();
}

void Links::send_down(ProcessId to, const DownNotice& notice) {
  auto mail = std::make_unique<MessageMail<Down>>(Down{notice});
  (void)send_now_or_queue(to, control_header<Down>(), std::move(mail)).ok();
}

// ---- receiving
// -----------------------------------------------------------------------------------

Expected Links::expect(void* receiving, const Header& header) {
  const auto& context = *static_cast<Receiving*>(receiving);
  if (is_control(header)) {
    const MessageType* type = control_type(header.type_id);
    return {type, type == nullptr};
  }
  return context.links.owner_.expect(header, context.from);
}

void Links::received(ChannelId channel, Lane lane, const PeerIdentity& from, InMessage& message) {
  const auto known = channels_.find(channel);
  if (known == channels_.end()) {
    hello_received(channel, lane, from, message);
    return;
  }
  const ProcessId peer = known->second.first;
  Link& link = *find(peer);
  LaneState& state = link.lanes[index(lane)];
  for (std::size_t i = 0; i < message.frames(); ++i) {
    counters_.bytes_in[index(lane)] += message.frame(i).size();
  }
  Receiving receiving{*this, peer};
  Result<Decoded> decoded = decode_envelope(message, &Links::expect, &receiving);
  if (!decoded) {
    ++counters_.decode_errors;
    blame(peer, "malformed message: " + decoded.error().message);
    return;
  }
  const Header& header = decoded->header;
  if (header.sequence != state.next_in) {
    ++counters_.sequence_gaps;
    end(peer,
        "link lost: message " + std::to_string(header.sequence) + " came where " +
            std::to_string(state.next_in) + " was due",
        false, true);
    return;
  }
  ++state.next_in;
  link.last_heard = loop_.now();
  if (is_control(header)) {
    control_received(link, lane, *decoded->mail);
    return;
  }
  if (!state.open) {
    blame(peer, "a message before the link was open");
    return;
  }
  const std::size_t bytes = charge(message);
  // One message may begin within the window and end beyond it.
  if (state.received > state.announced) {
    blame(peer, "it sent more than its credit");
    return;
  }
  state.received += bytes;
  std::unique_ptr<Mail> mail =
      decoded->mail ? std::move(decoded->mail) : std::make_unique<EmptyMail>();
  mail->target = header.target;
  mail->source = {peer, header.source};
  mail->correlation = header.correlation;
  mail->kind = header.kind;
  mail->deadline_ns = header.deadline_ns;
  mail->lane = lane;
  mail->charge = static_cast<std::uint32_t>(std::min<std::size_t>(bytes, UINT32_MAX));
  mail->session = static_cast<std::uint32_t>(link.session);
  owner_.deliver(std::move(mail));
}

void Links::consumed(ProcessId peer, const Mail& mail) {
  Link* link = find(peer);
  if (link == nullptr || static_cast<std::uint32_t>(link->session) != mail.session) return;
  LaneState& state = link->lanes[index(mail.lane)];
  state.consumed += mail.charge;
  const std::uint64_t window = options_.window[index(mail.lane)];
  if (link->open() && state.consumed + window - state.announced >= window / kAnnounceAt) {
    heartbeat(*link);
  }
}

void Links::hello_received(ChannelId channel, Lane lane, const PeerIdentity& from,
                           InMessage& message) {
  const auto admitted = admitted_.find(from.name);
  if (admitted == admitted_.end() || admitted->second.identity != from) {
    ++counters_.refused_hellos;
    if (refused_.insert(from.text()).second) log_(from.text() + " is not expected here: muted");
    transport_.mute(channel);
    return;
  }
  const Contact peer = admitted->second;
  const auto only_hello = [](void*, const Header& header) {
    const bool hello = is_control(header) && header.type_id == type_id_of<Hello>();
    return Expected{hello ? &kMessageType<Hello> : nullptr, !hello};
  };
  Result<Decoded> decoded = decode_envelope(message, only_hello, nullptr);
  if (!decoded || decoded->header.sequence != 0) {
    ++counters_.decode_errors;
    const std::string why = decoded ? "a first message out of order" : decoded.error().message;
    mute(peer, "malformed message: it did not begin with a Hello: " + why);
    return;
  }
  const auto& hello = body<Hello>(*decoded->mail);
  const std::string why_not = objection(hello, peer);
  if (!why_not.empty()) {
    ++counters_.refused_hellos;
    if (refused_.insert(from.text()).second) log_(why_not);
    refuse(channel, why_not);
    return;
  }
  if (const std::string lies = lie(hello, peer); !lies.empty()) {
    ++counters_.refused_hellos;
    mute(peer, lies);
    return;
  }
  accept(channel, lane, peer, hello);
}

std::string Links::objection(const Hello& hello, const Contact& peer) const {
  if (hello.protocol != kProtocolVersion || hello.schema_hash != options_.schema_hash) {
    return options_.identity.text() + " (protocol " + std::to_string(kProtocolVersion) +
           ", build " + options_.build_id + " on " + options_.host + ") refuses " +
           peer.identity.text() + " (protocol " + std::to_string(hello.protocol) + ", build " +
           hello.build_id + " on " + hello.host + "): run the same build on both hosts";
  }
  if (hello.run != options_.run) return peer.identity.text() + " is of another run";
  return {};
}

/// What no build of ours says in a Hello.
std::string Links::lie(const Hello& hello, const Contact& peer) {
  if (hello.process.value != peer.process || hello.incarnation != peer.identity.incarnation) {
    return "it claims to be another process";
  }
  return hello.session == 0 ? "it opened a link without a session" : "";  // 0 stands for no link
}

void Links::accept(ChannelId channel, Lane lane, const Contact& peer, const Hello& hello) {
  const ProcessId id{peer.process};
  Link* link = &link_to(id);
  if (link->session != 0 &&
      (link->session != hello.session || link->lanes[index(lane)].channel != 0)) {
    end(id, "link lost: the peer opened a new session", false, true);
    link = &link_to(id);
  }
  if (link->session == 0) {
    link->session = hello.session;
    link->contact = peer;
    link->started = loop_.now();
  }
  link->last_heard = loop_.now();
  LaneState& state = link->lanes[index(lane)];
  state.channel = channel;
  state.next_in = 1;  // the Hello was 0
  state.granted = hello.credit;
  state.announced = options_.window[index(lane)];
  channels_[channel] = {id, lane};
  Welcome welcome;
  welcome.accepted = true;
  welcome.protocol = kProtocolVersion;
  welcome.schema_hash = options_.schema_hash;
  welcome.build_id = options_.build_id;
  welcome.host = options_.host;
  welcome.session = hello.session;
  welcome.process = options_.self;
  welcome.incarnation = options_.identity.incarnation;
  welcome.codecs = options_.codecs;
  welcome.credit = state.announced;
  if (!transmit(*link, lane, control_header<Welcome>(), MessageMail<Welcome>(std::move(welcome)))) {
    return;
  }
  state.open = true;
  flush(id, lane);
}

void Links::refuse(ChannelId channel, const std::string& reason) {
  Welcome welcome;
  welcome.accepted = false;
  welcome.reason = reason;
  const MessageMail<Welcome> mail(std::move(welcome));
  // Whether the refusal arrives is the peer's concern: it has a deadline of its own.
  (void)transport_
      .send(channel, encoder_.encode(control_header<Welcome>(),
                                     [&](auto& envelope, WireWriter& writer) {
                                       mail.encode_body(envelope, writer);
                                     }))
      .ok();
  transport_.mute(channel);
}

void Links::control_received(Link& link, Lane lane, const Mail& mail) {
  if (mail.type == &kMessageType<Heartbeat>) {
    const auto& beat = body<Heartbeat>(mail);
    const ProcessId peer = link.peer;
    link.heard_words = true;
    link.words = {beat.loop_lag, beat.queued_bytes, beat.bytes_in, beat.bytes_out, beat.actors};
    for (const Lane each : kEveryLane) {
      LaneState& state = link.lanes[index(each)];
      state.granted = std::max(state.granted, beat.credit[index(each)]);
    }
    for (const Lane each : kEveryLane) flush(peer, each);
  } else if (mail.type == &kMessageType<Welcome>) {
    welcomed(link, lane, body<Welcome>(mail));
  } else if (mail.type == &kMessageType<Watch>) {
    owner_.watch_requested(link.peer, body<Watch>(mail).actor);
  } else if (mail.type == &kMessageType<Down>) {
    DownNotice notice = body<Down>(mail).notice;
    // A process speaks for its own actors only.
    if (notice.actor.process != link.peer) {
      blame(link.peer, "it reported the death of another process's actor");
      return;
    }
    owner_.down_received(notice);
  }
}

void Links::welcomed(Link& link, Lane lane, const Welcome& welcome) {
  LaneState& state = link.lanes[index(lane)];
  if (!welcome.accepted) {
    end(link.peer, "refused: " + welcome.reason, false, true);
    return;
  }
  if (state.open || welcome.session != link.session || welcome.process != link.peer) {
    blame(link.peer, "an unexpected Welcome");
    return;
  }
  state.open = true;
  state.granted = welcome.credit;
  flush(link.peer, lane);
}

// ---- endings and heartbeats
// ----------------------------------------------------------------------

void Links::closed(ChannelId channel, std::string_view cause) {
  const auto known = channels_.find(channel);
  if (known != channels_.end()) {
    end(known->second.first, "link lost: " + std::string(cause), false, true);
  }
}

void Links::end(ProcessId peer, const std::string& cause, bool fault, bool report) {
  auto node = links_.extract(peer);
  if (node.empty()) return;
  // Out of the table before anyone is told: what they send now opens a new session.
  Link& link = *node.mapped();
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
  transmit(link, Lane::control, control_header<Heartbeat>(), MessageMail<Heartbeat>(beat));
}

void Links::tick(Link& link, Time now) {
  if (link.session == 0) return;
  const bool tree = tree_peers_.contains(link.peer);
  const Duration patience = tree ? options_.silence : options_.silence * 3 / 2;
  const Time since = std::max(link.last_heard, attentive_since_);
  if (now - since > patience) {
    end(link.peer, link.open() ? "silence" : "no answer to our connection", false, true);
    return;
  }
  if (link.open()) heartbeat(link);
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
// -------------------------------------------------------------------------------------

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

const LinkStatistics* Links::last_words(ProcessId peer) const {
  const Link* link = find(peer);
  return link == nullptr || !link->heard_words ? nullptr : &link->words;
}

std::uint64_t Links::queued_bytes() const {
  std::uint64_t total = 0;
  for (const auto& [peer, link] : links_) {
    for (const LaneState& state : link->lanes) total += state.queued_bytes;
  }
  return total;
}

void Links::set_tree_peer(ProcessId peer) { tree_peers_.insert(peer); }

}  // namespace sterna
