// Future<T>: the answer to an ask, awaited in a task. Also Condition and Sleep, the other
// awaitables.
//
// A future ends with exactly one of: the reply; the error of the handler, with its code (remote, of
// what it threw); deadline, cancelled, actor_down (with actor, incarnation and cause), overloaded;
// invalid_argument, where the message is more than a link takes or breaks a rule of its fields.
// What of these a handler ends with is of somebody else, and comes as remote (actor.h). Destroying
// or cancelling one before withdraws the ask, and tells the other side. Awaiting is for the actor's
// own loop thread; one coroutine awaits it, once. More is misuse, which ends the program
// (runtime/base/misuse.h); another may await it after one that was destroyed as it waited.
#pragma once

#include <coroutine>
#include <cstdint>
#include <optional>
#include <utility>

#include "runtime/base/misuse.h"
#include "runtime/base/result.h"
#include "runtime/loop/timers.h"
#include "runtime/message/message.h"

namespace sterna {

class Process;

namespace detail {

/// The part of a future that the process's table of pending asks points at.
class PendingAsk : private Timers::Target {
 public:
  /// Called once; takes the answer out of the mail.
  virtual void answer(Mail& mail) = 0;
  virtual void fail(Error error) = 0;
  /// What a reply from the wire must decode to; null for an empty reply.
  virtual const MessageType* reply_type() const = 0;

  /// A coroutine's wait for it, in that coroutine's frame: with the frame it ends. It follows an
  /// ask that moves; of one that is destroyed it never ends.
  class Wait {
   public:
    explicit Wait(PendingAsk& ask) : ask_(&ask) {}
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait() { leave(); }
    void await_suspend(std::coroutine_handle<> waiter);

   protected:
    PendingAsk& ask() const { return *ask_; }
    void leave();

   private:
    friend class PendingAsk;
    PendingAsk* ask_;  ///< null once it is over
    std::coroutine_handle<> waiter_;
  };

 protected:
  PendingAsk() = default;
  PendingAsk(PendingAsk&& other) noexcept;
  PendingAsk& operator=(PendingAsk&& other) noexcept;
  ~PendingAsk();
  /// Forgets the ask and tells the other side; harmless once answered.
  void withdraw();
  void resume() {
    if (wait_ != nullptr) std::exchange(wait_, nullptr)->waiter_.resume();
  }

  void timer_fired() final;  // the deadline
  void take_wait_of(PendingAsk& other);
  void forget_wait();

  Process* process_ = nullptr;
  std::uint64_t correlation_ = 0;  ///< 0 once it has ended
  Timers::Id timer_ = 0;
  Wait* wait_ = nullptr;
  friend class sterna::Process;
};

}  // namespace detail

template <class T>
class [[nodiscard]] Future final : public detail::PendingAsk {
 public:
  using Value = T;
  Future() = default;
  /// An ask that has already ended.
  explicit Future(Error error) : result_(std::move(error)) {}
  Future(Future&& other) noexcept
      : PendingAsk(std::move(other)),
        result_(std::exchange(other.result_, std::nullopt)),
        taken_(std::exchange(other.taken_, false)) {}
  Future& operator=(Future&& other) noexcept {
    if (this == &other) return *this;
    PendingAsk::operator=(std::move(other));
    result_ = std::exchange(other.result_, std::nullopt);  // NOLINT(bugprone-use-after-move)
    taken_ = std::exchange(other.taken_, false);
    return *this;
  }

  bool ready() const { return result_.has_value(); }
  /// The result, once ready; a future gives it once. Anything else is misuse.
  Result<T> take() {
    if (!ready()) misuse("the result of a Future is taken before it is ready");
    if (std::exchange(taken_, true)) misuse("the result of a Future is taken, or awaited, twice");
    return std::move(*result_);
  }
  /// Ends the ask as cancelled, here and at the actor asked.
  void cancel() {
    if (ready()) return;
    withdraw();
    fail(Error{Errc::cancelled, "the asker cancelled"});
  }

  class Await final : public Wait {
   public:
    explicit Await(Future& future) : Wait(future) {}
    bool await_ready() const noexcept { return future().ready(); }
    Result<T> await_resume() {
      Future& done = future();
      leave();
      return done.take();
    }

   private:
    Future& future() const { return static_cast<Future&>(ask()); }
  };
  Await operator co_await() & { return Await(*this); }
  /// Give it a name first: of `co_await ask(shop, Price{item}, 1s)` GCC 12 destroys the message
  /// twice (STERNA_CO_ASSIGN and STERNA_CO_TRY give it one).
  Await operator co_await() && = delete;

  void answer(Mail& mail) override {
    if constexpr (std::is_void_v<T>) {
      result_.emplace();
    } else {
      result_.emplace(std::move(static_cast<MessageMail<T>&>(mail).message));
    }
    resume();
  }
  void fail(Error error) override {
    result_.emplace(std::move(error));
    resume();
  }
  const MessageType* reply_type() const override {
    if constexpr (std::is_void_v<T>) {
      return nullptr;
    } else {
      return &kMessageType<T>;
    }
  }

 private:
  std::optional<Result<T>> result_;
  bool taken_ = false;
};

/// Lets tasks of one loop wait until something is true: co_await condition.wait() in a while loop.
class Condition {
 public:
  class Wait {
   public:
    explicit Wait(Condition& condition) : condition_(&condition) {}
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait() { unlink(); }
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) noexcept;
    void await_resume() const noexcept {}

   private:
    friend class Condition;
    void unlink();
    Condition* condition_;
    std::coroutine_handle<> waiter_;
    Wait* previous_ = nullptr;
    Wait* next_ = nullptr;
    std::uint64_t round_ = 0;
    bool linked_ = false;
  };

  Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  ~Condition();
  Wait wait() { return Wait(*this); }
  /// Resumes everyone who waits now, in the order of waiting, before it returns. Who goes on may
  /// destroy the condition: those behind it are not resumed then, nor ever.
  void notify_all();

 private:
  struct Notifying {
    Notifying* outer;  // a waiter may notify, too
    bool over = false;
  };
  Wait* first_ = nullptr;
  Wait* last_ = nullptr;
  std::uint64_t round_ = 0;  ///< counts notifications, so that waiting again waits for the next
  Notifying* notifying_ = nullptr;
};

/// Awaits a time; destroyed early, it is disarmed.
class Sleep final : private Timers::Target {
 public:
  Sleep(Timers& timers, Time until) : timers_(timers), until_(until) {}
  Sleep(const Sleep&) = delete;
  Sleep& operator=(const Sleep&) = delete;
  ~Sleep() { timers_.cancel(timer_); }
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    timer_ = timers_.arm(until_, *this);
  }
  void await_resume() const noexcept {}

 private:
  void timer_fired() override { waiter_.resume(); }
  Timers& timers_;
  Time until_;
  Timers::Id timer_ = 0;
  std::coroutine_handle<> waiter_;
};

}  // namespace sterna
