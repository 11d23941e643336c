#include "runtime/actor/future.h"

#include <cassert>

#include "runtime/actor/process.h"

namespace sterna {

namespace detail {

PendingAsk::PendingAsk(PendingAsk&& other) noexcept
    : process_(other.process_),
      correlation_(std::exchange(other.correlation_, 0)),
      timer_(std::exchange(other.timer_, 0)),
      waiter_(std::exchange(other.waiter_, nullptr)) {
  if (correlation_ != 0) process_->move_ask(correlation_, *this, timer_, *this);
}

PendingAsk& PendingAsk::operator=(PendingAsk&& other) noexcept {
  if (this == &other) return *this;
  withdraw();
  process_ = other.process_;
  correlation_ = std::exchange(other.correlation_, 0);
  timer_ = std::exchange(other.timer_, 0);
  waiter_ = std::exchange(other.waiter_, nullptr);
  if (correlation_ != 0) process_->move_ask(correlation_, *this, timer_, *this);
  return *this;
}

void PendingAsk::withdraw() {
  if (correlation_ == 0) return;
  process_->timers().cancel(std::exchange(timer_, 0));
  process_->withdraw_ask(std::exchange(correlation_, 0));
}

void PendingAsk::wait(std::coroutine_handle<> waiter) {
  if (waiter_) misuse("two coroutines await one Future: the first would never go on");
  waiter_ = waiter;
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
}

void Condition::notify_all() {
  const std::uint64_t round = round_++;
  while (first_ != nullptr && first_->round_ <= round) {
    Wait* wait = first_;
    wait->unlink();
    wait->waiter_.resume();
  }
}

}  // namespace sterna
