// wait_for(): waits for a condition's next notification, but not beyond a time.
#pragma once

#include "runtime/actor/future.h"

namespace sterna {

/// co_await wait_for(changed, process().timers(), deadline) in a while loop that checks both.
class WaitFor {
 public:
  WaitFor(Condition& condition, Timers& timers, Time until)
      : wait_(condition), sleep_(timers, until) {}
  bool await_ready() const noexcept { return false; }
  // Whichever resumes first ends the full expression, which disarms the other.
  void await_suspend(std::coroutine_handle<> waiter) {
    wait_.await_suspend(waiter);
    sleep_.await_suspend(waiter);
  }
  void await_resume() const noexcept {}

 private:
  Condition::Wait wait_;
  Sleep sleep_;
};

inline WaitFor wait_for(Condition& condition, Timers& timers, Time until) {
  return {condition, timers, until};
}

}  // namespace sterna
