// Whole jobs in each scheme: which of them are the same training, and that all of them train.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/simulated_job.h"
#include "tests/sanitized.h"

namespace sterna::actors {
namespace {

class JobSchemesTest : public SimulatedJob {
 protected:
  JobSchemesTest() {
    job.steps = 12;
    job.evaluation.every = 6;
  }
  std::string hash_of_scheme(const std::string& name, const JobLayout& layout) {
    job.scheme.name = name;
    return hash_of(layout);
  }
  /// What goes to or from `slow` takes this long; the rest a millisecond.
  void delay(const std::string& slow, Duration by) {
    network.set_delay([slow, by](const std::string& from, const std::string& to) {
      return from == slow || to == slow ? by : Duration(std::chrono::milliseconds(1));
    });
  }
  std::uint64_t late_packets() const {
    std::uint64_t late = 0;
    for (const WorkerDone& done : record.done) late += done.traffic.late_packets;
    return late;
  }
};

TEST_F(JobSchemesTest, OneRankIsTheSameInEachSchemeWithoutLocalSteps) {
  const std::string hash = hash_of({});
  EXPECT_EQ(hash, sequential_oracle(job));
  EXPECT_EQ(hash_of_scheme("async", {}), hash);
  EXPECT_EQ(hash_of_scheme("async", {.servers = 2}), hash);
  for (const char* name : {"downpour", "agn", "sagn"}) EXPECT_EQ(hash_of_scheme(name, {}), hash);
  job.gradient.down = Down::parameters_bf16;
  const std::string rounded = hash_of_scheme("sync", {});
  EXPECT_NE(rounded, hash);
  EXPECT_EQ(hash_of_scheme("async", {}), rounded);
}

TEST_F(JobSchemesTest, AWindowOfOneStepIsTheSchemeWithoutWindows) {
  const std::string together = hash_of({.workers = 2});
  EXPECT_EQ(hash_of_scheme("sagn", {.workers = 2}), together);
  job.scheme.quorum = 2;
  EXPECT_EQ(hash_of_scheme("sync", {.workers = 2}), together);
  job.scheme.quorum = 0;
  const std::string apart = hash_of_scheme("async", {.workers = 2});
  EXPECT_NE(apart, together);
  EXPECT_EQ(hash_of_scheme("downpour", {.workers = 2}), apart);
  EXPECT_EQ(hash_of_scheme("agn", {.workers = 2}), apart);
  // Nobody is ahead of the others then, but each gradient makes a version by itself.
  job.scheme.max_staleness = 0;
  EXPECT_NE(hash_of_scheme("async", {.workers = 2}), together);
  job.scheme.max_staleness = -1;
  job.gradient.scaler = ScalerRule::shared;
  const std::string shared = hash_of_scheme("sync", {.workers = 2});
  EXPECT_EQ(hash_of_scheme("sagn", {.workers = 2}), shared);
}

TEST_F(JobSchemesTest, RanksOfOneWorkerTrainAsThoseOfSeveralDo) {
  job.scheme.window = 3;
  job.steps = 4;
  for (const char* name : {"sagn", "local_sgd"}) {
    const std::string hash = hash_of_scheme(name, {.workers = 4});
    EXPECT_EQ(hash_of_scheme(name, {.workers = 1, .ranks_per_worker = 4}), hash) << name;
    EXPECT_EQ(hash_of_scheme(name, {.servers = 2, .workers = 2, .ranks_per_worker = 2}), hash);
  }
}

TEST_F(JobSchemesTest, EachSchemeTrainsWithAndWithoutTrits) {
  job.batch = 16;
  job.steps = test::kSanitized ? 6 : 60;
  job.evaluation.every = 0;
  job.optimizer.schedule = "fixed";
  job.optimizer.learning_rate = 0.01;
  job.local_optimizer.name = "gd";
  job.local_optimizer.learning_rate = 0.05;
  for (const SchemeFacts& facts : scheme_facts()) {
    job.scheme.window = facts.windows ? 3 : 1;
    for (const char* codec : {"none", "ternary"}) {
      job.gradient.codec = codec;
      hash_of_scheme(std::string(facts.name), {.workers = 2});
      ASSERT_FALSE(record.evaluated.empty());
      EXPECT_EQ(record.evaluated.back().step, job.steps);
      EXPECT_GT(record.evaluated.back().precision_at_1, test::kSanitized ? 0 : 0.5)
          << facts.name << " " << codec;
      EXPECT_EQ(record.done.front().steps, job.steps);
    }
  }
}

TEST_F(JobSchemesTest, ALateGradientIsCountedNotAppliedAndWithErrorFeedbackGivenBack) {
  job.scheme.quorum = 3;
  job.steps = 30;
  job.delays = {{.ranks = {3}, .delay = std::chrono::milliseconds(50)}};
  hash_of({.workers = 4});
  const std::uint64_t late = late_packets();
  EXPECT_GT(late, 0U);
  job.gradient.error_feedback = true;
  hash_of({.workers = 4});
  EXPECT_GT(late_packets(), 0U);
  // The same where the late rank has a worker with the others.
  hash_of({.workers = 1, .ranks_per_worker = 4});
  EXPECT_GT(late_packets(), 0U);
}

TEST_F(JobSchemesTest, HowOldGradientsAreIsCountedWhereEachMakesAVersion) {
  job.steps = 30;
  const auto traffic = [&] {
    Traffic sum;
    for (const WorkerDone& done : record.done) sum += done.traffic;
    return sum;
  };
  hash_of({.workers = 2});
  EXPECT_EQ(traffic().lone_packets, 0U);
  hash_of_scheme("async", {});
  EXPECT_GT(traffic().lone_packets, 0U);
  EXPECT_EQ(traffic().most_stale, 0U) << "of one rank";
  delay("worker1", std::chrono::milliseconds(5));
  hash_of_scheme("async", {.workers = 2});
  EXPECT_GT(traffic().most_stale, 1U);
  EXPECT_GE(traffic().staleness, traffic().most_stale);
  job.scheme.max_staleness = 0;
  hash_of_scheme("async", {.workers = 2});
  EXPECT_GT(traffic().lone_packets, 0U);
  EXPECT_LE(traffic().most_stale, 1U) << "nobody is a step ahead";
}

TEST_F(JobSchemesTest, BelowAFullQuorumRanksUseTheNewestScalersThatTheyKnow) {
  job.batch = 16;
  job.steps = 60;
  job.evaluation.every = 0;
  job.scheme.quorum = 3;
  job.delays = {{.ranks = {3}, .delay = std::chrono::milliseconds(50)}};
  const std::string own = hash_of({.servers = 2, .workers = 4});
  job.gradient.scaler = ScalerRule::last_step;
  for (const bool buckets : {false, true}) {
    job.gradient.buckets = buckets;
    EXPECT_NE(hash_of({.servers = 2, .workers = 4}), own);
    EXPECT_GT(late_packets(), 0U);
    ASSERT_FALSE(record.evaluated.empty());
    EXPECT_GT(record.evaluated.back().precision_at_1, 0.5);
  }
}

// A step takes 20 ms on the way to the server and back; the last of eight ranks needs 180 more.
TEST_F(JobSchemesTest, WhoDoesNotWaitForASlowRankKeepsItsRate) {
  network.set_delay([](const std::string& from, const std::string& to) -> Duration {
    const bool server = from == "server0" || to == "server0";
    return std::chrono::milliseconds(server ? 10 : 0);
  });
  const auto versions_per_second = [&](Duration delay) {
    job.delays = {{.ranks = {7}, .delay = delay}};
    const Time began = loop.now();
    hash_of({.workers = 8});
    return static_cast<double>(job.steps) /
           std::chrono::duration<double>(record.done_at - began).count();
  };
  const auto kept = [&](const char* name, std::uint32_t quorum, std::uint64_t steps) {
    job.steps = test::kSanitized ? steps / 4 : steps;
    job.scheme.name = name;
    job.scheme.quorum = quorum;
    const double undisturbed = versions_per_second(Duration::zero());
    return versions_per_second(std::chrono::milliseconds(180)) / undisturbed;
  };
  EXPECT_LT(kept("sync", 0, 100), 0.15);
  // With a quorum a rank asks for parameters once it has pushed; the last rank's are on their way
  // when the job is over.
  EXPECT_GT(kept("sync", 7, 400), test::kSanitized ? 0.85 : 0.95);
  EXPECT_GT(kept("async", 0, 1600), 0.85);
}

TEST_F(JobSchemesTest, NoRankIsFurtherAheadThanTheJobAllows) {
  job.steps = 24;
  delay("worker1", std::chrono::seconds(1));
  const auto lasts = [&] {
    const Time began = loop.now();
    hash_of_scheme("async", {.workers = 2});
    return record.done_at - began;
  };
  const Duration free = lasts();
  job.scheme.max_staleness = 2;
  // Of 24 versions the slow rank makes at least 11, each at least two seconds after the one before.
  EXPECT_GT(lasts(), std::chrono::seconds(20));
  EXPECT_LT(free, std::chrono::seconds(10));
}

}  // namespace
}  // namespace sterna::actors
