// SimLoop: a loop whose clock is virtual. When nothing is ready, time jumps to the next event.
//
// Any number of simulated processes share one: a whole cluster runs in one thread, and the order of
// everything is a function of the program and its seeds.
#pragma once

#include <functional>
#include <mutex>
#include <queue>
#include <vector>

#include "runtime/loop/executor.h"
#include "runtime/loop/loop.h"

namespace sterna {

class SimLoop final : public Loop {
 public:
  Time now() const override { return now_; }
  void add(Source& source) override;
  void remove(Source& source) override;
  void post(std::function<void()> work) override;
  /// False at `deadline`, or when nothing is left that could ever happen.
  bool run_until(const std::function<bool()>& done, Time deadline) override;

  /// Runs `work` at a virtual time.
  void at(Time when, std::function<void()> work);
  void after(Duration delay, std::function<void()> work) { at(now_ + delay, std::move(work)); }

 private:
  struct Event {
    Time when;
    std::uint64_t order;
    std::function<void()> work;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.when != b.when ? a.when > b.when : a.order > b.order;
    }
  };
  bool turn();
  Time next_event();

  Time now_{1};
  std::vector<Source*> sources_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::uint64_t order_ = 0;
  std::mutex mutex_;  // guards posted_
  std::vector<std::function<void()>> posted_;
};

/// Runs a job at once and completes it a virtual duration later.
class SimExecutor final : public Executor {
 public:
  SimExecutor(SimLoop& loop, std::function<Duration()> duration)
      : loop_(loop), duration_(std::move(duration)) {}
  void submit(std::function<void()> work, std::function<void()> done) override {
    work();
    loop_.after(duration_(), std::move(done));
  }

 private:
  SimLoop& loop_;
  std::function<Duration()> duration_;
};

}  // namespace sterna
