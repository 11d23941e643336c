// An actor for the runtime's tests: it adds up, waits, echoes and fails, as its messages say.
#pragma once

#include <stdexcept>

#include "runtime/actor/process.h"
#include "tests/runtime/message/test_messages.h"

namespace sterna::test {

class CounterActor final : public Actor<Counter> {
 public:
  explicit CounterActor(bool throws = false, int* alive = nullptr)
      : throws_(throws), alive_(alive) {
    if (alive_ != nullptr) ++*alive_;
  }
  ~CounterActor() override {
    if (alive_ != nullptr) --*alive_;
  }
  Total on(Add add) { return Total{total_ += add.amount}; }
  Task<Total> on(Slow slow) {
    Held held(*this);
    co_await sleep(slow.delay);
    co_return Total{total_};
  }
  Blob on(Blob blob) { return blob; }
  Result<void> on(Boom) {
    if (throws_) throw std::runtime_error("boom");
    return Error{Errc::remote, "refused to boom"};
  }
  int held() const { return held_; }

 private:
  struct Held {
    explicit Held(CounterActor& owner) : actor(owner) { ++actor.held_; }
    ~Held() { --actor.held_; }
    CounterActor& actor;
  };
  std::int64_t total_ = 0;
  int held_ = 0;
  bool throws_;
  int* alive_;
};

}  // namespace sterna::test
