// Templates of runtime/actor/process.h: how a handler's return value becomes an answer.
#pragma once

#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/actor/process.h"

namespace sterna {

/// One live actor of a process.
struct Process::Cell {
  std::unique_ptr<ActorBase> actor;  ///< null: a free slot
  const detail::ActorClass* type = nullptr;
  std::uint32_t generation = 1;
  LocalId owner;
  /// Most actors have none. The dead are swept out before more room is made (adopt()).
  std::unique_ptr<std::vector<LocalId>> children;
  class RootPromise* roots = nullptr;  ///< the tasks it runs, innermost state unknown
  bool dying = false;
};

/// Those who watch a process whose link was lost, until its node has said why or time is up.
class Process::Mourning final : public Timers::Target {
 public:
  Mourning(Process& process, DownNotice notice) : process_(process), notice_(std::move(notice)) {}
  void timer_fired() override {
    Process& process = process_;
    process.notify_watchers_of(notice_);
    std::erase_if(process.mourning_, [this](const auto& held) { return held.get() == this; });
  }

 private:
  Process& process_;
  DownNotice notice_;
};

/// The outermost coroutine of a handler or a background task. It lives in its actor's list and
/// destroys itself at its end; the actor's death destroys it earlier.
class Process::Root {
 public:
  struct promise_type;
};

/// The list node of a Root, whatever its coroutine's parameters are.
class RootPromise : public WaitingHandlers::Handler {
 public:
  RootPromise(Process& process, Process::Cell& cell, const detail::Ticket& ticket);
  ~RootPromise();
  RootPromise(const RootPromise&) = delete;
  RootPromise& operator=(const RootPromise&) = delete;

  const detail::Ticket ticket;
  std::coroutine_handle<> handle;
  RootPromise* next = nullptr;

 private:
  RootPromise* previous_ = nullptr;
  WaitingHandlers& all_;
  Process::Cell& cell_;
  Process::Waiting* waiting_;  ///< what the asker keeps waiting; may be null
};

struct Process::Root::promise_type : RootPromise {
  template <class... Rest>
  promise_type(Process& process, Process::Cell& cell, const detail::Ticket& asked_by, Rest&&...)
      : RootPromise(process, cell, asked_by) {
    handle = std::coroutine_handle<promise_type>::from_promise(*this);
  }
  Root get_return_object() { return {}; }
  std::suspend_never initial_suspend() noexcept { return {}; }
  std::suspend_never final_suspend() noexcept { return {}; }
  void return_void() {}
  // run_handler catches everything itself.
  void unhandled_exception() noexcept { std::terminate(); }
};

template <class T>
Process::Root Process::run_handler(Cell& cell, detail::Ticket ticket, Task<T> task) {
  try {
    if constexpr (std::is_void_v<T>) {
      co_await task;
      if (ticket.correlation != 0) reply(ticket, std::make_unique<EmptyMail>(), Kind::REPLY);
    } else {
      answer(ticket, co_await task);
    }
  } catch (...) {
    handler_threw(cell, ticket, std::current_exception());
  }
}

template <class R>
void Process::answer(const detail::Ticket& ticket, R value) {
  using Value = R;
  if constexpr (detail::kIsResult<Value>) {
    if (!value.ok()) {
      answer_error(ticket, std::move(value).error());
    } else if constexpr (std::is_void_v<typename Value::Value>) {
      reply(ticket, std::make_unique<EmptyMail>(), Kind::REPLY);
    } else {
      answer(ticket, std::move(value).value());
    }
  } else {
    if (ticket.correlation == 0) return;
    reply(ticket, std::make_unique<MessageMail<Value>>(std::move(value)), Kind::REPLY);
  }
}

namespace detail {

template <class T>
struct Unwrapped {
  using Type = T;
};
template <class T>
struct Unwrapped<Result<T>> {
  using Type = T;
};
template <class T>
struct Unwrapped<Task<T>> {
  using Type = typename Unwrapped<T>::Type;
};

template <class A, class M>
void invoke_handler(ActorBase& base, Mail& mail, const Ticket& ticket);

/// Whether A's handler of M, which returns R, takes a reference to it.
template <class A, class M, class R>
inline constexpr bool kTakesReference = requires {
  static_cast<R (A::*)(const M&)>(&A::on);
}
|| requires { static_cast<R (A::*)(const M&) const>(&A::on); }
|| requires { static_cast<R (A::*)(M &&)>(&A::on); }
|| requires { static_cast<R (A::*)(M &&) const>(&A::on); };

template <class I>
inline constexpr bool kSpeaksOfOthers = false;
template <class I>
requires requires { requires I::kSpeaksOfOthers; }
inline constexpr bool kSpeaksOfOthers<I> = true;

template <class A, class I>
struct ClassOf;

template <class A, class... Messages>
struct ClassOf<A, Interface<Messages...>> {
  static constexpr std::array<HandlerEntry, sizeof...(Messages)> kHandlers = {
      HandlerEntry{&kMessageType<Messages>, &invoke_handler<A, Messages>}...};
};

}  // namespace detail

template <class A>
const detail::ActorClass& Process::class_of() {
  using I = typename A::InterfaceType;
  using Handlers = detail::ClassOf<A, decltype(detail::interface_base(std::declval<I>()))>;
  static constexpr detail::ActorClass kClass{I::type_id(), detail::kSpeaksOfOthers<I>,
                                             Handlers::kHandlers.data(),
                                             Handlers::kHandlers.size()};
  return kClass;
}

template <class A, class M>
void detail::invoke_handler(ActorBase& base, Mail& mail, const Ticket& ticket) {
  A& actor = static_cast<A&>(base);
  static_assert(
      requires(M message) { actor.on(std::move(message)); },
      "the actor has no handler on(M) for a message of its interface");
  M& message = static_cast<MessageMail<M>&>(mail).message;
  using R = decltype(actor.on(std::move(message)));
  if constexpr (Askable<M>) {
    static_assert(std::is_same_v<typename Unwrapped<R>::Type, ReplyTo<M>>,
                  "the handler on(M) must return M::Reply, Result of it, or a Task of these");
  }
  Process& process = actor.process();
  if constexpr (kIsTask<R>) {
    static_assert(!kTakesReference<A, M, R>,
                  "a handler that is a coroutine takes its message by value: on(M), as a reference "
                  "to it dangles after the first co_await");
    process.run_handler(process.cell_of(ticket.asked), ticket, actor.on(std::move(message)));
  } else if constexpr (std::is_void_v<R>) {
    actor.on(std::move(message));
    if (ticket.correlation != 0) {
      process.reply(ticket, std::make_unique<EmptyMail>(), Kind::REPLY);
    }
  } else {
    process.answer(ticket, actor.on(std::move(message)));
  }
}

template <class I, class M>
void ActorBase::tell(ActorRef<I> to, M message) {
  process().send_tell(local_, to, std::move(message));
}

template <class I, class M>
Future<ReplyTo<M>> ActorBase::ask(ActorRef<I> to, M message, Duration deadline) {
  return process().send_ask(local_, to, std::move(message), deadline);
}

template <class A, class... Args>
ActorRef<typename A::InterfaceType> ActorBase::spawn(Args&&... args) {
  return {process().adopt(std::make_unique<A>(std::forward<Args>(args)...), Process::class_of<A>(),
                          local_)};
}

template <class F>
Task<std::invoke_result_t<F>> ActorBase::compute(F work) {
  using R = std::invoke_result_t<F>;
  auto completion = std::make_shared<detail::Completion>();
  // By name: GCC 12 copies what `co_await *completion` refers to, and would wait for the copy.
  detail::Completion& completed = *completion;
  // The frame may die while the job runs: then nobody resumes it, and the job's state goes last.
  struct Guard {
    std::shared_ptr<detail::Completion> completion;
    ~Guard() { completion->abandon(); }
  } guard{completion};
  if constexpr (std::is_void_v<R>) {
    process().executor().submit(
        [work = std::move(work), completion]() mutable { completion->run(work); },
        [completion] { completion->complete(); });
    co_await completed;
  } else {
    auto result = std::make_shared<std::optional<R>>();
    process().executor().submit(
        [work = std::move(work), completion, result]() mutable {
          completion->run([&] { result->emplace(work()); });
        },
        [completion] { completion->complete(); });
    co_await completed;
    co_return std::move(**result);
  }
}

}  // namespace sterna
