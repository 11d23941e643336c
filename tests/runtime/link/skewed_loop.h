// SkewedLoop: a process's view of the simulated loop by the clock of a host that is ahead of the
// others and drifts away from them; and it may stand still, as by SIGSTOP.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "runtime/sim/sim_loop.h"

namespace sterna::test {

class SkewedLoop final : public Loop {
 public:
  SkewedLoop(SimLoop& shared, Duration ahead, double drift)
      : shared_(shared), ahead_(ahead), drift_(drift) {}
  ~SkewedLoop() override {
    for (const auto& gate : gates_) shared_.remove(*gate);
  }

  /// Its sources do not turn until it goes on.
  void set_stopped(bool stopped) { stopped_ = stopped; }
  Time now() const override { return own(shared_.now()); }
  Time own(Time shared) const {
    return {shared.ns + ahead_.count() + std::llround(drift_ * static_cast<double>(shared.ns))};
  }
  void add(Source& source) override {
    gates_.push_back(std::make_unique<Gate>(*this, source));
    shared_.add(*gates_.back());
  }
  void remove(Source& source) override {
    std::erase_if(gates_, [&](const auto& gate) {
      if (&gate->source != &source) return false;
      shared_.remove(*gate);
      return true;
    });
  }
  void post(std::function<void()> work) override { shared_.post(std::move(work)); }
  bool run_until(const std::function<bool()>& done, Time deadline) override {
    return shared_.run_until(done, shared(deadline));
  }

 private:
  /// When our clock shows this, or a moment later.
  Time shared(Time own_time) const {
    if (own_time == kNever) return kNever;
    Time at{static_cast<std::int64_t>(static_cast<double>((own_time.ns - ahead_.count())) /
                                      (1 + drift_))};
    while (own(at) < own_time) ++at.ns;
    return at;
  }
  struct Gate final : Source {
    Gate(SkewedLoop& skewed, Source& real) : loop(skewed), source(real) {}
    void turn() override { source.turn(); }
    bool ready() override { return !loop.stopped_ && source.ready(); }
    Time next_deadline() override {
      return loop.stopped_ ? kNever : loop.shared(source.next_deadline());
    }
    SkewedLoop& loop;
    Source& source;
  };
  SimLoop& shared_;
  Duration ahead_;
  double drift_;
  bool stopped_ = false;
  std::vector<std::unique_ptr<Gate>> gates_;
};

}  // namespace sterna::test
