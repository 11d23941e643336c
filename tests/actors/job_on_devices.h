// Jobs whose workers compute on devices that the host plays.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/device/host_device.h"
#include "tests/actors/simulated_job.h"
#include "tests/sanitized.h"

namespace sterna::actors {

class JobOnDevices : public SimulatedJob {
 protected:
  JobOnDevices() {
    job.hidden = {20, 12};
    if (test::kSanitized) job.steps = 12;
  }

  /// Of workers with a device each, seeded apart.
  std::string hash_on(kernels::HostDeviceOptions options, JobLayout layout = {.workers = 2}) {
    layout.device = [options](std::uint32_t worker) {
      kernels::HostDeviceOptions own = options;
      own.seed = 1000 * options.seed + worker;
      return kernels::make_host_device(own);
    };
    return hash_of(layout);
  }
  void expect_the_same_bits(std::uint64_t seeds, const JobLayout& layout = {.workers = 2}) {
    expect_the_same_bits_of_all(test::seeds_of(seeds), layout);
  }
  void expect_the_same_bits_of_all(std::uint64_t seeds, const JobLayout& layout = {.workers = 2}) {
    const std::string expected = hash_on({.late = false}, layout);
    ASSERT_FALSE(expected.empty());
    for (std::uint64_t seed = 0; seed < seeds && !HasFailure(); ++seed) {
      EXPECT_EQ(hash_on({.seed = seed}, layout), expected) << "seed " << seed;
    }
  }
  /// That job ended, first of all because the device of that actor failed.
  void expect_died_of_its_device(const std::string& actor) {
    finish();
    ASSERT_FALSE(deaths.empty());
    EXPECT_THAT(deaths.front(), testing::AllOf(testing::StartsWith(actor + ": "),
                                               testing::HasSubstr("the host device has failed")));
  }
  /// Of two workers, the second's devices fail in mid-step.
  void expect_a_fault_ends_the_second(JobLayout layout) {
    job.steps = 30;
    for (const std::uint64_t after : {100, 1000, 2000}) {
      SCOPED_TRACE(after);
      layout.device = [after](std::uint32_t worker) {
        return kernels::make_host_device({.seed = after, .fails_after = worker == 1 ? after : 0});
      };
      launch(layout);
      expect_died_of_its_device("worker1");
    }
  }
};

}  // namespace sterna::actors
