// Links: sending within the credit that the peer has granted, and what waits beyond it
// (outbound.h).
#include <algorithm>
#include <utility>

#include "runtime/link/link_state.h"

namespace sterna {

using detail::control_header;
using detail::index;
using detail::is_control;
using detail::Owed;
using detail::WhenFull;

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
      const std::shared_ptr<const Mail> both = std::move(mail);
      // The message itself says whether it could be sent.
      if (link != nullptr && link->open()) {
        (void)transmit(*link, both->lane, header, std::make_unique<SharedMail>(both)).ok();
      }
      return send_now_or_queue(to, header, std::make_unique<SharedMail>(both));
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
  if (state.open && !state.anything_waits()) {
    if (is_control(header) || state.sent < state.granted) {
      // The charge is only known once encoded; a message may overdraw what is left of the window
      // (the receiver allows for one), so that any message can be sent at all.
      return transmit(link, lane, header, std::move(mail));
    }
  }
  STERNA_ASSIGN(const auto frames, encoder_.encode(header, [&](auto& envelope, WireWriter& writer) {
    mail->encode_body(envelope, writer);
  }));
  const std::uint64_t bytes = charge(frames);
  if (!state.owed.empty() || state.queued_bytes > options_.window[index(lane)]) {
    const WhenFull policy = detail::when_full(header);
    if (policy == WhenFull::refuse) return Error{Errc::overloaded, what_waits(link, state)};
    if (policy == WhenFull::owe_its_code) {
      owe(link, state, header, *mail);
      return {};
    }
    if (policy == WhenFull::wait_or_blame &&
        state.queued_bytes > detail::kMostWindows * options_.window[index(lane)]) {
      blame(to, "it watches, and takes no word of it: " + what_waits(link, state));
      return {};
    }
  }
  const bool introduce =
      link.session == 0 && link.lanes[0].queue.empty() && link.lanes[1].queue.empty();
  state.queued_bytes += bytes;
  state.queue.push_back({header, std::move(mail), bytes});
  recount(link);
  if (introduce) owner_.introduce(to);
  return {};
}

std::string Links::what_waits(const Link& link, const LaneState& state) {
  const std::string& name = link.contact.identity.name;
  return std::to_string(state.waiting_bytes()) + " bytes already wait for " +
         (name.empty() ? "process " + std::to_string(link.peer.value) : name);
}

/// Of a failure that finds no room its code waits: a peer that asks faster than it takes answers
/// costs us little, and one that means well gets as many as it asked for.
void Links::owe(Link& link, LaneState& state, const Header& header, const Mail& mail) {
  if (state.owed.size() >= options_.most_owed) {
    blame(link.peer, "it asks, and takes no answers: " + what_waits(link, state));
    return;
  }
  const auto* failure = dynamic_cast<const FailureMail*>(&mail);  // null where chaos repeats it
  const Errc code = failure == nullptr ? Errc::overloaded : failure->error.code;
  state.owed.push_back({header.source, header.correlation, code});
  recount(link);
}

/// What was owed, once nothing waits before it, as credit allows.
void Links::pay_owed(Link& link, Lane lane) {
  LaneState& state = link.lanes[index(lane)];
  while (state.open && !state.owed.empty() && state.sent < state.granted) {
    Header header;
    header.source = state.owed.front().source;
    header.correlation = state.owed.front().correlation;
    header.kind = Kind::FAILURE;
    auto mail = std::make_unique<FailureMail>(
        Error{state.owed.front().code,
              "no more than the code of this answer found room: too much "
              "waited for " +
                  link.contact.identity.name});
    state.owed.pop_front();
    recount(link);
    // A failure is never too large for a frame.
    (void)transmit(link, lane, header, std::move(mail)).ok();
  }
}

/// Of what waits on all links, what waits on this one: after each change of that.
void Links::recount(Link& link) {
  const std::uint64_t waits = link.waiting_bytes();
  waiting_bytes_ += waits - std::exchange(link.counted, waits);
}

/// A message of its own number. An error is about this message only. If the connection is gone, the
/// transport says so in its next turn, and the link is lost then: not now, while the sender's
/// handler is running.
Result<void> Links::transmit(Link& link, Lane lane, const Header& header,
                             std::unique_ptr<Mail> mail) {
  LaneState& state = link.lanes[index(lane)];
  Header numbered = header;
  numbered.sequence = state.next_out;
  STERNA_ASSIGN(const std::uint64_t bytes, put(link, lane, numbered, *mail));
  ++state.next_out;
  if (!is_control(header)) state.sent += bytes;
  if (options_.patience > Duration::zero()) {
    mail->target = header.target;
    mail->source.local = header.source;
    mail->correlation = header.correlation;
    mail->kind = header.kind;
    mail->deadline_ns = header.deadline_ns;
    mail->charge = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
    state.kept_bytes += mail->charge;
    state.kept.push(std::move(mail));
    if (!link.lost_cause.empty()) recount(link);
  }
  return {};
}

/// Onto the lane's connection as it is; what it is charged.
Result<std::uint64_t> Links::put(Link& link, Lane lane, Header header, const Mail& mail) {
  LaneState& state = link.lanes[index(lane)];
  for (const Lane each : detail::kEveryLane) {
    header.received[index(each)] = static_cast<std::uint32_t>(link.lanes[index(each)].next_in);
  }
  STERNA_ASSIGN(const auto frames, encoder_.encode(header, [&](auto& envelope, WireWriter& writer) {
    mail.encode_body(envelope, writer);
  }));
  const Result<void> sent = transport_.send(state.channel, frames);
  if (!sent && sent.error().code == Errc::invalid_argument) return sent.error();
  if (sent) {
    for (const OutFrame& frame : frames) counters_.bytes_out[index(lane)] += frame.view.size();
  }
  return charge(frames);
}

void Links::flush(ProcessId peer, Lane lane) {
  while (true) {
    Link* link = find(peer);
    if (link == nullptr) return;
    LaneState& state = link->lanes[index(lane)];
    if (!state.open) return;
    if (state.queue.empty()) return pay_owed(*link, lane);
    if (!is_control(state.queue.front().header) && state.sent >= state.granted) return;
    Queued next = std::move(state.queue.front());
    state.queue.pop_front();
    state.queued_bytes -= next.charge;
    recount(*link);
    const Result<void> sent = transmit(*link, lane, next.header, std::move(next.mail));
    if (!sent) owner_.failed_to_send(next.header, {peer, next.header.target}, sent.error());
  }
}

void Links::send_watch(ProcessId to, LocalId actor) {
  auto mail = std::make_unique<MessageMail<Watch>>(Watch{actor});
  // It waits as long as it has to.
  (void)send_now_or_queue(to, control_header<Watch>(), std::move(mail)).ok();
}

void Links::send_down(ProcessId to, const DownNotice& notice) {
  auto mail = std::make_unique<MessageMail<Down>>(Down{notice});
  (void)send_now_or_queue(to, control_header<Down>(), std::move(mail)).ok();
}

}  // namespace sterna
