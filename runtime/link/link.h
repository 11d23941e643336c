// Links: this process's sessions with others, over a transport that only carries frames.
//
// One connection (a channel per lane) is one link, opened by Hello and Welcome. A link numbers its
// messages per lane, holds them to the byte credit the receiver granted, and sends a heartbeat from
// the loop. A fault of the peer, or a connection that is lost for good, ends it: pending asks end
// as actor_down, and the next message opens a new session.
//
// A connection that is lost is no end yet, nor is a message that did not come over one, which a gap
// in the numbers shows: then the connection is given up. Who dialled it dials again, both say what
// they have received, and what was not is sent again: each message still comes once and in order,
// and nobody above hears of it. For that a link keeps what it sent until the peer has said that it
// has it, which every message says, so that is no more than the peer's window.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/base/random.h"
#include "runtime/loop/loop.h"
#include "runtime/loop/timers.h"
#include "runtime/message/actor_ref.h"
#include "runtime/message/message.h"
#include "runtime/transport/transport.h"

namespace sterna {

struct DownNotice;
struct Heartbeat;
struct Hello;
struct Welcome;

/// Bumped when frames change their meaning; another number is refused.
constexpr std::uint32_t kProtocolVersion = 3;

/// How the cause of an end ends where the other end of it had given the session up before, and
/// where it has opened another one.
constexpr std::string_view kSessionOver = "that session is over";
constexpr std::string_view kNewSession = "the peer opened a new session";
/// Of a link that was never open.
constexpr std::string_view kNoAnswer = "no answer to our connection";
/// It lived when it said so.
constexpr std::string_view kGoodbye = "the peer ended the link";

struct LinkOptions {
  ProcessId self;
  PeerIdentity identity;
  std::uint64_t run = 0;
  std::uint64_t schema_hash = 0;
  std::string build_id;
  std::string host;
  std::uint32_t codecs = 0;
  Duration heartbeat = std::chrono::milliseconds(500);
  Duration silence = std::chrono::seconds(5);
  /// How long a connection that was lost is dialled again before the link ends; 0: not at all. With
  /// a process above or below us it is two heartbeats at most: it knows best who lives.
  Duration patience{};
  /// Bytes a second: a link that carries less, while there is more to send, is told of. 0: none is,
  /// nor without patience, by which it is known what has come.
  std::uint64_t slow_below = 0;
  /// Bytes a peer may have unconsumed here, per lane; also the bound of what waits for credit.
  std::array<std::uint64_t, kLanes> window = {4U << 20, 64U << 20};
  /// Asks of one peer of which it has taken no answer, nor the code of one; as many as may be under
  /// way of a process (ProcessOptions::max_asks). Who has more is blamed.
  std::size_t most_owed = 1U << 20;
  /// What an actor should have under way to or from one peer at a time (ByteWindow): as much as may
  /// wait on its link, so that nothing it sends finds no room. At 100 Mbit/s that takes 5.4 s.
  std::uint64_t most_under_way() const { return window[1]; }
};

struct LinkCounters {
  std::uint64_t decode_errors = 0;
  std::uint64_t refused_hellos = 0;
  std::uint64_t sequence_gaps = 0;  ///< messages that came where another one was due
  std::uint64_t faults = 0;         ///< of every kind, decode errors among them: the peer is muted
  std::uint64_t resumed = 0;        ///< links that went on over another connection
  std::uint64_t sent_again = 0;     ///< messages that they sent another time
  std::array<std::uint64_t, kLanes> bytes_in = {};  ///< whole frames, envelopes included
  std::array<std::uint64_t, kLanes> bytes_out = {};
};

/// A question and its answer between two hosts' clocks, as heartbeats ask and answer it.
struct RoundTrip {
  const std::string& host;  ///< the other
  Time asked;               ///< by our clock
  Time answered;            ///< by the other's
  Duration held{};          ///< by the other, before it answered
  Time came;                ///< by our clock
};

/// What a heartbeat says about its sender.
struct LinkStatistics {
  Duration loop_lag{};
  std::uint64_t queued_bytes = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t actors = 0;
};

class Links final : private Transport::Events, private Timers::Target {
 public:
  /// The process that owns the links.
  class Owner {
   public:
    virtual Expected expect(const Header& header, ProcessId from) = 0;
    virtual void deliver(std::unique_ptr<Mail> mail) = 0;
    /// A message that cannot reach `target` any more (only asks are worth answering).
    virtual void failed_to_send(const Header& header, ActorId target, const Error& error) = 0;
    virtual void watch_requested(ProcessId from, LocalId actor) = 0;
    virtual void down_received(const DownNotice& notice) = 0;
    virtual void introduce(ProcessId peer) = 0;
    virtual void link_ended(const Contact& peer, const std::string& cause, bool fault) = 0;
    /// A connection was lost so long ago and is not back; or it is (`over`): said by the one who
    /// dialled, and by who said before that it was not.
    virtual void link_trouble(const Contact& peer, const std::string& cause, Duration lasts,
                              bool over) = 0;
    /// What we send to the peer went at most at `rate` (bytes a second) for so long; or it was slow
    /// for so long and is no more (`over`).
    virtual void link_pace(const Contact& peer, std::uint64_t rate, Duration lasts, bool over) = 0;
    virtual LinkStatistics statistics() = 0;

   protected:
    ~Owner() = default;
  };

  /// What to do with a message that is about to be sent (tests).
  struct Fate {
    enum class Kind { deliver, lose, delay, repeat } kind = Kind::deliver;
    Duration delay{};
  };
  using Chaos = std::function<Fate(const Header& header, ProcessId to)>;

  Links(Owner& owner, Transport& transport, Loop& loop, Timers& timers, Random& random,
        std::function<void(std::string_view)> log, LinkOptions options);
  ~Links();

  /// Lets `peer` dial us.
  void admit(const Contact& peer);
  /// Lets the next incarnation of a peer in, beside the one that is there; once it dials, it is
  /// admitted, and that one fenced.
  void announce(const Contact& next);
  /// Opens a link to `peer` now.
  void dial(const Contact& peer);
  /// The introducer could not bring us together: what waits for `peer` fails.
  void unreachable(ProcessId peer, const std::string& cause);
  /// Ends the link and forgets the peer.
  void drop(ProcessId peer, const std::string& cause);
  /// The peer broke the rules: muted, its link ended with that cause, reported.
  void blame(ProcessId peer, const std::string& cause);

  /// Sends `mail`, or queues it until there is a link or credit. The header's sequence is ours to
  /// fill. An error (overloaded) means that it was not taken.
  Result<void> send(ProcessId to, const Header& header, std::unique_ptr<Mail> mail);
  void send_watch(ProcessId to, LocalId actor);
  void send_down(ProcessId to, const DownNotice& notice);
  /// Mail from `peer` has been handled: its bytes become credit again.
  void consumed(ProcessId peer, const Mail& mail);

  bool connected(ProcessId peer) const;
  /// The identity under which the peer authenticated; null if there is no link.
  const PeerIdentity* identity_of(ProcessId peer) const;
  /// How long the session with it has been there; what is heard in it was sent since. Zero: none.
  Duration age_of(ProcessId peer) const;
  /// When a peer above or below us was last known to hear what is said on the control lane; the
  /// clock's zero: never.
  Time last_open(ProcessId peer) const;
  /// The last heartbeat's words about the peer; null before the first.
  const LinkStatistics* last_words(ProcessId peer) const;
  /// Bytes waiting for credit or for a connection, over all links.
  std::uint64_t queued_bytes() const { return waiting_bytes_; }
  Duration loop_lag() const { return loop_lag_; }
  const LinkCounters& counters() const { return counters_; }
  const TransportCounters& transport_counters() const { return transport_.counters(); }
  std::size_t open_links() const;
  /// Peers in a tree above or below us are given `silence`, others half as much again, so that the
  /// node, which knows most, speaks first: but half of it before we dial again, where we do that.
  void set_tree_peer(ProcessId peer);
  void set_chaos(Chaos chaos) { chaos_ = std::move(chaos); }
  /// Called with each round trip to a process of another host.
  void set_on_round_trip(std::function<void(const RoundTrip&)> hook) {
    on_round_trip_ = std::move(hook);
  }

 private:
  struct Queued;
  struct LaneState;
  struct Pace;
  struct Link;
  struct Receiving;
  class Delayed;
  class SharedMail;

  void received(ChannelId channel, Lane lane, const PeerIdentity& from,
                InMessage& message) override;
  void closed(ChannelId channel, std::string_view cause, bool denied) override;
  void noticed(std::string_view line) override { log_(line); }
  void timer_fired() override;

  Link& link_to(ProcessId peer);
  Link* find(ProcessId peer) const;
  static Expected expect(void* receiving, const Header& header);
  void hello_received(ChannelId channel, Lane lane, const PeerIdentity& from, InMessage& message);
  void accept(ChannelId channel, Lane lane, const Contact& peer, const Hello& hello);
  bool expected(const PeerIdentity& peer);
  std::string objection(const Hello& hello, const Contact& peer) const;
  static std::string lie(const Hello& hello, const Contact& peer);
  void refuse(ChannelId channel, const std::string& reason);
  void mute(const Contact& peer, const std::string& cause);
  void control_received(Link& link, Lane lane, const Mail& mail);
  void welcomed(Link& link, Lane lane, const Welcome& welcome);
  void end(ProcessId peer, const std::string& cause, bool fault, bool report);
  Result<void> send_now_or_queue(ProcessId to, const Header& header, std::unique_ptr<Mail> mail);
  static std::string what_waits(const Link& link, const LaneState& state);
  void owe(Link& link, LaneState& state, const Header& header, const Mail& mail);
  void pay_owed(Link& link, Lane lane);
  void recount(Link& link);
  /// `credit` as a peer has granted it, cut to what is believed of any peer.
  std::uint64_t within_reason(const LaneState& state, Lane lane, std::uint64_t credit) const;
  Result<void> transmit(Link& link, Lane lane, const Header& header, std::unique_ptr<Mail> mail);
  Result<std::uint64_t> put(Link& link, Lane lane, Header header, const Mail& mail);
  template <class M>
  Result<void> say(Link& link, Lane lane, M message, std::uint64_t number);
  void say_goodbye(Link& link);
  std::string why_closed(const Link& link, std::string_view cause) const;
  Hello hello_of(const Link& link, Lane lane) const;
  Welcome welcome_of(const Link& link, Lane lane) const;

  bool resumes(const Link& link) const;
  Duration patience_with(const Link& link) const;
  void lose(Link& link, Lane lane, const std::string& cause);
  void dial_again(Link& link);
  bool may_resume(Link& link) const;
  void tell_trouble(Link& link);
  void log_loss(Link& link);
  void resume(ChannelId channel, Lane lane, const Contact& peer, const Hello& hello);
  bool go_on(Link& link, Lane lane, std::uint64_t received, std::uint64_t credit);
  void opened(Link& link, Lane lane);
  void back(Link& link);
  bool acknowledged(Link& link, const Header& header);

  void missed(Link& link, Lane lane, std::uint64_t came);
  void asked_to_redial(Link& link);
  void dial_unanswered(Link& link, Time now);
  void probe(Link& link);

  void measure(Link& link, Time now);
  void slow_no_more(Link& link);

  void flush(ProcessId peer, Lane lane);
  void heartbeat(Link& link);
  void compare_clocks(Link& link, const Heartbeat& beat);
  void tick(Link& link, Time now);

  Owner& owner_;
  Transport& transport_;
  Loop& loop_;
  Timers& timers_;
  Random& random_;
  std::function<void(std::string_view)> log_;
  LinkOptions options_;
  EnvelopeEncoder encoder_;
  std::unordered_map<ProcessId, std::unique_ptr<Link>> links_;
  std::unordered_map<ChannelId, std::pair<ProcessId, Lane>> channels_;
  std::unordered_map<std::string, Contact> admitted_;  // by name: the highest incarnation admitted
  std::vector<Contact> announced_;
  std::unordered_set<std::string> refused_;  // identities; each is logged once
  LinkCounters counters_;
  std::uint64_t waiting_bytes_ = 0;  // of all links: each says it, with each heartbeat
  Chaos chaos_;
  std::function<void(const RoundTrip&)> on_round_trip_;
  std::vector<std::unique_ptr<Delayed>> delayed_;
  std::unordered_map<ProcessId, Time> tree_peers_;  // and when they last heard what we say
  Timers::Id timer_ = 0;
  Time attentive_since_;  // since when our own loop has turned without a long pause
  Time expected_tick_;
  Duration loop_lag_{};
};

}  // namespace sterna
