// Task<T>: a coroutine that an actor runs. Handlers may be tasks; tasks may await tasks.
//
// Lazy: nothing runs until it is awaited or started. The task owns its frame, so destroying the
// outermost one (which its actor owns) destroys everything it was waiting in.
//
// One coroutine awaits it at a time, and has its value once; more is misuse, which ends the program
// (runtime/base/misuse.h), as with a Future. Who is destroyed as it waits leaves the task as it is:
// it goes on, and another may await it. Who awaits a task that is destroyed waits for ever.
//
// STERNA_CO_TRY and STERNA_CO_ASSIGN are what STERNA_TRY and STERNA_ASSIGN are outside coroutines.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "runtime/base/misuse.h"
#include "runtime/base/result.h"

namespace sterna {

template <class T>
class Task;

namespace detail {

class TaskWait;

struct TaskPromiseBase {
  TaskPromiseBase() = default;
  TaskPromiseBase(const TaskPromiseBase&) = delete;
  TaskPromiseBase& operator=(const TaskPromiseBase&) = delete;
  ~TaskPromiseBase();

  TaskWait* wait = nullptr;  // of who awaits it
  bool started = false;
  std::exception_ptr exception;  // travels to the actor's outermost frame, which ends the actor

  std::suspend_always initial_suspend() noexcept { return {}; }
  struct Resume {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
      return waiter_of(self.promise());
    }
    void await_resume() noexcept {}
  };
  Resume final_suspend() noexcept { return {}; }
  void unhandled_exception() { exception = std::current_exception(); }
  static std::coroutine_handle<> waiter_of(const TaskPromiseBase& promise) noexcept;
};

/// A coroutine's wait for a task, in that coroutine's frame: whichever of the two frames is
/// destroyed first, the other does not look for it.
class TaskWait {
 public:
  explicit TaskWait(TaskPromiseBase& promise) : promise_(&promise) {}
  TaskWait(const TaskWait&) = delete;
  TaskWait& operator=(const TaskWait&) = delete;
  ~TaskWait() { leave(); }

 protected:
  void begin(std::coroutine_handle<> waiter) {
    if (promise_->wait != nullptr)
      misuse("two coroutines await one Task: the first would never go on");
    promise_->wait = this;
    waiter_ = waiter;
  }
  void leave() {
    if (promise_ != nullptr && promise_->wait == this) promise_->wait = nullptr;
    promise_ = nullptr;
  }

 private:
  friend struct TaskPromiseBase;
  TaskPromiseBase* promise_;  ///< null once it is over
  std::coroutine_handle<> waiter_;
};

inline TaskPromiseBase::~TaskPromiseBase() {
  if (wait != nullptr) wait->promise_ = nullptr;
}
inline std::coroutine_handle<> TaskPromiseBase::waiter_of(const TaskPromiseBase& promise) noexcept {
  return promise.wait != nullptr ? promise.wait->waiter_ : std::noop_coroutine();
}

template <class T>
struct TaskPromise : TaskPromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  template <class U = T>  // also for `co_return {}`
  void return_value(U&& u) {
    value.emplace(std::forward<U>(u));
  }
};

template <>
struct TaskPromise<void> : TaskPromiseBase {
  Task<void> get_return_object();
  void return_void() {}
};

}  // namespace detail

template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;
  using Value = T;

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  /// Runs until it first waits, so that several can be under way before one is awaited. Once, and
  /// not of one that has been awaited.
  void start() {
    if (std::exchange(promise().started, true)) misuse("a Task is started that runs already");
    handle_.resume();
  }

  class Await final : public detail::TaskWait {
   public:
    explicit Await(std::coroutine_handle<promise_type> task)
        : TaskWait(task.promise()), task_(task) {}
    bool await_ready() const noexcept { return task_.done(); }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) {
      begin(waiter);
      if (std::exchange(task_.promise().started, true)) return std::noop_coroutine();
      return task_;
    }
    T await_resume() {
      leave();
      promise_type& done = task_.promise();
      if (done.exception) std::rethrow_exception(done.exception);
      if constexpr (!std::is_void_v<T>) {
        if (!done.value) misuse("the value of a Task is awaited twice");
        T value = std::move(*done.value);
        done.value.reset();
        return value;
      }
    }

   private:
    std::coroutine_handle<promise_type> task_;
  };
  Await operator co_await() {
    promise();  // there is one
    return Await(handle_);
  }

 private:
  promise_type& promise() {
    if (!handle_) misuse("a Task is awaited, or started, that has moved away");
    return handle_.promise();
  }

  std::coroutine_handle<promise_type> handle_;
};

/// A Task that is given a name before it is awaited, as a Future is, and for the same reason: its
/// arguments may be messages.
template <class T>
class [[nodiscard]] NamedTask : public Task<T> {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): what a coroutine that returns one is made of
  NamedTask(Task<T>&& task) : Task<T>(std::move(task)) {}
  typename Task<T>::Await operator co_await() & { return Task<T>::operator co_await(); }
  typename Task<T>::Await operator co_await() && = delete;
};

namespace detail {
template <class T>
Task<T> TaskPromise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<TaskPromise<T>>::from_promise(*this));
}
inline Task<void> TaskPromise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<TaskPromise<void>>::from_promise(*this));
}

template <class T>
inline constexpr bool kIsTask = false;
template <class T>
inline constexpr bool kIsTask<Task<T>> = true;
template <class T>
inline constexpr bool kIsResult = false;
template <class T>
inline constexpr bool kIsResult<Result<T>> = true;

/// A result as something to await.
template <class T>
struct Ready {
  Result<T> result;
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  Result<T> await_resume() { return std::move(result); }
};
template <class T>
Ready<T> awaitable(Result<T> result) {
  return {std::move(result)};
}
template <class A>
A awaitable(A future_or_task) {
  return future_or_task;
}
}  // namespace detail

}  // namespace sterna

/// Ends the coroutine with the error of a Result, or of a Future or Task of one, which it awaits;
/// or goes on. What is awaited has a name, because GCC 12 destroys some temporaries of a co_await
/// twice.
#define STERNA_CO_TRY(...)                                          \
  do {                                                              \
    auto sterna_awaited = ::sterna::detail::awaitable(__VA_ARGS__); \
    auto sterna_result = co_await sterna_awaited;                   \
    if (!sterna_result) co_return std::move(sterna_result).error(); \
  } while (false)

/// The same, and declares `target` from the value.
#define STERNA_CO_ASSIGN(target, ...)                              \
  STERNA_CO_ASSIGN_INNER(STERNA_CONCAT(sterna_awaited_, __LINE__), \
                         STERNA_CONCAT(sterna_result_, __LINE__), target, __VA_ARGS__)
#define STERNA_CO_ASSIGN_INNER(awaited, result, target, ...) \
  auto awaited = ::sterna::detail::awaitable(__VA_ARGS__);   \
  auto result = co_await awaited;                            \
  if (!result) co_return std::move(result).error();          \
  target = std::move(result).value()
