// ByteWindow: how many bytes an actor may have under way at once, say in questions to one peer. Who
// sends more waits here, in order, and not in the queue of a link: when that is full, what is asked
// ends as overloaded, and what is told is dropped.
//
//   auto wait = window_.take(packet.size());
//   const ByteWindow::Share share = co_await wait;
//   ... ask, and await the answer ...
//
// (By name: GCC 12 destroys some temporaries of a co_await twice.) For the actor's loop thread
// only. A window may go before its shares do; who waits for room in one that is gone waits for
// ever.
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/actor/actor.h"

namespace sterna {

class ByteWindow {
  class State;

 public:
  /// A part of the window, given back where it ends.
  class [[nodiscard]] Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept = default;
    Share& operator=(Share&& other) noexcept {
      std::swap(window_, other.window_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share();

   private:
    friend class ByteWindow;
    Share(std::shared_ptr<State> window, std::uint64_t bytes)
        : window_(std::move(window)), bytes_(bytes) {}
    std::shared_ptr<State> window_;
    std::uint64_t bytes_ = 0;
  };

  class [[nodiscard]] Wait {
   public:
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait();
    bool await_ready() noexcept;
    void await_suspend(std::coroutine_handle<> waiter) noexcept;
    Share await_resume() noexcept { return {std::move(window_), bytes_}; }

   private:
    friend class ByteWindow;
    Wait(std::shared_ptr<State> window, std::uint64_t bytes)
        : window_(std::move(window)), bytes_(bytes) {}
    std::shared_ptr<State> window_;
    std::uint64_t bytes_;
    std::coroutine_handle<> waiter_;
    Wait* previous_ = nullptr;
    Wait* next_ = nullptr;
    bool linked_ = false;
  };

  /// Of an actor, by its poster(): who has waited goes on from the loop, never from within the task
  /// that gave back, and not any more once the actor has died.
  ByteWindow(Poster poster, std::uint64_t bytes);
  ByteWindow(const ByteWindow&) = delete;
  ByteWindow& operator=(const ByteWindow&) = delete;
  ~ByteWindow();

  /// Await it. What is larger than the whole window gets the whole.
  Wait take(std::uint64_t bytes);
  std::uint64_t taken() const;

 private:
  std::shared_ptr<State> state_;  // of the window, its shares and waits, and what has been posted
};

}  // namespace sterna
