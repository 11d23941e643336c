// Actor<I>: what a user derives from. An actor is its state and one handler `on(M)` per message of
// I.
//
//   class CounterActor final : public Actor<Counter> {
//    public:
//     Total on(Add add) { return Total{total_ += add.amount}; }
//     Task<Total> on(Slow) { co_await sleep(1s); co_return Total{total_}; }
//    private:
//     std::int64_t total_ = 0;
//   };
//
// Handlers take their message by value (a task keeps it in its frame, and must) and return the
// reply, void, Result<reply>, or a Task of these. One loop thread runs them all; a handler that
// awaits lets others interleave. An actor's death destroys whatever it was waiting in. Nothing here
// is thread-safe but Poster.
//
// An error that a handler returns reaches the asker with its code and words. But how an ask ends of
// itself (actor_down, deadline, cancelled, overloaded) says that of the one who was asked: a
// handler that ends so for want of somebody else is answered as remote. Where the answers are about
// others anyway the interface has `static constexpr bool kSpeaksOfOthers = true;`, and codes stay.
// What was told has no asker: the error goes into the process's log, one a second.
//
// What code of an actor throws, wherever it runs, fails that actor with the cause "PLACE threw:
// WHAT"; what a constructor throws, whoever spawns it.
//
// Name the future of an ask whose message owns something before awaiting it,
//
//     Future<Total> answer = ask(counter, Rename{text}, 1s);
//     const Result<Total> total = co_await answer;
//
// because GCC 12 destroys the braced temporary of `co_await ask(counter, Rename{text}, 1s)` twice.
#pragma once

#include <array>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "runtime/actor/future.h"
#include "runtime/actor/task.h"
#include "runtime/loop/executor.h"
#include "runtime/loop/loop.h"
#include "runtime/message/actor_ref.h"
#include "runtime/message/down_notice.h"

namespace sterna {

class Process;
class ActorBase;
struct PeerIdentity;

/// Lets a compute thread hand something to an actor's loop: runs only if the actor still lives.
class Poster {
 public:
  Poster() = default;
  Poster(Loop& loop, std::weak_ptr<Process*> process, LocalId actor)
      : loop_(&loop), process_(std::move(process)), actor_(actor) {}
  /// From any thread.
  void post(std::function<void()> work) const;

 private:
  Loop* loop_ = nullptr;
  std::weak_ptr<Process*> process_;
  LocalId actor_;
};

namespace detail {

/// Whom a handler answers.
struct Ticket {
  ActorId asker;
  std::uint64_t correlation = 0;  ///< 0: it was told, not asked
  LocalId asked;
  std::uint64_t bytes = 0;  ///< that the message took on its link
};

struct HandlerEntry {
  const MessageType* type;
  void (*invoke)(ActorBase& actor, Mail& mail, const Ticket& ticket);
};

/// An actor class as the process sees it.
struct ActorClass {
  std::uint64_t interface_id;
  bool speaks_of_others;
  const HandlerEntry* handlers;
  std::size_t count;
  const HandlerEntry* find(std::uint64_t type_id) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (handlers[i].type->type_id == type_id) return handlers + i;
    }
    return nullptr;
  }
};

/// Waits for a job on a compute thread; safe if the waiting frame dies first.
class Completion {
 public:
  Completion() = default;
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;
  bool await_ready() const noexcept { return done_; }
  void await_suspend(std::coroutine_handle<> waiter) noexcept { waiter_ = waiter; }
  /// Throws what the job threw.
  void await_resume() const {
    if (exception_) std::rethrow_exception(exception_);
  }
  /// On the compute thread, before complete().
  template <class F>
  void run(F&& job) {
    try {
      std::forward<F>(job)();
    } catch (...) {
      exception_ = std::current_exception();
    }
  }
  void abandon() { waiter_ = nullptr; }
  void complete() {
    done_ = true;
    if (waiter_) std::exchange(waiter_, nullptr).resume();
  }

 private:
  bool done_ = false;
  std::exception_ptr exception_;
  std::coroutine_handle<> waiter_;
};

}  // namespace detail

/// What an actor can do. Not in its constructor, which no process knows yet: all of this throws
/// std::logic_error there; started() is the place.
class ActorBase {
 public:
  ActorBase() = default;
  ActorBase(const ActorBase&) = delete;
  ActorBase& operator=(const ActorBase&) = delete;
  virtual ~ActorBase() = default;

  Process& process() const { return process_ != nullptr ? *process_ : no_process(); }
  /// The device that it computes on shall fail in the middle of what it computes next, to see what
  /// the run does about it. Errors: invalid_argument, it computes on none; unavailable, not yet.
  virtual Result<void> suffer_device_fault() {
    return Error{Errc::invalid_argument, "it computes on no device"};
  }

 protected:
  /// Runs once, before the first message.
  virtual void started() {}
  /// A watched actor (or its process) has died.
  virtual void down(const DownNotice&) {}
  /// The process is asked to stop gracefully; the default dies at once. Finish, then call stop().
  virtual void stop_requested() { stop(); }

  ActorId id() const;
  /// Who its process is in the run: an actor's own name and incarnation, which its light actors
  /// share.
  const PeerIdentity& identity() const;
  Time now() const;
  /// The sender of the message being handled; valid until the handler's first co_await.
  ActorId sender() const;

  /// Sends and forgets. A message that I does not accept does not compile.
  template <class I, class M>
  void tell(ActorRef<I> to, M message);
  /// Sends and awaits the answer, at most `deadline` from now; Duration::max() is for ever.
  template <class I, class M>
  Future<ReplyTo<M>> ask(ActorRef<I> to, M message, Duration deadline);
  [[nodiscard]] Sleep sleep(Duration duration);
  /// Runs a task of this actor's beside its handlers.
  void run(Task<void> task);
  /// The same; an error fails this actor with its message.
  void run(Task<Result<void>> task);
  /// The same, of a lambda that is a coroutine, `run([this, text]() -> Task<void> { ... })`: what
  /// it captures lives as long as its task. Called by whoever runs it, `{ ... }()`, it does not.
  template <class F>
  requires detail::kIsTask<std::invoke_result_t<F&>>
  void run(F coroutine) { run(call(std::move(coroutine))); }
  /// Runs `work` on a compute thread; it must own all that it uses. Who awaits it gets what it
  /// throws.
  template <class F>
  Task<std::invoke_result_t<F>> compute(F work);
  Poster poster() const;
  /// A light actor in this process that dies with this one.
  template <class A, class... Args>
  ActorRef<typename A::InterfaceType> spawn(Args&&... args);
  /// down() will be called once when `actor` or its process dies, however often it is watched; at
  /// once if it is dead.
  void watch(ActorId actor);
  /// Both end this actor after the current handler: stop() as it should, fail() with a cause.
  void stop();
  void fail(const std::string& cause);
  /// One line in the log of its process, which has that one's name: a light actor says itself who
  /// it is.
  void log(std::string_view line) const;

 private:
  friend class Process;
  [[noreturn]] static Process& no_process();
  Task<void> fail_unless(Task<Result<void>> task);
  template <class F>
  static std::invoke_result_t<F&> call(F coroutine) {
    auto task = coroutine();
    co_return co_await task;
  }

  Process* process_ = nullptr;  ///< null in its constructor
  LocalId local_;
};

template <class I>
class Actor : public ActorBase {
 public:
  using InterfaceType = I;
  ActorRef<I> self() const { return {id()}; }
};

}  // namespace sterna
