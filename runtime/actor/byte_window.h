// ByteWindow: how many bytes an actor may have under way at once, say in questions to one peer. Who
// sends more waits here, in order, and not in the queue of a link, which ends it when it is full.
//
//   auto wait = window_.take(packet.size());
//   const ByteWindow::Share share = co_await wait;
//   ... ask, and await the answer ...
//
// (By name: GCC 12 destroys some temporaries of a co_await twice.) For the actor's loop thread
// only.
#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>

#include "runtime/actor/actor.h"

namespace sterna {

class ByteWindow {
 public:
  /// A part of the window, given back where it ends.
  class [[nodiscard]] Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept
        : window_(std::exchange(other.window_, nullptr)), bytes_(other.bytes_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(window_, other.window_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() {
      if (window_ != nullptr) window_->give_back(bytes_);
    }

   private:
    friend class ByteWindow;
    Share(ByteWindow& window, std::uint64_t bytes) : window_(&window), bytes_(bytes) {}
    ByteWindow* window_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  class [[nodiscard]] Wait {
   public:
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait();
    bool await_ready() noexcept;
    void await_suspend(std::coroutine_handle<> waiter) noexcept;
    Share await_resume() noexcept { return {*window_, bytes_}; }

   private:
    friend class ByteWindow;
    Wait(ByteWindow& window, std::uint64_t bytes) : window_(&window), bytes_(bytes) {}
    ByteWindow* window_;
    std::uint64_t bytes_;
    std::coroutine_handle<> waiter_;
    Wait* previous_ = nullptr;
    Wait* next_ = nullptr;
    bool linked_ = false;
  };

  /// Of an actor, by its poster(): who has waited goes on from the loop, never from within the task
  /// that gave back, and not any more once the actor has died.
  ByteWindow(Poster poster, std::uint64_t bytes) : poster_(std::move(poster)), bytes_(bytes) {}
  ByteWindow(const ByteWindow&) = delete;
  ByteWindow& operator=(const ByteWindow&) = delete;
  ~ByteWindow();

  /// Await it. What is larger than the whole window gets the whole.
  Wait take(std::uint64_t bytes) { return {*this, bytes < bytes_ ? bytes : bytes_}; }
  std::uint64_t taken() const { return taken_; }

 private:
  bool fits(std::uint64_t bytes) const { return taken_ + bytes <= bytes_; }
  void give_back(std::uint64_t bytes);
  void let_in_soon();
  void let_in();
  void unlink(Wait& wait);

  Poster poster_;
  std::uint64_t bytes_;
  std::uint64_t taken_ = 0;
  Wait* first_ = nullptr;
  Wait* last_ = nullptr;
  bool letting_in_ = false;  // the loop has been asked to
};

}  // namespace sterna
