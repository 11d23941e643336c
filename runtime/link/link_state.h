// The state of a link and of each of its lanes; for runtime/link/*.cc only.
#pragma once

#include <optional>

#include "runtime/link/link.h"
#include "runtime/link/link_messages.h"
#include "runtime/link/outbound.h"
#include "runtime/message/mail_queue.h"

namespace sterna {

namespace detail {

inline std::size_t index(Lane lane) { return static_cast<std::size_t>(lane); }
inline constexpr std::array<Lane, kLanes> kEveryLane = {Lane::control, Lane::data};

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

}  // namespace detail

struct Links::Queued {
  Header header;
  std::unique_ptr<Mail> mail;
  std::uint64_t charge;
};

struct Links::LaneState {
  ChannelId channel = 0;
  bool open = false;
  bool was_open = false;  // in this session
  bool doubtful = false;  // the other lane was lost: so may this be, if the peer answers there
  bool lost = false;  // its connection is gone; the other lane's may still have something to say
  // Numbers of messages: 0 is the Hello's and the Welcome's.
  std::uint64_t next_out = 1;
  std::uint64_t next_in = 1;
  MailQueue kept;  // the last ones sent: their headers in them, their charges too
  std::uint64_t kept_bytes = 0;
  Time next_dial;                  // not again before
  Time dialled_at;                 // the last time
  std::uint64_t missed = 0;        // the number that did not come last
  std::uint32_t missed_again = 0;  // over so many connections since
  std::uint64_t next_at_tick = 0;  // next_out when the last heartbeat was due
  std::uint64_t dials = 0;      // the lane's connections: made by us, or the last that was heard of
  std::uint64_t sent = 0;       // of charged bytes: those sent in this session
  std::uint64_t granted = 0;    // so many the peer allows us to send in this session
  std::uint64_t received = 0;   // of charged bytes: those received in this session
  std::uint64_t consumed = 0;   // those received whose mail has been handled
  std::uint64_t announced = 0;  // so many we have told the peer that it may send
  std::deque<Queued> queue;
  std::uint64_t queued_bytes = 0;
  std::deque<detail::Owed> owed;  // behind the queue; while there are any, nothing else gets in

  std::uint64_t arrived = 0;  // of charged bytes: those of which the peer has said so

  /// The peer has so many more of those that are kept.
  void let_go(std::uint64_t count) {
    for (; count > 0; --count) {
      const std::uint64_t charge = kept.pop()->charge;
      kept_bytes -= charge;
      arrived += charge;
    }
  }
  bool anything_waits() const { return !queue.empty() || !owed.empty(); }
  std::uint64_t waiting_bytes() const { return queued_bytes + owed.size() * sizeof(detail::Owed); }
  /// Whether a message before the one of this number is under way.
  bool waits_behind(std::uint64_t number) const;
};

/// How fast a link is.
struct Links::Pace {
  Time began;                                // of the measuring
  std::uint64_t arrived = 0;                 // of all lanes, then
  std::array<std::uint64_t, kLanes> mark{};  // next_out, then
  std::optional<Time> slow_since;
  Time last_slow;  // when it was last found to be
};

struct Links::Link {
  ProcessId peer;
  Contact contact;
  std::uint64_t session = 0;  // 0: no connection, only a queue that waits for an introduction
  Time started;
  Time last_heard;         // when something came, as the last tick saw it
  bool heard = false;      // something has come since that tick; to know when is not worth a clock
  bool dialled = false;    // by us
  bool was_open = false;   // both lanes at once
  bool parting = false;    // the peer has said Goodbye
  std::string lost_cause;  // of the first lane that was lost and is not back; empty: none is
  Time lost_at;
  Time back_at;                 // since when it is back
  bool progressed = true;       // the peer has received something since the last loss
  std::uint32_t fruitless = 0;  // it came back so often since it had
  bool told = false;            // the owner, of this loss
  bool logged = true;           // the last loss, where it is one to be logged
  /// A peer of ours dials twice in a heartbeat at most; so many it may have saved up.
  static constexpr double kMostResumes = 16;
  double resumes_left = kMostResumes;  // as of:
  Time resumes_at;
  std::string host;      // the peer's
  Duration last_sent{};  // by the peer's clock, of its last heartbeat; 0: none that says so
  Time last_sent_came;
  bool heard_words = false;
  LinkStatistics words;
  std::array<LaneState, kLanes> lanes;
  Pace pace;
  std::uint64_t counted = 0;  // of what waits, in that of all links

  /// For credit or for a connection, what has been sent and may have to go again with it.
  std::uint64_t waiting_bytes() const {
    std::uint64_t total = 0;
    for (const LaneState& lane : lanes) {
      total += lane.waiting_bytes() + (lost_cause.empty() ? 0 : lane.kept_bytes);
    }
    return total;
  }
  bool open() const { return lanes[0].open && lanes[1].open; }
};

/// A message that is sent twice.
class Links::SharedMail final : public Mail {
 public:
  explicit SharedMail(std::shared_ptr<const Mail> mail)
      : Mail(mail->type, mail->lane), mail_(std::move(mail)) {}
  void encode_body(schema::Envelope::Builder& envelope, WireWriter& writer) const override {
    mail_->encode_body(envelope, writer);
  }

 private:
  std::shared_ptr<const Mail> mail_;
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

/// What a link says of itself, once; over another connection it would say something else.
template <class M>
Result<void> Links::say(Link& link, Lane lane, M message, std::uint64_t number) {
  Header header = detail::control_header<M>();
  header.sequence = number;
  STERNA_TRY(put(link, lane, header, MessageMail<M>(std::move(message))));
  return {};
}

}  // namespace sterna
