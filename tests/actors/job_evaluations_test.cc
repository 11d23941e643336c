// Which versions a job evaluates, and of what, with an evaluator that is slower than training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "actors/evaluator/evaluation_bench.h"
#include "actors/weights/read_parameters.h"
#include "nets/weights/weights_file.h"
#include "tests/actors/simulated_job.h"

namespace sterna::actors {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::Gt;
using testing::IsEmpty;

const JobLayout kTwoShards = {.servers = 2, .workers = 2};

class JobEvaluations : public SimulatedJob {
 protected:
  JobEvaluations() {
    job.steps = 60;
    job.hidden = {20};
    job.evaluation.every = 2;
    weights = job.data.dir + "/final.safetensors";
  }
  /// A step takes some milliseconds of the virtual clock, not the same at both servers; a word to
  /// or from the evaluator takes `away`.
  void spread(Duration away) {
    network.set_delay([this, away](const std::string& from, const std::string& to) {
      if (from == "evaluator" || to == "evaluator") return away;
      const Duration most = from == "server1" || to == "server1" ? 3ms : 1ms;
      return Duration(static_cast<std::int64_t>(random.below(most.count())));
    });
  }
  std::vector<std::uint64_t> steps() const {
    std::vector<std::uint64_t> steps;
    for (const Evaluated& one : record.evaluated) steps.push_back(one.step);
    return steps;
  }
  /// By step.
  std::map<std::uint64_t, double> losses(PayloadKind of = PayloadKind::PARAMETERS,
                                         const std::string& subset = "test") const {
    std::map<std::uint64_t, double> losses;
    for (const Evaluated& one : record.evaluated) {
      if (one.of == of && one.subset == subset) losses[one.step] = one.loss;
    }
    return losses;
  }
  /// From the first step to the last worker's end.
  double training_seconds() const {
    double most = 0;
    for (const WorkerDone& one : record.done) most = std::max(most, one.seconds);
    return most;
  }
};

TEST_F(JobEvaluations, OfASlowEvaluatorSkipsAllShardsTheSameAndEvaluatesWholeVersions) {
  const std::string hash = hash_of(kTwoShards);
  const std::map<std::uint64_t, double> all = losses();
  ASSERT_EQ(all.size(), 30U);
  job.evaluation.behind = Behind::skip;
  spread(40ms);
  EXPECT_EQ(hash_of(kTwoShards), hash);
  const std::vector<std::uint64_t> taken = steps();
  EXPECT_TRUE(std::ranges::is_sorted(taken));
  EXPECT_EQ(taken.back(), 60U);
  EXPECT_EQ(std::vector(taken.begin(), taken.begin() + 4), (std::vector<std::uint64_t>{2, 4, 6, 8}))
      << "as many as are kept";
  EXPECT_GT(record.evaluated.back().skipped, 0U);
  EXPECT_EQ(record.evaluated.back().skipped + taken.size(), 30U);
  for (const auto& [step, loss] : losses()) EXPECT_EQ(loss, all.at(step)) << step;
  EXPECT_THAT(record.waits, IsEmpty());
}

TEST_F(JobEvaluations, OfASlowEvaluatorCostTrainingNothingWhereTheyMayBeSkipped) {
  job.evaluation.behind = Behind::skip;
  const auto away = [this](Duration evaluator) {
    network.set_delay([evaluator](const std::string& from, const std::string& to) {
      return from == "evaluator" || to == "evaluator" ? evaluator : Duration(1ms);
    });
  };
  away(0ms);
  hash_of(kTwoShards);
  EXPECT_EQ(record.evaluated.back().skipped, 0U);
  const double fast = training_seconds();
  away(100ms);
  hash_of(kTwoShards);
  EXPECT_GT(record.evaluated.back().skipped, 20U);
  EXPECT_LE(training_seconds(), 1.02 * fast);
  job.evaluation.behind = Behind::wait;
  hash_of(kTwoShards);
  EXPECT_EQ(steps().size(), 30U);
  EXPECT_GT(training_seconds(), 3 * fast);
}

TEST_F(JobEvaluations, ThatStopTrainingAreSaidByTheServersThatWait) {
  spread(40ms);
  hash_of(kTwoShards);
  EXPECT_EQ(steps().size(), 30U);
  EXPECT_EQ(record.evaluated.back().skipped, 0U);
  for (const char* server : {"server0", "server1"}) {
    std::vector<bool> said;
    for (const ServerWaits& one : record.waits) {
      if (one.server == server) said.push_back(one.waits);
    }
    ASSERT_GT(said.size(), 2U) << server;
    for (std::size_t i = 0; i < said.size(); ++i) EXPECT_EQ(said[i], i % 2 == 0) << server;
  }
}

TEST_F(JobEvaluations, ByTimeComeNoSoonerThanThatAndAtTheEnd) {
  hash_of(kTwoShards);
  job.evaluation.every = 1;
  const std::string hash = hash_of(kTwoShards);
  const std::map<std::uint64_t, double> all = losses();
  job.evaluation.every_seconds = 0.05;
  spread(2ms);
  EXPECT_EQ(hash_of(kTwoShards), hash);
  const std::vector<std::uint64_t> taken = steps();
  ASSERT_GT(taken.size(), 3U);
  EXPECT_LT(taken.size(), 20U);
  EXPECT_EQ(taken.back(), 60U);
  for (std::size_t i = 1; i + 1 < taken.size(); ++i) {
    EXPECT_GE(in_seconds(record.evaluated_at[i] - record.evaluated_at[i - 1]), 0.04) << i;
  }
  for (const auto& [step, loss] : losses()) EXPECT_EQ(loss, all.at(step)) << step;
  EXPECT_THAT(record.waits, IsEmpty());
}

TEST_F(JobEvaluations, ByALongTimeAreOnlyThatOfTheEndForWhichNobodyWaits) {
  job.evaluation.every_seconds = 1e6;
  spread(1ms);
  hash_of(kTwoShards);
  EXPECT_THAT(steps(), ElementsAre(60));
  EXPECT_LT(in_seconds(record.evaluated_at[0] - record.done_at), 1);
}

TEST_F(JobEvaluations, OfBothAreWhatEitherGives) {
  job.optimizer.average_decay = 0.7;
  job.gradient.scaler = ScalerRule::shared;
  job.gradient.down = Down::average;
  const std::string hash = hash_of(kTwoShards);
  const auto averages = losses(PayloadKind::MOVING_AVERAGE);
  ASSERT_EQ(averages.size(), 30U);
  EXPECT_THAT(losses(), IsEmpty());
  job.evaluation.of = EvaluatedOf::parameters;
  EXPECT_EQ(hash_of(kTwoShards), hash);
  const auto parameters = losses();
  ASSERT_EQ(parameters.size(), 30U);
  EXPECT_THAT(losses(PayloadKind::MOVING_AVERAGE), IsEmpty());
  job.evaluation.of = EvaluatedOf::both;
  EXPECT_EQ(hash_of(kTwoShards), hash);
  EXPECT_EQ(losses(), parameters);
  EXPECT_EQ(losses(PayloadKind::MOVING_AVERAGE), averages);
  for (std::size_t i = 0; i < record.evaluated.size(); ++i) {
    EXPECT_EQ(record.evaluated[i].of,
              i % 2 == 0 ? PayloadKind::PARAMETERS : PayloadKind::MOVING_AVERAGE);
  }
  job.optimizer.average_decay = 0;
  job.evaluation.of = EvaluatedOf::averages;
  EXPECT_EQ(hash_of(kTwoShards), hash);
  EXPECT_EQ(losses(), parameters) << "where there are none, of parameters";
}

// The weights file holds what the job keeps, whatever it evaluates.
TEST_F(JobEvaluations, AreThoseOfTheWeightsFileToTheLastBit) {
  job.steps = 8;
  job.optimizer.average_decay = 0.7;
  job.evaluation.subsets = {"test", "train"};
  job.evaluation.train_examples = 30;
  const auto read = [&] {
    const auto bench = EvaluationBench::make(job).value();
    const auto file = nets::read_safetensors(weights).value();
    std::size_t t = 0;
    EXPECT_TRUE(read_parameters(*bench.net, [&](const auto& spec, std::span<float> values) {
                  EXPECT_EQ(file.tensors[t].name, spec.name);
                  std::ranges::copy(file.tensors[t++].values, values.begin());
                  return Result<void>();
                }).ok());
    std::map<std::string, Evaluation> found;
    for (const EvaluationBench::Subset& subset : bench.subsets) {
      found[subset.name] = bench.evaluate(subset, examples_of(job, subset.name, job.steps)).value();
    }
    return found;
  };
  for (const EvaluatedOf of : {EvaluatedOf::both, EvaluatedOf::averages}) {
    job.evaluation.of = of;
    hash_of(kTwoShards);
    auto found = read();
    std::size_t compared = 0;
    for (const Evaluated& live : record.evaluated) {
      if (live.step != 8 || live.of != PayloadKind::MOVING_AVERAGE) continue;
      const Evaluation& later = found.at(live.subset);
      EXPECT_EQ(live.loss, later.loss);
      EXPECT_EQ(live.precision_at_1, later.precision_at_1);
      EXPECT_EQ(live.recall_at_5, later.recall_at_5);
      EXPECT_EQ(live.confusion, later.confusion);
      EXPECT_EQ(live.examples, live.subset == "test" ? 60U : 30U);
      ++compared;
    }
    EXPECT_EQ(compared, 2U);
    EXPECT_EQ(record.evaluated.back().subset, "test") << "what stands for the run comes last";
    const double averages = found.at("test").loss;
    job.evaluation.of = EvaluatedOf::parameters;
    hash_of(kTwoShards);
    EXPECT_EQ(read().at("test").loss, averages);
    EXPECT_NE(losses().at(8), averages);
  }
}

}  // namespace
}  // namespace sterna::actors
