#include "runtime/actor/byte_window.h"

namespace sterna {

ByteWindow::Wait::~Wait() {
  if (!linked_) return;
  window_->unlink(*this);
  window_->let_in_soon();  // whoever waited behind this one may fit
}

bool ByteWindow::Wait::await_ready() noexcept {
  if (window_->first_ != nullptr || !window_->fits(bytes_)) return false;
  window_->taken_ += bytes_;
  return true;
}

void ByteWindow::Wait::await_suspend(std::coroutine_handle<> waiter) noexcept {
  waiter_ = waiter;
  previous_ = window_->last_;
  (previous_ != nullptr ? previous_->next_ : window_->first_) = this;
  window_->last_ = this;
  linked_ = true;
}

ByteWindow::~ByteWindow() {
  // Tasks that wait here belong to the same actor; its frames are destroyed before its members.
  while (first_ != nullptr) unlink(*first_);
}

void ByteWindow::unlink(Wait& wait) {
  (wait.previous_ != nullptr ? wait.previous_->next_ : first_) = wait.next_;
  (wait.next_ != nullptr ? wait.next_->previous_ : last_) = wait.previous_;
  wait.previous_ = wait.next_ = nullptr;
  wait.linked_ = false;
}

void ByteWindow::give_back(std::uint64_t bytes) {
  taken_ -= bytes;
  let_in_soon();
}

void ByteWindow::let_in_soon() {
  if (first_ == nullptr || letting_in_) return;
  letting_in_ = true;
  poster_.post([this] { let_in(); });
}

void ByteWindow::let_in() {
  letting_in_ = false;
  while (first_ != nullptr && fits(first_->bytes_)) {
    Wait& wait = *first_;
    unlink(wait);
    taken_ += wait.bytes_;
    wait.waiter_.resume();
  }
}

}  // namespace sterna
