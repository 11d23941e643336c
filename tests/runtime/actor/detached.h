// Runs a coroutine outside of any actor; destroying it destroys whatever it waits in.
#pragma once

#include <coroutine>
#include <exception>

#include "runtime/actor/task.h"

namespace sterna::test {

class Detached {
 public:
  struct promise_type {
    Detached get_return_object() {
      return Detached(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  Detached(Detached&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Detached& operator=(Detached&&) = delete;
  ~Detached() {
    if (handle_) handle_.destroy();
  }
  bool done() const { return handle_.done(); }

 private:
  explicit Detached(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace sterna::test
