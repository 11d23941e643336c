#include "runtime/actor/future.h"

#include <cassert>

#include "runtime/actor/process.h"

namespace sterna {

namespace detail {

PendingAsk::PendingAsk(PendingAsk&& other) noexcept
    : process_(other.process_),
      correlation_(std::exchange(other.correlation_, 0)),
      timer_(std::exchange(other.timer_, 0)) {
  take_wait_of(other);
  if (correlation_ != 0) process_->move_ask(correlation_, *this, timer_, *this);
}

PendingAsk& PendingAsk::operator=(PendingAsk&& other) noexcept {
  if (this == &other) return *this;
  withdraw();
  process_ = other.process_;
  correlation_ = std::exchange(other.correlation_, 0);
  timer_ = std::exchange(other.timer_, 0);
  forget_wait();
  take_wait_of(other);
  if (correlation_ != 0) process_->move_ask(correlation_, *this, timer_, *this);
  return *this;
}

void PendingAsk::withdraw() {
  if (correlation_ == 0) return;
  process_->timers().cancel(std::exchange(timer_, 0));
  process_->withdraw_ask(std::exchange(correlation_, 0));
}

PendingAsk::~PendingAsk() {
  withdraw();
  forget_wait();
}

void PendingAsk::take_wait_of(PendingAsk& other) {
  wait_ = std::exchange(other.wait_, nullptr);
  if (wait_ != nullptr) wait_->ask_ = this;
}

void PendingAsk::forget_wait() {
  if (wait_ != nullptr) std::exchange(wait_, nullptr)->ask_ = nullptr;
}

void PendingAsk::Wait::await_suspend(std::coroutine_handle<> waiter) {
  if (ask_->wait_ != nullptr)
    misuse("two coroutines await one Future: the first would never go on");
  waiter_ = waiter;
  ask_->wait_ = this;
}

void PendingAsk::Wait::leave() {
  if (ask_ != nullptr && ask_->wait_ == this) ask_->wait_ = nullptr;
  ask_ = nullptr;
}

void PendingAsk::timer_fired() {
  timer_ = process_->postpone_ask(correlation_, *this);
  if (timer_ != 0) return;
  process_->withdraw_ask(std::exchange(correlation_, 0));
  fail(Error{Errc::deadline, "no answer in time"});
}

}  // namespace detail

void Condition::Wait::await_suspend(std::coroutine_handle<> waiter) noexcept {
  waiter_ = waiter;
  round_ = condition_->round_;
  previous_ = condition_->last_;
  (previous_ != nullptr ? previous_->next_ : condition_->first_) = this;
  condition_->last_ = this;
  linked_ = true;
}

void Condition::Wait::unlink() {
  if (!linked_) return;
  (previous_ != nullptr ? previous_->next_ : condition_->first_) = next_;
  (next_ != nullptr ? next_->previous_ : condition_->last_) = previous_;
  previous_ = next_ = nullptr;
  linked_ = false;
}

Condition::~Condition() {
  // Tasks that wait here belong to the same actor; its frames are destroyed before its members.
  while (first_ != nullptr) first_->unlink();
  for (Notifying* each = notifying_; each != nullptr; each = each->outer) each->over = true;
}

void Condition::notify_all() {
  const std::uint64_t round = round_++;
  Notifying here{notifying_};
  notifying_ = &here;
  while (first_ != nullptr && first_->round_ <= round) {
    Wait* wait = first_;
    wait->unlink();
    wait->waiter_.resume();
    if (here.over) return;
  }
  notifying_ = here.outer;
}

}  // namespace sterna
