// Process: the actors of one process, their mail, their asks, and its links to other processes.
//
// Not a singleton: a test runs a whole cluster of these in one program. Everything it needs is
// passed in and must outlive it. Loop thread only, except Poster.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/actor/actor.h"
#include "runtime/actor/kept_memory.h"
#include "runtime/actor/waiting_handlers.h"
#include "runtime/actor/watches.h"
#include "runtime/base/random.h"
#include "runtime/link/link.h"
#include "runtime/message/mail_queue.h"
#include "runtime/trace/tracer.h"

namespace sterna {

/// Everything a process stands on. `transport` may be null: then there are only local actors.
struct ProcessEnvironment {
  Loop& loop;
  Random& random;
  Executor& executor;
  Transport* transport = nullptr;
  /// Takes log lines (without newline). Never null.
  std::function<void(std::string_view line)> log;
  /// Where spans go, of at most so many bytes; null, or what it returns is: nowhere.
  std::function<std::unique_ptr<TextSink>(std::uint64_t most_bytes)> open_trace = nullptr;
  /// What outlives the process for the next incarnation of its actor; null: nothing does.
  KeptMemory* kept_memory = nullptr;
  /// Where files lie that are its own; empty: in the current folder.
  std::string directory = {};
};

struct ProcessOptions {
  LinkOptions link;                 ///< identity, run, heartbeat, credits
  std::size_t max_mail = 1U << 20;  ///< messages queued between local actors
  std::size_t max_asks = 1U << 20;  ///< asks in flight
  /// Handlers that one other process may keep waiting here; further asks of its end as overloaded,
  /// and what it tells is dropped.
  std::size_t max_waiting_handlers = 1U << 14;
  /// The same of the bytes that it sent them, which nothing but this bounds: its credit comes back
  /// when a handler first waits. Far more than honest ones keep, whose questions to one peer take a
  /// share of `most_under_way` until they are answered (byte_window.h).
  std::uint64_t max_waiting_bytes() const { return 16 * link.most_under_way(); }
};

/// "PLACE threw: WHAT", the cause with which an actor fails of an exception.
std::string threw(std::string_view place, const std::exception_ptr& exception);

class Process final : private Loop::Source, private Links::Owner {
 public:
  Process(const ProcessEnvironment& environment, ProcessOptions options);
  ~Process() override;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  ProcessId id() const { return options_.link.self; }
  const ProcessOptions& options() const { return options_; }
  Loop& loop() const { return environment_.loop; }
  Random& random() const { return environment_.random; }
  Executor& executor() const { return environment_.executor; }
  /// Null where nothing outlives the process.
  KeptMemory* kept_memory() const { return environment_.kept_memory; }
  const std::string& directory() const { return environment_.directory; }
  Timers& timers() { return timers_; }
  /// Null without a transport.
  Links* links() { return links_.get(); }
  std::size_t actors() const { return live_; }
  void log(std::string_view line) const { environment_.log(line); }

  /// A top-level actor of this process.
  template <class A, class... Args>
  ActorRef<typename A::InterfaceType> spawn(Args&&... args) {
    return {adopt(std::make_unique<A>(std::forward<Args>(args)...), class_of<A>(), {})};
  }
  /// As spawn(), for an actor made elsewhere (a registry's factory).
  ActorId adopt(std::unique_ptr<ActorBase> actor, const detail::ActorClass& type, LocalId owner);
  template <class A>
  static const detail::ActorClass& class_of();

  /// For plain code outside any actor, between turns of the loop: ask, then wait().
  template <class I, class M>
  Future<ReplyTo<M>> ask(ActorRef<I> to, M message, Duration deadline) {
    return send_ask(LocalId{}, to, std::move(message), deadline);
  }
  template <class I, class M>
  void tell(ActorRef<I> to, M message) {
    send_tell(LocalId{}, to, std::move(message));
  }
  /// Runs the loop until the future has ended.
  template <class T>
  Result<T> wait(Future<T> future) {
    loop().run_until([&] { return future.ready(); }, kNever);
    return future.take();
  }

  void kill(LocalId actor, const std::string& cause);
  /// Asks every top-level actor to stop.
  void request_stop();
  /// Called after an actor has died, with its cause ("" for a plain stop()).
  void set_on_death(std::function<void(LocalId, const std::string& cause)> hook) {
    on_death_ = std::move(hook);
  }
  /// Asked to open a link to a process nobody has introduced; answers through links().
  void set_introducer(std::function<void(ProcessId)> introducer) {
    introducer_ = std::move(introducer);
  }
  /// A link has ended; `fault` if the peer sent what it must not (it is muted then).
  void set_on_link_end(
      std::function<void(const Contact& peer, const std::string& cause, bool fault)> hook) {
    on_link_end_ = std::move(hook);
  }
  /// A connection was lost and is dialled again, or is back (Links::Owner::link_trouble).
  void set_on_link_trouble(
      std::function<void(const Contact& peer, const std::string& cause, Duration lasts, bool over)>
          hook) {
    on_link_trouble_ = std::move(hook);
  }
  /// A link is slow, or is no more (Links::Owner::link_pace).
  void set_on_link_pace(
      std::function<void(const Contact& peer, std::uint64_t rate, Duration lasts, bool over)>
          hook) {
    on_link_pace_ = std::move(hook);
  }
  /// The node says that a process is dead: ends its link, its asks and those who watch it.
  void process_down(const DownNotice& notice);
  /// Whether it has said so of that one, lately: else only a link may be lost.
  bool is_dead(ProcessId process) const { return dead_.contains(process); }
  /// Who a process has proved to be: this one, or one at the other end of a link; null for others.
  const PeerIdentity* identity_of(ProcessId process) const;
  /// The sender of the message being handled broke the rules of its role: its link ends.
  void blame_sender(const std::string& cause);

  /// Who answers questions about the rest of the run (runtime/cluster/find_actor.h); none in a lone
  /// process.
  const AnyRef& agent() const { return agent_; }
  void set_agent(const AnyRef& agent) { agent_ = agent; }
  /// How often the link to its process has ended: what was asked over it may not have been heard.
  std::uint64_t agent_losses() const { return agent_losses_; }
  /// One that was looked for here is dead, and does not come again: who ends now ends for want of
  /// it.
  void misses_somebody() { misses_somebody_ = true; }
  bool missing_somebody() const { return misses_somebody_; }

  /// Off until start_trace().
  const std::shared_ptr<Tracer>& tracer() const { return tracer_; }
  /// Once. False: there is nowhere to write to.
  bool start_trace(TracedSteps steps, std::uint64_t most_bytes);

  /// Loses, delays or repeats chosen messages to other processes (tests).
  void set_chaos(Links::Chaos chaos) { links_->set_chaos(std::move(chaos)); }

  // ---- for Actor, Future and handlers ----
  template <class I, class M>
  void send_tell(LocalId source, ActorRef<I> to, M message) {
    static_assert(I::template kAccepts<M>, "the actor's interface does not list this message");
    static_assert(Message<M>, "a message is a struct with Wire, encode and decode");
    post_mail(std::make_unique<MessageMail<M>>(std::move(message)), Kind::TELL, source, to.id, 0,
              0);
  }
  template <class I, class M>
  Future<ReplyTo<M>> send_ask(LocalId source, ActorRef<I> to, M message, Duration deadline) {
    static_assert(I::template kAccepts<M>, "the actor's interface does not list this message");
    static_assert(Askable<M>,
                  "a message that is asked says with what it is answered: using Reply = ...");
    Future<ReplyTo<M>> future;
    auto mail = std::make_unique<MessageMail<M>>(std::move(message));
    start_ask(future, std::move(mail), source, to.id, deadline);
    return future;
  }
  /// Handlers that a process keeps waiting, and what they were sent.
  struct Waiting {
    std::size_t handlers = 0;
    std::uint64_t bytes = 0;
  };
  /// What this ticket's asker, or whoever told it, keeps waiting; null for an actor of ours.
  Waiting* waiting_for(const detail::Ticket& ticket) {
    const ProcessId process = ticket.asker.process;
    return process && process != id() ? &waiting_handlers_[process] : nullptr;
  }
  /// Of all actors.
  WaitingHandlers& handlers() { return handlers_; }
  void reply(const detail::Ticket& ticket, std::unique_ptr<Mail> answer, Kind kind);
  void move_ask(std::uint64_t correlation, detail::PendingAsk& ask, Timers::Id timer,
                Timers::Target& target);
  void withdraw_ask(std::uint64_t correlation);
  Timers::Id postpone_ask(std::uint64_t correlation, Timers::Target& target);
  void run_task(LocalId actor, Task<void> task);
  /// Runs code of the actor's class. Where that throws the actor fails, as by threw().
  template <class F>
  void run_code_of(LocalId actor, std::string_view place, F&& code) {
    try {
      std::forward<F>(code)();
    } catch (...) {
      kill(actor, threw(place, std::current_exception()));
    }
  }
  void watch(LocalId watcher, ActorId actor);
  ActorId sender() const { return sender_; }
  bool alive(LocalId actor) const;
  /// Dead, or to be buried at the end of this turn.
  bool doomed(LocalId actor) const;
  ActorBase* find(LocalId actor);
  Poster poster(LocalId actor) { return {loop(), alive_token_, actor}; }

  struct Cell;
  class Root;
  template <class T>
  Root run_handler(Cell& cell, detail::Ticket ticket, Task<T> task);
  template <class R>
  void answer(const detail::Ticket& ticket, R value);
  /// With the error that a handler has returned.
  void answer_error(const detail::Ticket& ticket, Error error);
  Cell& cell_of(LocalId actor) { return cells_[slot_of(actor)]; }
  void handler_threw(Cell& cell, const detail::Ticket& ticket, const std::exception_ptr& exception);

  /// What this process says of itself in its heartbeats.
  LinkStatistics statistics() override;

 private:
  struct Ask {
    detail::PendingAsk* ask = nullptr;
    std::uint32_t generation = 1;
    bool postponed = false;
    ActorId target;
    Duration deadline;
    Duration stood_still;  // this process, all in all, when it asked
  };
  static std::uint32_t slot_of(LocalId id) { return static_cast<std::uint32_t>(id.value); }
  static std::uint32_t generation_of(LocalId id) {
    return static_cast<std::uint32_t>(id.value >> 32);
  }

  // Loop::Source
  void turn() override;
  bool ready() override;
  Time next_deadline() override { return timers_.next(); }

  // Links::Owner
  Expected expect(const Header& header, ProcessId from) override;
  void deliver(std::unique_ptr<Mail> mail) override;
  void failed_to_send(const Header& header, ActorId target, const Error& error) override;
  void watch_requested(ProcessId from, LocalId actor) override;
  void down_received(const DownNotice& notice) override;
  void introduce(ProcessId peer) override;
  void link_ended(const Contact& peer, const std::string& cause, bool fault) override;
  void link_pace(const Contact& peer, std::uint64_t rate, Duration lasts, bool over) override;
  void link_trouble(const Contact& peer, const std::string& cause, Duration lasts,
                    bool over) override;

  void start_ask(detail::PendingAsk& ask, std::unique_ptr<Mail> mail, LocalId source,
                 ActorId target, Duration deadline);
  void post_mail(std::unique_ptr<Mail> mail, Kind kind, LocalId source, ActorId target,
                 std::uint64_t correlation, std::int64_t deadline_ns);
  void enqueue(std::unique_ptr<Mail> mail);
  void dispatch(Mail& mail);
  void dispatch_to_actor(Mail& mail);
  void log_failure(const std::string& line);
  void cancel_handler(const detail::Ticket& ticket);
  void cancel_handlers_for(ProcessId asker);
  Ask* find_ask(std::uint64_t correlation);
  detail::PendingAsk* end_ask(std::uint64_t correlation);
  std::vector<std::uint64_t> asks_to(ProcessId process) const;
  void part_from(ProcessId process, const Error& error);
  void after_this(std::function<void()> work);
  void bury();
  void bury_one(LocalId actor, const std::string& cause);
  void notify_watchers(ActorId actor, const DownNotice& notice);
  void notify_watchers_of(const DownNotice& process_notice);
  std::string cause_of(LocalId actor) const;

  ProcessEnvironment environment_;
  ProcessOptions options_;
  Timers timers_;
  std::unique_ptr<Links> links_;

  WaitingHandlers handlers_;  // of all actors
  std::deque<Cell> cells_;    // slot 0 is never used; a deque so that cells stay where they are
  std::vector<std::uint32_t> free_cells_;
  std::size_t live_ = 0;

  MailQueue queue_;

  std::vector<Ask> asks_;
  Duration stood_still_{};  // all pauses, as far as timers show them
  Time paused_until_;       // the last one
  std::vector<std::uint32_t> free_asks_;

  class TraceFlush;
  std::shared_ptr<Tracer> tracer_;  // compute threads may have it longer than we
  std::unique_ptr<TraceFlush> trace_flush_;
  class Mourning;
  std::vector<std::unique_ptr<Mourning>> mourning_;
  std::vector<std::pair<LocalId, std::string>> dying_;
  std::deque<std::pair<LocalId, std::string>> epitaphs_;         // recent causes of death, bounded
  Watches watches_;                                              // of actors here
  std::unordered_multimap<ActorId, ProcessId> remote_watchers_;  // watched here -> watching process

  std::unordered_map<ProcessId, Waiting> waiting_handlers_;  // by the process that asked

  Time next_failure_;         ///< may be logged
  std::uint64_t unsaid_ = 0;  ///< failures since the last one that was

  ActorId sender_;
  AnyRef agent_;
  std::uint64_t agent_losses_ = 0;
  bool misses_somebody_ = false;
  std::set<ProcessId> dead_;  ///< as the node has said; the newest of them, as ids only grow
  std::shared_ptr<Process*> alive_token_;
  std::function<void(LocalId, const std::string&)> on_death_;
  std::function<void(ProcessId)> introducer_;
  std::function<void(const Contact&, const std::string&, bool)> on_link_end_;
  std::function<void(const Contact&, const std::string&, Duration, bool)> on_link_trouble_;
  std::function<void(const Contact&, std::uint64_t, Duration, bool)> on_link_pace_;
};

}  // namespace sterna

#include "runtime/actor/process_inline.h"  // IWYU pragma: export
