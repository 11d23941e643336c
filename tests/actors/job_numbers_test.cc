// Jobs whose gradients travel as numbers of few bits: the same bits in each shape, as few as
// promised, and they learn.
#include <gtest/gtest.h>

#include "tests/actors/simulated_job.h"
#include "tests/sanitized.h"

namespace sterna::actors {
namespace {

/// Under a sanitizer too few to learn much.
constexpr std::uint64_t kSteps = test::kSanitized ? 4 : 60;
constexpr double kLearnt = test::kSanitized ? 0 : 0.9;

class JobNumbersTest : public SimulatedJob {
 protected:
  /// In two shapes; the bits that an element of a gradient took.
  double bits_of_a_job() {
    const std::string hash = hash_of({.workers = 2});
    EXPECT_EQ(hash_of({.servers = 3, .workers = 1, .ranks_per_worker = 2}), hash);
    const Traffic& traffic = record.done.front().traffic;
    return 8.0 * static_cast<double>(traffic.gradient_bytes) /
           static_cast<double>(traffic.gradient_elements);
  }
};

TEST_F(JobNumbersTest, RowwiseTakesItsBitsAndTheRowsEnds) {
  job.gradient.codec = "rowwise";
  job.steps = 10;
  test::Few widths(3);
  for (const std::uint32_t bits : {1U, 2U, 4U, 8U}) {
    if (widths.leaves_out()) continue;
    job.gradient.bits = bits;
    const double taken = bits_of_a_job();
    EXPECT_GT(taken, bits + 80.0 / 1024);
    EXPECT_LT(taken, bits + 0.15);
  }
}

TEST_F(JobNumbersTest, SignsTakeOneBit) {
  job.gradient.codec = "sign";
  job.gradient.error_feedback = true;
  job.steps = 10;
  EXPECT_NEAR(bits_of_a_job(), 1, 0.02);
}

TEST_F(JobNumbersTest, TheLargestTakeSixBytesEach) {
  job.gradient.codec = "topk";
  job.gradient.error_feedback = true;
  job.steps = 10;
  for (const double density : {0.01, 0.1}) {
    job.gradient.density = density;
    EXPECT_NEAR(bits_of_a_job(), 48 * density, 0.15);
  }
}

TEST_F(JobNumbersTest, LenetLearnsByEachOfThem) {
  train_lenet();
  job.batch = 16;
  job.steps = kSteps;
  job.evaluation.every = 0;
  struct Way {
    const char* codec;
    bool feedback;
  };
  for (const Way way : {Way{"rowwise", false}, Way{"sign", true}, Way{"topk", true}}) {
    job.gradient.codec = way.codec;
    job.gradient.error_feedback = way.feedback;
    ASSERT_NE(hash_of({.workers = 2}), "") << way.codec;
    EXPECT_GT(record.evaluated.back().precision_at_1, kLearnt) << way.codec;
  }
}

TEST_F(JobNumbersTest, LenetLearnsByAVoteOnSigns) {
  train_lenet();
  job.batch = 16;
  job.steps = kSteps;
  job.evaluation.every = 0;
  job.gradient.codec = "sign";
  job.scheme.combine = CombineRule::vote;
  job.optimizer.name = "gd";
  job.optimizer.learning_rate = 1e-3;
  const std::string hash = hash_of({.workers = 3});
  EXPECT_GT(record.evaluated.back().precision_at_1, kLearnt);
  EXPECT_EQ(hash_of({.servers = 2, .workers = 1, .ranks_per_worker = 3}), hash);
}

}  // namespace
}  // namespace sterna::actors
