// When the images of a turn come to a worker's device: beside the passes of the turn before.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "kernels/device/host_device.h"
#include "tests/actors/simulated_job.h"

namespace sterna::actors {
namespace {

/// Counts copies of so many bytes, and those between the beginning of a pass and its loss.
class CountImages final : public kernels::HostDeviceWatch {
 public:
  explicit CountImages(std::size_t bytes) : bytes_(bytes) {}
  void computes(const kernels::LayerLaunch& launch) override {
    if (std::holds_alternative<kernels::PixelLaunch>(launch)) passing_ = true;
    if (std::holds_alternative<kernels::LossLaunch>(launch)) passing_ = false;
  }
  void copies(std::size_t bytes) override {
    if (bytes != bytes_) return;
    ++all;
    if (passing_) ++beside_a_pass;
  }
  int all = 0;
  int beside_a_pass = 0;

 private:
  std::size_t bytes_;
  bool passing_ = false;
};

class StagedImages : public SimulatedJob {
 protected:
  StagedImages() {
    job.hidden = {20, 12};
    job.steps = 8;
  }
  /// Of the first worker.
  std::shared_ptr<CountImages> images_of(JobLayout layout, std::uint64_t seed) {
    const auto first = std::make_shared<CountImages>(job.batch * 28 * 28);
    layout.device = [first, seed](std::uint32_t worker) {
      return kernels::make_host_device(
          {.seed = 10 * seed + worker, .watch = worker == 0 ? first : nullptr});
    };
    EXPECT_FALSE(hash_of(layout).empty());
    return first;
  }
};

TEST_F(StagedImages, TravelBesideThePassOfTheTurnBefore) {
  struct Way {
    std::string name;
    std::function<void(JobConfig& job)> choose;
    JobLayout layout;
  };
  const std::vector<Way> ways = {
      {"in step", [](JobConfig&) {}, {.workers = 2}},
      {"ranks take turns", [](JobConfig&) {}, {.workers = 2, .ranks_per_worker = 3}},
      {"without servers",
       [](JobConfig& of) { of.gradient.exchange = ExchangeRule::nccl; },
       {.workers = 1, .ranks_per_worker = 2}},
      {"a rank by itself", [](JobConfig& of) { of.scheme.name = "async"; }, {.workers = 1}},
  };
  const JobConfig usual = job;
  for (const Way& way : ways) {
    job = usual;
    way.choose(job);
    const auto turns = static_cast<int>(job.steps * way.layout.ranks_per_worker);
    int beside = 0;
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const auto found = images_of(way.layout, seed);
      EXPECT_GE(found->all, turns) << way.name;
      EXPECT_LE(found->all, turns + 1) << way.name;  // one of a turn that is not made any more
      beside += found->beside_a_pass;
    }
    EXPECT_GT(beside, turns) << way.name;  // a third of all
  }
}

TEST_F(StagedImages, OfMicroBatchesTravelBesideThePassBefore) {
  job.micro_batch = job.batch / 2;
  const auto first = std::make_shared<CountImages>(job.micro_batch * 28 * 28);
  JobLayout layout{.workers = 1};
  layout.device = [first](std::uint32_t) {
    return kernels::make_host_device({.seed = 1, .watch = first});
  };
  EXPECT_FALSE(hash_of(layout).empty());
  EXPECT_EQ(first->all, 2 * static_cast<int>(job.steps));
  EXPECT_GT(first->beside_a_pass, 0);
}

}  // namespace
}  // namespace sterna::actors
