#include "runtime/actor/byte_window.h"

namespace sterna {

class ByteWindow::State : public std::enable_shared_from_this<State> {
 public:
  State(Poster poster, std::uint64_t bytes) : poster_(std::move(poster)), bytes_(bytes) {}

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t taken() const { return taken_; }
  /// Where nobody waits.
  bool take_now(std::uint64_t bytes) {
    if (first_ != nullptr || !fits(bytes)) return false;
    taken_ += bytes;
    return true;
  }
  void give_back(std::uint64_t bytes) {
    taken_ -= bytes;
    let_in_soon();
  }
  void link(Wait& wait) {
    wait.previous_ = last_;
    (wait.previous_ != nullptr ? wait.previous_->next_ : first_) = &wait;
    last_ = &wait;
    wait.linked_ = true;
  }
  void unlink(Wait& wait) {
    (wait.previous_ != nullptr ? wait.previous_->next_ : first_) = wait.next_;
    (wait.next_ != nullptr ? wait.next_->previous_ : last_) = wait.previous_;
    wait.previous_ = wait.next_ = nullptr;
    wait.linked_ = false;
  }
  void unlink_all() {
    while (first_ != nullptr) unlink(*first_);
  }
  void let_in_soon() {
    if (first_ == nullptr || letting_in_) return;
    letting_in_ = true;
    poster_.post([state = shared_from_this()] { state->let_in(); });
  }

 private:
  bool fits(std::uint64_t bytes) const { return taken_ + bytes <= bytes_; }
  /// Whoever goes on may destroy the window: then nobody waits here any more.
  void let_in() {
    letting_in_ = false;
    while (first_ != nullptr && fits(first_->bytes_)) {
      Wait& wait = *first_;
      unlink(wait);
      taken_ += wait.bytes_;
      wait.waiter_.resume();
    }
  }

  Poster poster_;
  std::uint64_t bytes_;
  std::uint64_t taken_ = 0;
  Wait* first_ = nullptr;
  Wait* last_ = nullptr;
  bool letting_in_ = false;  // the loop has been asked to
};

ByteWindow::Share::~Share() {
  if (window_ != nullptr) window_->give_back(bytes_);
}

ByteWindow::Wait::~Wait() {
  if (!linked_) return;
  window_->unlink(*this);
  window_->let_in_soon();  // whoever waited behind this one may fit
}

bool ByteWindow::Wait::await_ready() noexcept { return window_->take_now(bytes_); }

void ByteWindow::Wait::await_suspend(std::coroutine_handle<> waiter) noexcept {
  waiter_ = waiter;
  window_->link(*this);
}

ByteWindow::ByteWindow(Poster poster, std::uint64_t bytes)
    : state_(std::make_shared<State>(std::move(poster), bytes)) {}

// Tasks that wait here belong to the same actor; its frames are destroyed before its members.
ByteWindow::~ByteWindow() { state_->unlink_all(); }

ByteWindow::Wait ByteWindow::take(std::uint64_t bytes) {
  return {state_, bytes < state_->bytes() ? bytes : state_->bytes()};
}

std::uint64_t ByteWindow::taken() const { return state_->taken(); }

}  // namespace sterna
