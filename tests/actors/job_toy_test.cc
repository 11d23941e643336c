// Jobs whose end can be written down: the toy problem's c = a + b.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/device/host_device.h"
#include "nets/weights/weights_file.h"
#include "tests/actors/simulated_job.h"

namespace sterna::actors {
namespace {

class JobToyTest : public SimulatedJob {
 protected:
  JobToyTest() {
    job.net = "toy_ab";
    job.hidden.clear();
    job.batch = 1;
    job.data = {"synthetic", ""};
    job.data.classes = 2;
    job.data.size = job.data.channels = 1;
    job.picture = {1, 1, 1};
    job.classes = 2;
    job.optimizer.name = "gd";
    job.optimizer.schedule = "fixed";
    job.optimizer.learning_rate = 1e-4;
    job.gradient.codec = "none";
    job.evaluation.every = 0;
    weights = std::string(::testing::TempDir()) + "/sterna-toy-" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".safetensors";
  }
  ~JobToyTest() override { std::filesystem::remove(weights); }

  /// Of the last version; its two elements are alike.
  double c_of(const JobLayout& layout) {
    hash_of(layout);
    const auto file = nets::read_safetensors(weights);
    if (!file.ok()) return std::nan("");
    const std::vector<float>& a = file->tensors[0].values;
    const std::vector<float>& b = file->tensors[1].values;
    EXPECT_EQ(a[0], a[1]);
    return double{a[0]} + double{b[0]};
  }
};

TEST_F(JobToyTest, PlainGradientDescentEndsWhereItsFormulaSays) {
  job.steps = 1000;
  const double c = c_of({});
  EXPECT_NEAR(c / 18.1285624, 1, 1e-6);
  ASSERT_TRUE(record.finished);
  EXPECT_NEAR(record.evaluated.back().loss, (100 - c) * (100 - c), 1e-2);
}

TEST_F(JobToyTest, SynchronousRanksTakeTheMeanOfTheirGradients) {
  job.steps = 10;
  EXPECT_NEAR(c_of({.servers = 2, .workers = 2}) / 0.199820096, 1, 1e-6);
}

TEST_F(JobToyTest, ADeviceEndsInTheBitsOfACpu) {
  job.steps = 20;
  job.batch = 3;
  const std::string expected = hash_of({.workers = 2});
  ASSERT_FALSE(expected.empty());
  JobLayout layout{.workers = 2};
  layout.device = [](std::uint32_t worker) {
    return kernels::make_host_device({.seed = worker, .hidden = true});
  };
  EXPECT_EQ(hash_of(layout), expected);
}

// Both elements of a gradient are alike, so that each is the scaler itself.
TEST_F(JobToyTest, TritsUnderTheLargestMagnitudeLoseNothingOfEqualElements) {
  job.steps = 10;
  const std::string exact = hash_of({.workers = 2});
  job.gradient.codec = "ternary";
  job.gradient.clip = 0;
  job.gradient.min_size = 1;
  EXPECT_EQ(hash_of({.workers = 2}), exact);
}

}  // namespace
}  // namespace sterna::actors
