// Jobs whose workers compute on devices that the host plays.
#pragma once

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
};

}  // namespace sterna::actors
