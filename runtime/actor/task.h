// Task<T>: a coroutine that an actor runs. Handlers may be tasks; tasks may await tasks.
//
// Lazy: nothing runs until it is awaited or started. The task owns its frame, so destroying the
// outermost one (which its actor owns) destroys everything it was waiting in.
//
// STERNA_CO_TRY and STERNA_CO_ASSIGN are what STERNA_TRY and STERNA_ASSIGN are outside coroutines.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "runtime/base/result.h"

namespace sterna {

template <class T>
class Task;

namespace detail {

struct TaskPromiseBase {
  std::coroutine_handle<> awaiting = std::noop_coroutine();
  bool started = false;
  std::exception_ptr exception;  // travels to the actor's outermost frame, which ends the actor

  std::suspend_always initial_suspend() noexcept { return {}; }
  struct Resume {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
      return self.promise().awaiting;
    }
    void await_resume() noexcept {}
  };
  Resume final_suspend() noexcept { return {}; }
  void unhandled_exception() { exception = std::current_exception(); }
};

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

  /// Runs until it first waits, so that several can be under way before one is awaited.
  void start() {
    handle_.promise().started = true;
    handle_.resume();
  }

  bool await_ready() const noexcept { return handle_.done(); }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
    handle_.promise().awaiting = awaiting;
    if (handle_.promise().started) return std::noop_coroutine();
    return handle_;
  }
  T await_resume() {
    if (handle_.promise().exception) std::rethrow_exception(handle_.promise().exception);
    if constexpr (!std::is_void_v<T>) return std::move(*handle_.promise().value);
  }

 private:
  std::coroutine_handle<promise_type> handle_;
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
    auto sterna_result = co_await std::move(sterna_awaited);        \
    if (!sterna_result) co_return std::move(sterna_result).error(); \
  } while (false)

/// The same, and declares `target` from the value.
#define STERNA_CO_ASSIGN(target, ...)                              \
  STERNA_CO_ASSIGN_INNER(STERNA_CONCAT(sterna_awaited_, __LINE__), \
                         STERNA_CONCAT(sterna_result_, __LINE__), target, __VA_ARGS__)
#define STERNA_CO_ASSIGN_INNER(awaited, result, target, ...) \
  auto awaited = ::sterna::detail::awaitable(__VA_ARGS__);   \
  auto result = co_await std::move(awaited);                 \
  if (!result) co_return std::move(result).error();          \
  target = std::move(result).value()
