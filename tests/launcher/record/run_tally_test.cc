// What the launcher makes of what workers, readers, servers and the evaluator tell of a run.
#include "launcher/record/run_tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/launcher/record/run_of_two.h"

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct HeardOf final : TrainingListener {
  void step(const StepMetrics& metrics) override {
    steps.push_back(metrics.step);
    last_step = metrics;
  }
  void evaluation(const EvaluationResult& result) override { evaluations.push_back(result.step); }
  void tensor(const TensorMetrics& metrics) override { tensors.push_back(metrics); }
  void loss(const LossMetrics& metrics) override { losses.push_back(metrics); }
  void histogram(const HistogramMetrics& one) override { histograms.push_back(one); }
  void picture(const PictureMetrics& one) override { pictures.push_back(one); }

  std::vector<std::int64_t> steps;
  StepMetrics last_step;
  std::vector<HistogramMetrics> histograms;
  std::vector<PictureMetrics> pictures;
  std::vector<LossMetrics> losses;
  std::vector<std::int64_t> evaluations;
  std::vector<TensorMetrics> tensors;
};

class RunTallyTest : public testing::Test {
 protected:
  RunTallyTest() {
    record_.status.steps = kStepsOfTwo;
    count({});
  }
  /// A run of the file with these keys.
  void count(const std::vector<std::string>& overrides) {
    tally_.emplace(record_, file_of_two(overrides), job_of_two(), heard_);
  }
  /// One after another, a tenth of a second apart.
  void tell(actors::Progress told) {
    const std::uint64_t incarnation = incarnations_[told.worker];
    tally_->progress(std::move(told), incarnation, later());
  }
  void tell(actors::WorkerDone told) {
    const std::uint64_t incarnation = incarnations_[told.worker];
    tally_->done(std::move(told), incarnation, later());
  }
  void tell(actors::Evaluated told) { tally_->evaluated(std::move(told), later()); }
  void tell(actors::JobFinished told) { tally_->finished(std::move(told), later()); }
  void tell(actors::ReaderProgress told) { tally_->reader(std::move(told), later()); }
  void tell(const actors::ServerWaits& told) { tally_->server_waits(told, later()); }
  void tell(actors::Watched told) { tally_->watched(std::move(told)); }
  void evaluated(std::uint64_t step, double precision, const std::string& subset,
                 bool averages = false) {
    using Kind = actors::schema::PayloadKind;
    tell(actors::Evaluated{.step = step,
                           .precision_at_1 = precision,
                           .examples = 100,
                           .recall_at_5 = 0.9,
                           .classes = 10,
                           .subset = subset,
                           .of = averages ? Kind::MOVING_AVERAGE : Kind::PARAMETERS});
  }
  void progress(const std::string& worker, std::uint64_t step, double loss) {
    actors::Progress progress;
    progress.worker = worker;
    progress.step = step;
    progress.loss = loss;
    progress.examples = step * 64;
    progress.seconds = 0.5;
    progress.traffic.gradient_elements = 100;
    progress.traffic.gradient_bytes = 50;
    progress.traffic.bytes_up = 100;
    tell(progress);
  }
  /// After so many seconds, of which so many were spent waiting.
  void wait_for_data(const std::string& worker, double waited, double seconds) {
    actors::Progress progress;
    progress.worker = worker;
    progress.step = 1;
    progress.seconds = seconds;
    progress.data_seconds = waited;
    tell(progress);
  }
  void done(const std::string& worker, actors::DevicePlans by = {}) {
    actors::WorkerDone done;
    done.computed_by = std::move(by);
    done.worker = worker;
    done.steps = 10;
    done.seconds = 1;
    done.tensors = {{.tensor = "fc.weight",
                     .codec = actors::schema::Codec::TERNARY,
                     .steps = 10,
                     .pushes = 10,
                     .elements = 100,
                     .bytes_up = 250,
                     .bytes_down = 4000,
                     .ternarized = 1000,
                     .nonzero = 500}};
    tell(done);
  }

  Time later() { return now_ = now_ + 100ms; }

  Time now_{};
  std::map<std::string, std::uint64_t> incarnations_{{"worker0", 1}, {"worker1", 1}};
  RunRecord record_;
  HeardOf heard_;
  std::optional<RunTally> tally_;
};

TEST_F(RunTallyTest, IsAsFarAsTheSlowestWorker) {
  progress("worker0", 3, 1);
  EXPECT_EQ(record_.status.step, 0) << "nobody has heard of worker1";
  progress("worker1", 2, 3);
  EXPECT_EQ(record_.status.step, 2);
  EXPECT_EQ(record_.status.loss, 2);
  EXPECT_EQ(record_.status.phase, "training");
  EXPECT_THAT(heard_.steps, ElementsAre(2));
}

TEST_F(RunTallyTest, WhatIsSaidOfAStepIsWhatAllWorkersHadComeToThen) {
  const auto report = [&](const std::string& worker, std::uint64_t step) {
    actors::Progress progress;
    progress.worker = worker;
    progress.step = step;
    progress.examples = step * 32;
    progress.traffic.bytes_up = step * 100;
    progress.traffic.bytes_down = step * 1000;
    tell(progress);
  };
  report("worker0", 1);
  report("worker1", 1);
  report("worker0", 8);
  report("worker1", 6);
  EXPECT_THAT(heard_.steps, ElementsAre(1, 6));
  EXPECT_EQ(heard_.last_step.bytes_up, 1200) << "not the 8 steps of worker0 and the 6 of worker1";
  EXPECT_EQ(heard_.last_step.bytes_down, 12000);
  EXPECT_EQ(heard_.last_step.examples, 12 * 32);
  report("worker1", 9);
  EXPECT_EQ(heard_.last_step.step, 8);
  EXPECT_EQ(heard_.last_step.bytes_up, 1600);
  EXPECT_EQ(record_.result.bytes_up, 1700) << "the result is of all that was told";
  EXPECT_NEAR(heard_.last_step.seconds, record_.status.elapsed_seconds - 0.1 / 3, 0.001)
      << "a third before worker1 had done its 9th";
}

TEST_F(RunTallyTest, TellsTheLossOfEachStepOnceAllRanksHave) {
  const auto worker = [&](const std::string& name, std::uint32_t rank, double loss) {
    actors::Progress progress;
    progress.worker = name;
    progress.step = 2;
    progress.loss = loss;
    progress.decay_loss = 0.5;
    progress.losses = {{.step = 0, .rank = rank, .loss = loss, .decay_loss = 0.25},
                       {.step = 1, .rank = rank, .loss = loss + 1, .decay_loss = 0.5}};
    tell(progress);
  };
  worker("worker0", 0, 2);
  EXPECT_THAT(heard_.losses, IsEmpty());
  worker("worker1", 1, 4);
  ASSERT_THAT(heard_.losses, SizeIs(2));
  EXPECT_EQ(heard_.losses[0].step, 1);
  EXPECT_EQ(heard_.losses[0].loss, 3);
  EXPECT_EQ(heard_.losses[0].decay_loss, 0.25);
  EXPECT_EQ(heard_.losses[1].step, 2);
  EXPECT_EQ(heard_.losses[1].loss, 4);
  EXPECT_EQ(record_.status.decay_loss, 0.5);
  EXPECT_EQ(record_.result.decay_loss, 0.5);
}

TEST_F(RunTallyTest, AddsUpWhatTheWorkersSent) {
  progress("worker0", 1, 1);
  progress("worker1", 1, 1);
  EXPECT_EQ(record_.result.bytes_up, 200U);
  EXPECT_EQ(record_.result.bits_per_element_up, 8);
  EXPECT_EQ(record_.status.raw_bytes_up, 800U);
  EXPECT_EQ(record_.status.coded_bytes_up, 100U);
}

TEST_F(RunTallyTest, KnowsNoBitsOfWhatDidNotTravel) {
  progress("worker0", 1, 1);
  EXPECT_EQ(record_.result.bits_per_element_down, std::nullopt);
  EXPECT_EQ(record_.status.nonzero, std::nullopt);
}

TEST_F(RunTallyTest, EstimatesWhatIsLeftByWhatIsDone) {
  progress("worker0", 5, 1);
  progress("worker1", 5, 1);
  EXPECT_GE(record_.status.elapsed_seconds, 0.5);
  EXPECT_NEAR(*record_.status.left_seconds, record_.status.elapsed_seconds, 1e-9);
}

TEST_F(RunTallyTest, TheResultHasTheRateAlsoOfARunThatDoesNotReachItsLastStep) {
  progress("worker0", 5, 1);
  progress("worker1", 5, 1);
  ASSERT_TRUE(record_.status.examples_per_second.has_value());
  EXPECT_EQ(record_.result.examples_per_second, record_.status.examples_per_second);
}

TEST_F(RunTallyTest, SaysHowMuchOfTheLastSecondsWaitedForDataAndOfTheRunAtTheEnd) {
  for (int i = 1; i <= 20; ++i) wait_for_data("worker0", i, i);
  EXPECT_EQ(record_.status.data_wait, 1);
  for (int i = 21; i <= 40; ++i) wait_for_data("worker0", 20, i);
  EXPECT_EQ(record_.status.data_wait, 0) << "it has recovered";
  EXPECT_EQ(record_.result.data_wait, 0.5);
  wait_for_data("worker1", 10, 10);
  EXPECT_EQ(record_.status.data_wait, 0.5) << "of both";
}

TEST_F(RunTallyTest, SaysHowFastAReaderPreparesPictures) {
  tell(actors::ReaderProgress{"reader0", 100, 1, 2});
  ASSERT_EQ(record_.status.readers.size(), 1U);
  EXPECT_EQ(record_.status.readers[0].reader, "reader0");
  EXPECT_EQ(record_.status.readers[0].pictures_per_second, 100);
  EXPECT_EQ(record_.status.readers[0].threads, 2U);
  now_ = now_ + 20s;
  tell(actors::ReaderProgress{"reader0", 200, 2, 2});
  now_ = now_ + 20s;
  tell(actors::ReaderProgress{"reader0", 600, 4, 2});
  EXPECT_EQ(record_.status.readers[0].pictures_per_second, 200) << "of late";
  ASSERT_EQ(record_.result.readers.size(), 1U);
  EXPECT_EQ(record_.result.readers[0].pictures_per_second, 150);
}

TEST_F(RunTallyTest, CountsADamagedExampleOnceThoughEachReaderMeetsIt) {
  const auto found = [&](std::uint64_t examples) {
    tell(actors::ReaderProgress{.reader = "reader0", .left_out = examples});
    return record_.result.left_out_examples;
  };
  EXPECT_EQ(found(1), 1U);
  EXPECT_EQ(found(3), 3U);
  EXPECT_EQ(found(2), 3U) << "its next incarnation has not met all of them again";
}

TEST_F(RunTallyTest, KeepsEveryEvaluationAndShowsTheLast) {
  tell(actors::Evaluated{.step = 5, .precision_at_1 = 0.5, .examples = 100});
  tell(actors::Evaluated{.step = 10, .precision_at_1 = 0.75, .examples = 100});
  EXPECT_THAT(heard_.evaluations, ElementsAre(5, 10));
  EXPECT_EQ(record_.result.evaluations.size(), 2U);
  EXPECT_EQ(record_.result.precision_at_1, 0.75);
  EXPECT_EQ(record_.status.precision_step, 10);
}

TEST_F(RunTallyTest, ShowsBesideTheTestSubsetsAveragesWhatElseIsEvaluated) {
  count({"evaluator.of=both", "optimizer.average_decay=0.9",
         "evaluator.subsets=[\"train\", \"test\"]"});
  evaluated(5, 0.1, "train");
  evaluated(5, 0.2, "test");
  evaluated(5, 0.3, "train", true);
  EXPECT_EQ(record_.status.precision_at_1, std::nullopt);
  evaluated(5, 0.4, "test", true);
  evaluated(10, 0.5, "test");
  EXPECT_EQ(record_.status.precision_at_1, 0.4);
  EXPECT_EQ(record_.status.recall_at_5, 0.9);
  EXPECT_EQ(record_.status.precision_what, "of averages");
  EXPECT_EQ(record_.result.precision_at_1, 0.4);
  std::vector<std::pair<std::string, double>> others;
  for (const OtherPrecision& other : record_.status.others) {
    others.emplace_back(other.what, other.precision_at_1);
  }
  EXPECT_THAT(others, ElementsAre(std::pair("on train of parameters", 0.1),
                                  std::pair("of parameters", 0.5), std::pair("on train", 0.3)));
  ASSERT_EQ(record_.result.evaluations.size(), 5U);
  EXPECT_EQ(record_.result.evaluations[2].subset, "train");
  EXPECT_EQ(record_.result.evaluations[2].of, "averages");
}

TEST_F(RunTallyTest, SaysNothingOfTheFiveLargestOfFiveClasses) {
  tell(actors::Evaluated{.step = 5, .recall_at_5 = 1, .classes = 5});
  EXPECT_EQ(record_.status.recall_at_5, std::nullopt);
  EXPECT_EQ(record_.result.evaluations[0].recall_at_5, std::nullopt);
}

TEST_F(RunTallyTest, CountsTheGradientsThatCameTooLate) {
  actors::Progress progress{.worker = "worker0", .step = 3, .traffic = {}};
  progress.traffic.late_packets = 5;
  tell(progress);
  EXPECT_EQ(record_.status.late_packets, 5U);
  EXPECT_EQ(record_.result.late_packets, 5U);
}

TEST_F(RunTallyTest, SaysHowOldTheGradientsOfAllWorkersWere) {
  tell(actors::Progress{.worker = "worker0", .step = 3, .traffic = {}});
  EXPECT_EQ(record_.status.staleness, std::nullopt) << "where several make a version";
  actors::Progress progress{.worker = "worker0", .step = 3, .traffic = {}};
  progress.traffic.lone_packets = 6;
  progress.traffic.staleness = 9;
  progress.traffic.most_stale = 4;
  tell(progress);
  progress.worker = "worker1";
  progress.traffic = {.lone_packets = 2, .staleness = 5, .most_stale = 3};
  tell(progress);
  EXPECT_EQ(record_.status.staleness, 14.0 / 8);
  EXPECT_EQ(record_.status.most_stale, 4U);
  EXPECT_EQ(record_.result.staleness, 14.0 / 8);
  EXPECT_EQ(record_.result.most_stale, 4U);
}

TEST_F(RunTallyTest, CountsWhatWasLostToIt) {
  tell(actors::Progress{.worker = "worker0", .step = 3, .traffic = {}, .lost_losses = 4});
  tell(actors::Progress{.worker = "worker1", .step = 3, .traffic = {}, .lost_losses = 2});
  for (const std::uint64_t lost : {1, 3, 3}) {
    tell(actors::Watched{.worker = "worker0", .step = 100, .lost = lost});
  }
  EXPECT_EQ(record_.result.lost_losses, 6U);
  EXPECT_EQ(record_.result.lost_histograms, 3U);
}

TEST_F(RunTallyTest, KeepsTheLastConfusionAndCountsWhatWasSkipped) {
  tell(actors::Evaluated{.step = 5, .classes = 2, .skipped = 3, .confusion = {{0, 1, 7}}});
  tell(actors::Evaluated{.step = 10, .classes = 2, .skipped = 4, .confusion = {{1, 1, 9}}});
  ASSERT_TRUE(record_.confusion);
  EXPECT_EQ(record_.confusion->classes, 2U);
  EXPECT_THAT(record_.confusion->cells, ElementsAre(actors::ConfusionCell{1, 1, 9}));
  EXPECT_EQ(record_.status.skipped_evaluations, 4U);
  EXPECT_EQ(record_.result.skipped_evaluations, 4U);
}

TEST_F(RunTallyTest, HandsOnEachHistogramAndPictureOfAWorker) {
  actors::Watched told{.worker = "worker0", .step = 100};
  told.histograms = {{.tensor = "fc1/weights",
                      .of = actors::HistogramOf::SENT,
                      .elements = 5,
                      .least = -1,
                      .most = 2,
                      .sum = 3,
                      .sum_of_squares = 4,
                      .buckets = {-1016, 0},
                      .counts = {2, 3}},
                     {.tensor = "fc1", .of = actors::HistogramOf::ACTIVATIONS}};
  auto pixels = std::make_shared<Buffer>(2);
  pixels->data()[1] = std::byte{255};
  told.pictures = {{.shape = {1, 2, 1}, .pixels = share(pixels), .label = 7, .prediction = 3}};
  tell(told);
  ASSERT_THAT(heard_.histograms, SizeIs(2));
  EXPECT_EQ(to_json(heard_.histograms[0]),
            R"({"kind":"histogram","step":100,"tensor":"fc1/weights","of":"sent","elements":5,)"
            R"("least":-1.0,"most":2.0,"sum":3.0,"sum_of_squares":4.0,"buckets":[-1016,0],)"
            R"("counts":[2,3]})");
  EXPECT_EQ(heard_.histograms[1].of, "activations");
  ASSERT_THAT(heard_.pictures, SizeIs(1));
  EXPECT_EQ(to_json(heard_.pictures[0]),
            R"({"kind":"picture","step":100,"number":0,"rows":1,"columns":2,"channels":1,)"
            R"("label":7,"prediction":3,"pixels":"00ff"})");
}

TEST_F(RunTallyTest, SaysHowMuchOfTheTimeAnyServerWaitsForTheEvaluator) {
  progress("worker0", 1, 1);
  tell(actors::ServerWaits{"server0", true});
  EXPECT_THAT(record_.waiting, ElementsAre("server0"));
  now_ = now_ + 20s;
  count_waits(record_, now_);
  EXPECT_NEAR(*record_.status.evaluator_wait, 1, 0.1) << "while nobody says anything";
  tell(actors::ServerWaits{"server0", false});
  now_ = now_ + 10s;
  count_waits(record_, now_);
  now_ = now_ + 11s;
  count_waits(record_, now_);
  EXPECT_EQ(record_.status.evaluator_wait, 0) << "of late";
  EXPECT_NEAR(*record_.result.evaluator_wait, 0.5, 0.05);
  done("worker0");
  done("worker1");
  EXPECT_EQ(record_.status.evaluator_wait, std::nullopt);
  EXPECT_NEAR(*record_.result.evaluator_wait, 0.5, 0.05);
}

TEST_F(RunTallyTest, GivesTheTensorsOfAllWorkersWhenAllAreDone) {
  done("worker0");
  EXPECT_THAT(heard_.tensors, IsEmpty());
  done("worker1");
  EXPECT_EQ(record_.status.phase, "evaluating");
  ASSERT_EQ(heard_.tensors.size(), 1U);
  EXPECT_EQ(heard_.tensors[0].codec, "ternary");
  EXPECT_EQ(heard_.tensors[0].bits_up, 2);
  EXPECT_EQ(heard_.tensors[0].bits_down, 32);
  EXPECT_EQ(heard_.tensors[0].nonzero, 0.5);
  EXPECT_EQ(heard_.tensors[0].saturated, std::nullopt);
}

TEST_F(RunTallyTest, HasThePlansOfWorkersOnDevicesOnceForAllWithTheSame) {
  const actors::DevicePlans plans{"a card", {"a plan (2)", "another"}};
  done("worker0", plans);
  done("worker1", plans);
  ASSERT_EQ(record_.result.plans.size(), 1U);
  EXPECT_THAT(record_.result.plans[0].workers, ElementsAre("worker0", "worker1"));
  EXPECT_EQ(record_.result.plans[0].device, "a card");
  EXPECT_THAT(record_.result.plans[0].plans, ElementsAre("a plan (2)", "another"));
}

TEST_F(RunTallyTest, OfAWorkerThatWasLostWhatItCountedStaysAndItIsDoneOnce) {
  progress("worker0", 5, 1);
  progress("worker1", 5, 1);
  EXPECT_EQ(record_.result.bytes_up, 200U);
  incarnations_["worker1"] = 2;
  progress("worker1", 6, 1);
  progress("worker1", 7, 1);
  EXPECT_EQ(record_.result.bytes_up, 300U);
  EXPECT_EQ(record_.status.step, 5);
  EXPECT_EQ(record_.progress.at("worker1").examples, (5U + 7U) * 64);
  done("worker1");
  done("worker1");
  EXPECT_THAT(record_.workers_done, SizeIs(1));
  done("worker0");
  EXPECT_THAT(record_.workers_done, SizeIs(2));
}

TEST_F(RunTallyTest, OfAReaderThatWasLostWhatItPreparedStays) {
  tell(actors::ReaderProgress{.reader = "reader0", .pictures = 900, .busy_seconds = 1});
  tell(actors::ReaderProgress{.reader = "reader0", .pictures = 100, .busy_seconds = 1});
  ASSERT_THAT(record_.result.readers, SizeIs(1));
  EXPECT_EQ(record_.result.readers[0].pictures_per_second, 500);
}

TEST_F(RunTallyTest, WhatAnEvaluatorThatCameAgainSaysOnceMoreIsKnown) {
  evaluated(5, 0.5, "test");
  evaluated(5, 0.5, "test");
  evaluated(10, 0.6, "test");
  EXPECT_THAT(heard_.evaluations, ElementsAre(5, 10));
}

TEST_F(RunTallyTest, AWorkerIsDoneOnce) {
  progress("worker0", 10, 1);
  progress("worker1", 10, 1);
  done("worker0");
  done("worker0");
  EXPECT_EQ(record_.status.phase, "training");
  EXPECT_THAT(heard_.tensors, IsEmpty());
  done("worker1");
  EXPECT_EQ(record_.status.phase, "evaluating");
  ASSERT_THAT(heard_.tensors, SizeIs(1));
  EXPECT_EQ(record_.tensors[0].bytes_up, 2 * 250U);
}

TEST_F(RunTallyTest, SecondsThatNoRunHasHadAreNotCounted) {
  actors::Progress progress;
  progress.worker = "worker0";
  progress.step = 1;
  for (const double seconds : {1e300, -1e300}) {
    progress.seconds = seconds;
    record_.first_step_began.reset();
    tell(progress);
    EXPECT_GE(record_.status.elapsed_seconds, 0) << seconds;
    EXPECT_LE(record_.status.elapsed_seconds, 1e9 + 1) << seconds;
  }
}

TEST_F(RunTallyTest, EndsWithTheHashOfTheParameters) {
  tell(actors::JobFinished{"abc", "", 0});
  EXPECT_TRUE(record_.finished);
  EXPECT_EQ(record_.result.parameters_sha256, "abc");
}

TEST_F(RunTallyTest, WhatIsHeardAfterTheEndTakesNoTimeOfTheTraining) {
  progress("worker0", 8, 1);
  progress("worker1", 9, 1);
  tell(actors::JobFinished{"abc", "", 0});
  const double trained = record_.status.elapsed_seconds;
  EXPECT_EQ(record_.result.seconds, trained);
  now_ = now_ + 7s;
  progress("worker0", 10, 1);
  EXPECT_EQ(record_.status.elapsed_seconds, trained);
}

TEST_F(RunTallyTest, WhoIsTooLateForTheLastVersionsTakesNoneOfThemBack) {
  progress("worker0", 8, 1);
  progress("worker1", 9, 1);
  done("worker1");
  tell(actors::JobFinished{"abc", "", 0});
  EXPECT_EQ(record_.result.steps, 10);
  EXPECT_GT(record_.result.examples_per_second.value_or(0), 0);
  EXPECT_THAT(heard_.tensors, SizeIs(1)) << "of the one that was done";
  progress("worker0", 9, 1);
  EXPECT_EQ(record_.result.steps, 10);
  done("worker0");
  EXPECT_THAT(heard_.tensors, SizeIs(1)) << "they are told once";
}

TEST_F(RunTallyTest, ItsRateIsKnownWhereAWorkerIsLostWhenTheOthersAreDone) {
  progress("worker0", 8, 1);
  progress("worker1", 9, 1);
  const double rate = record_.status.examples_per_second.value();
  done("worker0");
  ProcessDown lost;
  lost.identity = {"worker1", 1};
  note_loss(record_, lost, "it is gone");
  tell(actors::JobFinished{"abc", "", 0});
  EXPECT_GT(record_.result.examples_per_second.value_or(0), 0.5 * rate);
  EXPECT_THAT(heard_.tensors, SizeIs(1));
  EXPECT_EQ(record_.result.steps, 10);
}

TEST_F(RunTallyTest, TheLastEvaluationTakesNothingOffTheRateOfTheTraining) {
  progress("worker0", 8, 1);
  progress("worker1", 9, 1);
  done("worker0");
  done("worker1");
  const double rate = record_.result.examples_per_second.value();
  now_ = now_ + 10s;
  tell(actors::JobFinished{"abc", "", 0});
  EXPECT_EQ(record_.result.examples_per_second, rate);
  EXPECT_EQ(record_.status.examples_per_second, rate);
  EXPECT_EQ(record_.status.left_seconds, std::nullopt);
}

}  // namespace
}  // namespace sterna::launcher
