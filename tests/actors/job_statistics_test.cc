// Jobs of nets with batch norm, whose moving statistics the servers keep, and with dropout.
#include <gtest/gtest.h>

#include "nets/make_backend.h"
#include "tests/actors/simulated_job.h"

namespace sterna::actors {
namespace {

class JobStatistics : public SimulatedJob {
 protected:
  JobStatistics() {
    job.hidden = {};
    job.steps = 4;
    job.batch = 4;
    job.evaluation.every = 2;
    job.gradient.check_every = 2;
    job.gradient.scaler = ScalerRule::shared;
  }

  void expect_the_plain_loop_in_every_shape() {
    const std::string plain = sequential_oracle(job);
    EXPECT_EQ(hash_of({.workers = 2}), plain);
    network.set_delay([this](const std::string&, const std::string&) {
      return Duration(static_cast<std::int64_t>(random.below(20000000)));
    });
    EXPECT_EQ(hash_of({.servers = 3, .readers = 2, .workers = 1, .ranks_per_worker = 2}), plain);
    network.set_delay(nullptr);
  }
};

TEST_F(JobStatistics, OfAResidualNetAreThePlainLoops) {
  job.net = "resnet_20";
  expect_the_plain_loop_in_every_shape();
  const std::string plain = hash_of({.workers = 2});
  job.gradient.down = Down::average;
  EXPECT_EQ(hash_of({.servers = 2, .workers = 2}), plain);
  job.gradient.clip_norm = 0.5;  // of what is trained, and nothing else
  EXPECT_EQ(hash_of({.workers = 2}), hash_of({.servers = 3, .workers = 2}));
}

TEST_F(JobStatistics, AreNotRoundedOnTheirWayToRanksThatAreNotInStep) {
  job.net = "resnet_20";
  job.scheme.name = "async";
  job.gradient.scaler = ScalerRule::own;
  job.gradient.down = Down::parameters_bf16;
  job.gradient.check_every = 0;
  EXPECT_FALSE(hash_of({.servers = 2, .workers = 2}).empty());
}

TEST_F(JobStatistics, DecayAsTheFileSays) {
  job.net = "resnet_20";
  const std::string original = hash_of({.workers = 2});
  job.net_choices.bn_decay = 0.05;  // below what the first steps have
  EXPECT_NE(hash_of({.workers = 2}), original);
}

TEST_F(JobStatistics, AreThePlainLoopsInBf16) {
  if (const auto made = nets::make_backend({.precision = nets::Element::bf16}); !made) {
    GTEST_SKIP() << made.error().message;
  }
  job.net = "resnet_20";
  const std::string exact = hash_of({.workers = 2});
  job.precision = Precision::bf16;
  expect_the_plain_loop_in_every_shape();
  EXPECT_NE(hash_of({.workers = 2}), exact);
}

TEST_F(JobStatistics, CifarnetIsThePlainLoopToo) {
  job.net = "cifarnet";
  expect_the_plain_loop_in_every_shape();
}

}  // namespace
}  // namespace sterna::actors
