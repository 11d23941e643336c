// What a job on devices tells of how its numbers are distributed: what one on CPUs does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/device/host_device.h"
#include "nets/zoo/fixed_gradients.h"
#include "tests/actors/simulated_job.h"

namespace sterna::actors {
namespace {

class DeviceHistograms : public SimulatedJob {
 protected:
  DeviceHistograms() {
    job.hidden = {20, 12};
    job.steps = 9;
    watch(true);
  }
  void watch(bool watched) { job.summary = {.tensorboard = watched, .every = 4}; }

  std::string hash_on(kernels::HostDeviceOptions options, JobLayout layout) {
    layout.device = [options](std::uint32_t worker) {
      kernels::HostDeviceOptions own = options;
      own.seed = 1000 * options.seed + worker;
      return kernels::make_host_device(own);
    };
    record = {};
    return hash_of(layout);
  }
  /// All steps' of tensors whose names begin so, but for sums, which depend on the order in which
  /// packets leave.
  std::vector<TensorHistogram> of_tensors(const std::string& prefix) const {
    std::vector<TensorHistogram> all;
    for (const Watched& told : record.histograms) {
      for (TensorHistogram one : told.histograms) {
        if (!one.tensor.starts_with(prefix)) continue;
        if (one.of == HistogramOf::SENT) one.sum = one.sum_of_squares = 0;
        all.push_back(one);
      }
    }
    return all;
  }
  /// Of gradients that do not depend on who computes.
  std::vector<TensorHistogram> of_fixed() const { return of_tensors("fixed"); }
  /// Of the same job on CPUs and on devices.
  void expect_those_of_a_cpu(JobLayout layout, std::uint32_t devices = 1,
                             kernels::HostDeviceOptions options = {.seed = 7}) {
    record = {};
    EXPECT_FALSE(hash_of(layout).empty());
    const std::vector<TensorHistogram> expected = of_fixed();
    EXPECT_EQ(expected.size(), 27U);  // three kinds, of three tensors, in three steps
    layout.devices = devices;
    EXPECT_FALSE(hash_on(options, layout).empty());
    EXPECT_TRUE(of_fixed() == expected);
    EXPECT_EQ(record.histograms.back().lost, 0U);
  }
};

TEST_F(DeviceHistograms, OfTheSameGradientsAreThoseOfACpu) {
  job.net = nets::kFixedGradientsName;
  job.hidden = {1, 270, 3};  // of 1,024 elements: one of two chunks
  const JobLayout turns{.workers = 2, .ranks_per_worker = 2};
  for (const char* codec : {"ternary", "none", "bf16"}) {
    job.gradient.codec = codec;
    expect_those_of_a_cpu(turns);
  }
  job.gradient.codec = "ternary_entropy";
  job.gradient.scaler = ScalerRule::shared;
  job.gradient.error_feedback = true;
  expect_those_of_a_cpu(turns);
  job.gradient.scaler = ScalerRule::last_step;
  job.gradient.host = HostRule::average;
  expect_those_of_a_cpu(turns, 2);
}

TEST_F(DeviceHistograms, AlsoOfPacketsThatStayThere) {
  job.net = nets::kFixedGradientsName;
  job.hidden = {1, 270, 3};
  job.gradient.exchange = ExchangeRule::nccl;
  const JobLayout within{.workers = 1, .ranks_per_worker = 3};
  for (const char* codec : {"ternary", "none", "bf16"}) {
    job.gradient.codec = codec;
    expect_those_of_a_cpu(within, 1);
    expect_those_of_a_cpu(within, 2);
  }
  job.gradient.codec = "ternary";
  job.gradient.error_feedback = true;
  expect_those_of_a_cpu(within, 2);
  job.gradient.floating_grad_epoch = 1;
  expect_those_of_a_cpu(within, 2);
  job.gradient.floating_grad_epoch = 0;
  job.gradient.scaler = ScalerRule::shared;
  job.hidden = {1, 2, 3};
  expect_those_of_a_cpu(within, 2, {.seed = 8, .hidden = true});
}

TEST_F(DeviceHistograms, ChangeNothingWhateverStreamsDo) {
  job.steps = 6;
  const auto expect_nothing_changed = [&](const JobLayout& layout) {
    watch(false);
    const std::string expected = hash_on({.late = false}, layout);
    ASSERT_FALSE(expected.empty());
    EXPECT_TRUE(record.histograms.empty());
    watch(true);
    std::vector<TensorHistogram> first;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      EXPECT_EQ(hash_on({.seed = seed}, layout), expected) << seed;
      EXPECT_EQ(record.histograms.size(), 2U);
      if (seed == 0) first = of_tensors("");
      EXPECT_TRUE(of_tensors("") == first) << seed;
    }
  };
  expect_nothing_changed({.workers = 2});
  job.gradient.clip_norm = 0.1;
  job.micro_batch = 2;
  expect_nothing_changed({.workers = 1, .ranks_per_worker = 2});
  job.gradient.exchange = ExchangeRule::nccl;
  expect_nothing_changed({.workers = 1, .ranks_per_worker = 3, .devices = 2});
}

// Their bits are not a CPU's.
TEST_F(DeviceHistograms, HaveEveryElementOfActivationsAndThePictures) {
  job.steps = 2;
  const auto whole = [&] {
    std::vector<std::string> all;
    for (const Watched& told : record.histograms) {
      for (const TensorHistogram& one : told.histograms) {
        all.push_back(one.tensor + " " + std::to_string(static_cast<int>(one.of)) + " " +
                      std::to_string(one.elements));
      }
      all.push_back(std::to_string(told.pictures.size()) + " pictures");
    }
    return all;
  };
  EXPECT_FALSE(hash_of({}).empty());
  const std::vector<std::string> expected = whole();
  EXPECT_FALSE(hash_on({.seed = 1, .hidden = true}, {}).empty());
  EXPECT_EQ(whole(), expected);
}

TEST_F(DeviceHistograms, AFaultWhereOneLooksEndsTheWorkerWithItsCause) {
  for (std::uint64_t after = 40; after < 120; after += 7) {
    launch([&] {
      JobLayout layout;
      layout.device = [after](std::uint32_t) {
        return kernels::make_host_device({.seed = after, .fails_after = after});
      };
      return layout;
    }());
    finish();
    ASSERT_FALSE(deaths.empty()) << after;
    EXPECT_THAT(deaths.front(), testing::AllOf(testing::StartsWith("worker0: "),
                                               testing::HasSubstr("the host device has failed")))
        << after;
  }
}

}  // namespace
}  // namespace sterna::actors
