// Links: what arrives, from the Hello that opens a link to the credit that mail gives back.
#include <algorithm>

#include "runtime/link/link_state.h"

namespace sterna {

using detail::body;
using detail::control_header;
using detail::index;
using detail::is_control;
using detail::kEveryLane;

namespace {

// Credit is announced anew when a quarter of the window has been consumed: a sender never starves,
// and small messages cost no announcement each.
constexpr std::uint64_t kAnnounceAt = 4;

const MessageType* control_type(std::uint64_t type_id) {
  static constexpr const MessageType* kTypes[] = {&kMessageType<Heartbeat>, &kMessageType<Welcome>,
                                                  &kMessageType<Goodbye>,   &kMessageType<Redial>,
                                                  &kMessageType<Watch>,     &kMessageType<Down>};
  for (const MessageType* type : kTypes) {
    if (type->type_id == type_id) return type;
  }
  return nullptr;
}

/// What a link says of itself has no number of its own: it is said once, on this connection.
bool is_numbered(const Header& header) {
  return !is_control(header) ||
         (header.type_id != type_id_of<Welcome>() && header.type_id != type_id_of<Heartbeat>() &&
          header.type_id != type_id_of<Goodbye>() && header.type_id != type_id_of<Redial>());
}

}  // namespace

/// What the type resolver needs to know about the message being decoded.
struct Links::Receiving {
  Links& links;
  ProcessId from;
};

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
  const bool opens = is_control(header) && header.type_id == type_id_of<Welcome>();
  const bool too_early = !opens && !state.open && resumes(link);
  if (header.sequence != (opens ? 0 : state.next_in) || too_early) {
    ++counters_.sequence_gaps;
    missed(link, lane, header.sequence);
    return;
  }
  if (is_numbered(header)) ++state.next_in;
  link.heard = true;
  if (!acknowledged(link, header)) {
    blame(peer, "it takes messages and never says that it has them");
    return;
  }
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
  if (!expected(from)) {
    ++counters_.refused_hellos;
    if (refused_.insert(from.text()).second) log_(from.text() + " is not expected here: muted");
    transport_.mute(channel);
    return;
  }
  const Contact peer = admitted_.at(from.name);
  Result<Decoded> decoded = decode_only(message, kMessageType<Hello>);
  if (!decoded || !is_control(decoded->header) || decoded->header.sequence != 0) {
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

/// Whether it is admitted; who was announced is, from now on.
bool Links::expected(const PeerIdentity& peer) {
  const auto next = std::ranges::find(announced_, peer, &Contact::identity);
  if (next != announced_.end()) admit(Contact(*next));
  const auto admitted = admitted_.find(peer.name);
  return admitted != admitted_.end() && admitted->second.identity == peer;
}

std::string Links::objection(const Hello& hello, const Contact& peer) const {
  if (hello.protocol != kProtocolVersion || hello.schema_hash != options_.schema_hash) {
    return options_.identity.text() + " (protocol " + std::to_string(kProtocolVersion) +
           ", build " + options_.build_id + " on " + options_.host + ") refuses " +
           peer.identity.text() + " (protocol " + std::to_string(hello.protocol) + ", build " +
           hello.build_id + " on " + hello.host + "): " +
           (hello.protocol == kProtocolVersion && hello.build_id == options_.build_id
                ? "their messages differ, as those of two programs or versions do; "
                : "") +
           "run the same build on both hosts";
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
  if (hello.resumes) {
    resume(channel, lane, peer, hello);
    return;
  }
  const ProcessId id{peer.process};
  Link* link = &link_to(id);
  if (link->session == hello.session && link->lanes[index(lane)].was_open && resumes(*link)) {
    // Our Welcome was lost with the connection.
    resume(channel, lane, peer, hello);
    return;
  }
  if (link->session != 0 &&
      (link->session != hello.session || link->lanes[index(lane)].channel != 0)) {
    end(id, "link lost: " + std::string(kNewSession), false, true);
    link = &link_to(id);
  }
  if (link->session == 0) {
    link->session = hello.session;
    link->contact = peer;
    link->started = loop_.now();
  }
  link->host = hello.host;
  link->last_heard = loop_.now();
  LaneState& state = link->lanes[index(lane)];
  state.channel = channel;
  state.dials = hello.dial;
  state.granted = within_reason(state, lane, hello.credit);
  state.announced = options_.window[index(lane)];
  channels_[channel] = {id, lane};
  if (!say(*link, lane, welcome_of(*link, lane), 0)) return;
  opened(*link, lane);
}

Welcome Links::welcome_of(const Link& link, Lane lane) const {
  const LaneState& state = link.lanes[index(lane)];
  Welcome welcome;
  welcome.accepted = true;
  welcome.protocol = kProtocolVersion;
  welcome.schema_hash = options_.schema_hash;
  welcome.build_id = options_.build_id;
  welcome.host = options_.host;
  welcome.session = link.session;
  welcome.process = options_.self;
  welcome.incarnation = options_.identity.incarnation;
  welcome.codecs = options_.codecs;
  welcome.credit = state.announced;
  welcome.received = state.was_open ? state.next_in : 0;
  return welcome;
}

void Links::refuse(ChannelId channel, const std::string& reason) {
  Welcome welcome;
  welcome.accepted = false;
  welcome.reason = reason;
  const MessageMail<Welcome> mail(std::move(welcome));
  const auto frames = encoder_.encode(
      control_header<Welcome>(),
      [&](auto& envelope, WireWriter& writer) { mail.encode_body(envelope, writer); });
  // Whether the refusal arrives is the peer's concern: it has a deadline of its own.
  if (frames) (void)transport_.send(channel, *frames).ok();
  transport_.mute(channel);
}

std::uint64_t Links::within_reason(const LaneState& state, Lane lane, std::uint64_t credit) const {
  return std::min(credit, state.sent + detail::kMostWindows * options_.window[index(lane)]);
}

void Links::control_received(Link& link, Lane lane, const Mail& mail) {
  if (mail.type == &kMessageType<Heartbeat> && lane == Lane::data) {
    // Its number has said it all.
  } else if (mail.type == &kMessageType<Heartbeat>) {
    const auto& beat = body<Heartbeat>(mail);
    const ProcessId peer = link.peer;
    link.heard_words = true;
    link.words = {beat.loop_lag, beat.queued_bytes, beat.bytes_in, beat.bytes_out, beat.actors};
    compare_clocks(link, beat);
    for (const Lane each : kEveryLane) {
      LaneState& state = link.lanes[index(each)];
      state.granted = std::max(state.granted, within_reason(state, each, beat.credit[index(each)]));
    }
    for (const Lane each : kEveryLane) flush(peer, each);
  } else if (mail.type == &kMessageType<Welcome>) {
    welcomed(link, lane, body<Welcome>(mail));
  } else if (mail.type == &kMessageType<Goodbye>) {
    link.parting = true;
    // Its other lane may have closed before, and looked as if the kernel had closed it: one that
    // gives us up lives on.
    const bool news = link.lost_cause.empty();
    if (news) link.lost_at = loop_.now();
    if (news || link.lost_cause.ends_with(kConnectionLost)) {
      link.lost_cause = "link lost: " + std::string(kGoodbye);
    }
    recount(link);
  } else if (mail.type == &kMessageType<Redial>) {
    asked_to_redial(link);
  } else if (lane != Lane::control) {
    blame(link.peer, "it watches on the data lane");
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
    end(link.peer, (link.was_open ? "link lost: refused: " : "refused: ") + welcome.reason, false,
        true);
    return;
  }
  if (state.open || welcome.session != link.session || welcome.process != link.peer) {
    blame(link.peer, "an unexpected Welcome");
    return;
  }
  if (state.was_open) {
    if (!go_on(link, lane, welcome.received, welcome.credit)) {
      blame(link.peer, "it has received what was never sent");
    }
    return;
  }
  link.host = welcome.host;
  state.granted = within_reason(state, lane, welcome.credit);
  opened(link, lane);
}

void Links::compare_clocks(Link& link, const Heartbeat& beat) {
  const Time now = loop_.now();
  if (beat.echoed > Duration::zero() && on_round_trip_ && link.host != options_.host) {
    const Time asked{beat.echoed.count()};
    // What no peer of ours says is no round trip.
    if (asked >= link.started && asked <= now && beat.held >= Duration::zero() &&
        beat.held <= now - asked) {
      on_round_trip_({link.host, asked, Time{beat.sent.count()}, beat.held, now});
    }
  }
  link.last_sent = beat.sent;
  link.last_sent_came = now;
}

}  // namespace sterna
