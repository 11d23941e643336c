// What the workers' policies of schemes have in common: a push every scheme.window steps, the
// newest parameters before the next, and how they come.
#pragma once

#include "actors/schemes/scheme.h"

namespace sterna::actors {

class WorkerRules : public WorkerPolicy {
 public:
  explicit WorkerRules(const JobConfig& job) : job_(job) {}
  bool in_step() const override { return job_.in_step(); }
  Exchange exchange(std::uint64_t step) const override;
  Need need(std::uint64_t push) const override;
  NextBatch batch(std::uint64_t step, std::uint32_t rank) const override {
    return {.step = step, .rank = rank};
  }
  bool compares(std::uint64_t) const override { return false; }
  Contribution contribution(std::uint64_t push) const override;

 protected:
  const JobConfig& job() const { return job_; }

 private:
  JobConfig job_;
};

template <class Policy>
std::unique_ptr<WorkerPolicy> make_worker(const JobConfig& job) {
  return std::make_unique<Policy>(job);
}
template <class Policy>
std::unique_ptr<ServerPolicy> make_server(const JobConfig& job, bool evaluated) {
  return std::make_unique<Policy>(job, evaluated);
}

}  // namespace sterna::actors
