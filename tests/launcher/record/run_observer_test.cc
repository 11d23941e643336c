// What the launcher makes of what workers and the evaluator tell it, on a virtual clock.
#include "launcher/record/run_observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/runtime/sim/sim_fixture.h"

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kTwoWorkers = R"(format = 1
[[actor]]
role = "parameter_server"
[[actor]]
role = "worker"
count = 2
[[actor]]
role = "input_reader"
[[actor]]
role = "evaluator"
[job]
net = "lenet"
steps = 10
)";

struct Heard final : RunObserver::Listener {
  void changed() override { ++changes; }
  void step(const StepMetrics& metrics) override {
    steps.push_back(metrics.step);
    last_step = metrics;
  }
  void evaluation(const EvaluationResult& result) override { evaluations.push_back(result.step); }
  void tensor(const TensorMetrics& metrics) override { tensors.push_back(metrics); }
  void loss(const LossMetrics& metrics) override { losses.push_back(metrics); }
  void histogram(const HistogramMetrics& one) override { histograms.push_back(one); }
  void picture(const PictureMetrics& one) override { pictures.push_back(one); }

  int changes = 0;
  std::vector<std::int64_t> steps;
  StepMetrics last_step;
  std::vector<HistogramMetrics> histograms;
  std::vector<PictureMetrics> pictures;
  std::vector<LossMetrics> losses;
  std::vector<std::int64_t> evaluations;
  std::vector<TensorMetrics> tensors;
};

class RunObserverTest : public test::SimFixture {
 protected:
  RunObserverTest() {
    record_.status.steps = 10;
    for (const char* name : {"worker0", "worker1", "evaluator0", "reader0", "server0"}) {
      speakers_[name] = start(name).process.get();
    }
    observe({});
  }
  /// A run of the file with these keys.
  void observe(const std::vector<std::string>& overrides) {
    const Result<ClusterFile> file = parse_cluster_file(kTwoWorkers, "x.toml", overrides);
    EXPECT_TRUE(file.ok()) << file.error().message;
    actors::JobConfig job;
    job.ranks = 2;
    job.steps = 10;
    observer_ = launcher_.process->spawn<RunObserver>(record_, *file, job, heard_);
  }
  void evaluated(std::uint64_t step, double precision, const std::string& subset,
                 bool averages = false) {
    using Kind = actors::schema::PayloadKind;
    say("evaluator0", actors::Evaluated{.step = step,
                                        .precision_at_1 = precision,
                                        .examples = 100,
                                        .recall_at_5 = 0.9,
                                        .classes = 10,
                                        .subset = subset,
                                        .of = averages ? Kind::MOVING_AVERAGE : Kind::PARAMETERS});
  }
  /// From the actor of that name.
  template <class M>
  void say(const std::string& name, const M& message) {
    speakers_.at(name)->tell(observer_, message);
    pass(100ms);
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
    say(worker, progress);
  }
  /// After so many seconds, of which so many were spent waiting.
  void wait_for_data(const std::string& worker, double waited, double seconds) {
    actors::Progress progress;
    progress.worker = worker;
    progress.step = 1;
    progress.seconds = seconds;
    progress.data_seconds = waited;
    say(worker, progress);
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
    say(worker, done);
  }

  test::SimProcess& launcher_ = start("launcher");
  RunRecord record_;
  Heard heard_;
  std::map<std::string, Process*> speakers_;
  ActorRef<actors::Observer> observer_;
};

TEST_F(RunObserverTest, IsAsFarAsTheSlowestWorker) {
  progress("worker0", 3, 1);
  EXPECT_EQ(record_.status.step, 0) << "nobody has heard of worker1";
  progress("worker1", 2, 3);
  EXPECT_EQ(record_.status.step, 2);
  EXPECT_EQ(record_.status.loss, 2);
  EXPECT_EQ(record_.status.phase, "training");
  EXPECT_THAT(heard_.steps, ElementsAre(2));
}

TEST_F(RunObserverTest, WhatIsSaidOfAStepIsWhatAllWorkersHadComeToThen) {
  const auto report = [&](const std::string& worker, std::uint64_t step) {
    actors::Progress progress;
    progress.worker = worker;
    progress.step = step;
    progress.examples = step * 32;
    progress.traffic.bytes_up = step * 100;
    progress.traffic.bytes_down = step * 1000;
    say(worker, progress);
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

TEST_F(RunObserverTest, TellsTheLossOfEachStepOnceAllRanksHave) {
  const auto worker = [&](const std::string& name, std::uint32_t rank, double loss) {
    actors::Progress progress;
    progress.worker = name;
    progress.step = 2;
    progress.loss = loss;
    progress.decay_loss = 0.5;
    progress.losses = {{.step = 0, .rank = rank, .loss = loss, .decay_loss = 0.25},
                       {.step = 1, .rank = rank, .loss = loss + 1, .decay_loss = 0.5}};
    say(name, progress);
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

TEST_F(RunObserverTest, AddsUpWhatTheWorkersSent) {
  progress("worker0", 1, 1);
  progress("worker1", 1, 1);
  EXPECT_EQ(record_.result.bytes_up, 200U);
  EXPECT_EQ(record_.result.bits_per_element_up, 8);
  EXPECT_EQ(record_.status.raw_bytes_up, 800U);
  EXPECT_EQ(record_.status.coded_bytes_up, 100U);
}

TEST_F(RunObserverTest, KnowsNoBitsOfWhatDidNotTravel) {
  progress("worker0", 1, 1);
  EXPECT_EQ(record_.result.bits_per_element_down, std::nullopt);
  EXPECT_EQ(record_.status.nonzero, std::nullopt);
}

TEST_F(RunObserverTest, EstimatesWhatIsLeftByWhatIsDone) {
  progress("worker0", 5, 1);
  progress("worker1", 5, 1);
  EXPECT_GE(record_.status.elapsed_seconds, 0.5);
  EXPECT_NEAR(*record_.status.left_seconds, record_.status.elapsed_seconds, 1e-9);
}

TEST_F(RunObserverTest, TheResultHasTheRateAlsoOfARunThatDoesNotReachItsLastStep) {
  progress("worker0", 5, 1);
  progress("worker1", 5, 1);
  ASSERT_TRUE(record_.status.examples_per_second.has_value());
  EXPECT_EQ(record_.result.examples_per_second, record_.status.examples_per_second);
}

TEST_F(RunObserverTest, BelievesOfAWorkerOnlyThatWorker) {
  actors::Progress progress;
  progress.worker = "worker1";
  progress.step = 9;
  say("worker0", progress);
  say("reader0", progress);
  EXPECT_THAT(record_.progress, IsEmpty());
  EXPECT_EQ(heard_.changes, 0);
}

TEST_F(RunObserverTest, SaysHowMuchOfTheLastSecondsWaitedForDataAndOfTheRunAtTheEnd) {
  for (int i = 1; i <= 20; ++i) wait_for_data("worker0", i, i);
  EXPECT_EQ(record_.status.data_wait, 1);
  for (int i = 21; i <= 40; ++i) wait_for_data("worker0", 20, i);
  EXPECT_EQ(record_.status.data_wait, 0) << "it has recovered";
  EXPECT_EQ(record_.result.data_wait, 0.5);
  wait_for_data("worker1", 10, 10);
  EXPECT_EQ(record_.status.data_wait, 0.5) << "of both";
}

TEST_F(RunObserverTest, SaysHowFastAReaderPreparesPictures) {
  say("reader0", actors::ReaderProgress{"reader0", 100, 1, 2});
  ASSERT_EQ(record_.status.readers.size(), 1U);
  EXPECT_EQ(record_.status.readers[0].reader, "reader0");
  EXPECT_EQ(record_.status.readers[0].pictures_per_second, 100);
  EXPECT_EQ(record_.status.readers[0].threads, 2U);
  pass(20s);
  say("reader0", actors::ReaderProgress{"reader0", 200, 2, 2});
  pass(20s);
  say("reader0", actors::ReaderProgress{"reader0", 600, 4, 2});
  EXPECT_EQ(record_.status.readers[0].pictures_per_second, 200) << "of late";
  ASSERT_EQ(record_.result.readers.size(), 1U);
  EXPECT_EQ(record_.result.readers[0].pictures_per_second, 150);
  say("worker0", actors::ReaderProgress{"reader0", 9999, 5, 2});
  say("worker0", actors::ReaderProgress{"worker0", 9999, 5, 2});
  EXPECT_EQ(record_.status.readers[0].pictures_per_second, 200);
  EXPECT_EQ(record_.status.readers.size(), 1U);
}

TEST_F(RunObserverTest, CountsADamagedExampleOnceThoughEachReaderMeetsIt) {
  const auto found = [&](std::uint64_t examples) {
    say("reader0", actors::ReaderProgress{.reader = "reader0", .left_out = examples});
    return record_.result.left_out_examples;
  };
  EXPECT_EQ(found(1), 1U);
  EXPECT_EQ(found(3), 3U);
  EXPECT_EQ(found(2), 3U) << "its next incarnation has not met all of them again";
}

TEST_F(RunObserverTest, BelievesOfResultsOnlyTheEvaluator) {
  say("worker0", actors::Evaluated{.step = 5, .precision_at_1 = 1});
  say("worker0", actors::JobFinished{"forged", "", 0});
  EXPECT_THAT(record_.result.evaluations, IsEmpty());
  EXPECT_FALSE(record_.finished);
}

TEST_F(RunObserverTest, KeepsEveryEvaluationAndShowsTheLast) {
  say("evaluator0", actors::Evaluated{.step = 5, .precision_at_1 = 0.5, .examples = 100});
  say("evaluator0", actors::Evaluated{.step = 10, .precision_at_1 = 0.75, .examples = 100});
  EXPECT_THAT(heard_.evaluations, ElementsAre(5, 10));
  EXPECT_EQ(record_.result.evaluations.size(), 2U);
  EXPECT_EQ(record_.result.precision_at_1, 0.75);
  EXPECT_EQ(record_.status.precision_step, 10);
}

TEST_F(RunObserverTest, ShowsBesideTheTestSubsetsAveragesWhatElseIsEvaluated) {
  observe({"evaluator.of=both", "optimizer.average_decay=0.9",
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

TEST_F(RunObserverTest, SaysNothingOfTheFiveLargestOfFiveClasses) {
  say("evaluator0", actors::Evaluated{.step = 5, .recall_at_5 = 1, .classes = 5});
  EXPECT_EQ(record_.status.recall_at_5, std::nullopt);
  EXPECT_EQ(record_.result.evaluations[0].recall_at_5, std::nullopt);
}

TEST_F(RunObserverTest, CountsTheGradientsThatCameTooLate) {
  actors::Progress progress{.worker = "worker0", .step = 3, .traffic = {}};
  progress.traffic.late_packets = 5;
  say("worker0", progress);
  EXPECT_EQ(record_.status.late_packets, 5U);
  EXPECT_EQ(record_.result.late_packets, 5U);
}

TEST_F(RunObserverTest, SaysHowOldTheGradientsOfAllWorkersWere) {
  say("worker0", actors::Progress{.worker = "worker0", .step = 3, .traffic = {}});
  EXPECT_EQ(record_.status.staleness, std::nullopt) << "where several make a version";
  actors::Progress progress{.worker = "worker0", .step = 3, .traffic = {}};
  progress.traffic.lone_packets = 6;
  progress.traffic.staleness = 9;
  progress.traffic.most_stale = 4;
  say("worker0", progress);
  progress.worker = "worker1";
  progress.traffic = {.lone_packets = 2, .staleness = 5, .most_stale = 3};
  say("worker1", progress);
  EXPECT_EQ(record_.status.staleness, 14.0 / 8);
  EXPECT_EQ(record_.status.most_stale, 4U);
  EXPECT_EQ(record_.result.staleness, 14.0 / 8);
  EXPECT_EQ(record_.result.most_stale, 4U);
}

TEST_F(RunObserverTest, CountsWhatWasLostToIt) {
  say("worker0", actors::Progress{.worker = "worker0", .step = 3, .traffic = {}, .lost_losses = 4});
  say("worker1", actors::Progress{.worker = "worker1", .step = 3, .traffic = {}, .lost_losses = 2});
  for (const std::uint64_t lost : {1, 3, 3}) {
    say("worker0", actors::Watched{.worker = "worker0", .step = 100, .lost = lost});
  }
  EXPECT_EQ(record_.result.lost_losses, 6U);
  EXPECT_EQ(record_.result.lost_histograms, 3U);
}

TEST_F(RunObserverTest, KeepsTheLastConfusionAndCountsWhatWasSkipped) {
  say("evaluator0",
      actors::Evaluated{.step = 5, .classes = 2, .skipped = 3, .confusion = {{0, 1, 7}}});
  say("evaluator0",
      actors::Evaluated{.step = 10, .classes = 2, .skipped = 4, .confusion = {{1, 1, 9}}});
  ASSERT_TRUE(record_.confusion);
  EXPECT_EQ(record_.confusion->classes, 2U);
  EXPECT_THAT(record_.confusion->cells, ElementsAre(actors::ConfusionCell{1, 1, 9}));
  EXPECT_EQ(record_.status.skipped_evaluations, 4U);
  EXPECT_EQ(record_.result.skipped_evaluations, 4U);
}

TEST_F(RunObserverTest, HandsOnEachHistogramAndPictureOfAWorker) {
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
  say("worker0", told);
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
  told.worker = "worker1";
  say("worker0", told);
  EXPECT_THAT(heard_.histograms, SizeIs(2)) << "another's name";
}

TEST_F(RunObserverTest, CountsRanksThatGoOnWithoutTheirResidualsAndTellsOfEach) {
  say("worker0", actors::ResidualsLost{"worker0", 2, 1, 7});
  say("worker0", actors::ResidualsLost{"worker0", 3, 1, 9});
  EXPECT_EQ(record_.status.residuals_lost, 2U);
  EXPECT_EQ(record_.result.residuals_lost, 2U);
  say("worker0", actors::ResidualsLost{"worker0", 4, 1000, 9});
  say("server0", actors::ResidualsLost{"server0", 1, 1, 9});
  EXPECT_EQ(record_.result.residuals_lost, 2U) << "of ranks that there are, from their worker";
}

TEST_F(RunObserverTest, SaysHowMuchOfTheTimeAnyServerWaitsForTheEvaluator) {
  progress("worker0", 1, 1);
  say("worker0", actors::ServerWaits{"worker0", true});
  EXPECT_THAT(record_.waiting, IsEmpty()) << "only a server waits";
  say("server0", actors::ServerWaits{"server0", true});
  EXPECT_THAT(record_.waiting, ElementsAre("server0"));
  pass(20s);
  count_waits(record_, loop.now());
  EXPECT_NEAR(*record_.status.evaluator_wait, 1, 0.1) << "while nobody says anything";
  say("server0", actors::ServerWaits{"server0", false});
  pass(10s);
  count_waits(record_, loop.now());
  pass(11s);
  count_waits(record_, loop.now());
  EXPECT_EQ(record_.status.evaluator_wait, 0) << "of late";
  EXPECT_NEAR(*record_.result.evaluator_wait, 0.5, 0.05);
  done("worker0");
  done("worker1");
  EXPECT_EQ(record_.status.evaluator_wait, std::nullopt);
  EXPECT_NEAR(*record_.result.evaluator_wait, 0.5, 0.05);
}

TEST_F(RunObserverTest, GivesTheTensorsOfAllWorkersWhenAllAreDone) {
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

TEST_F(RunObserverTest, HasThePlansOfWorkersOnDevicesOnceForAllWithTheSame) {
  const actors::DevicePlans plans{"a card", {"a plan (2)", "another"}};
  done("worker0", plans);
  done("worker1", plans);
  ASSERT_EQ(record_.result.plans.size(), 1U);
  EXPECT_THAT(record_.result.plans[0].workers, ElementsAre("worker0", "worker1"));
  EXPECT_EQ(record_.result.plans[0].device, "a card");
  EXPECT_THAT(record_.result.plans[0].plans, ElementsAre("a plan (2)", "another"));

  RunResult result;
  note_plans(result, "on a cpu", {});
  EXPECT_THAT(result.plans, IsEmpty());
  for (std::size_t i = 0; i < RunResult::kMostPlans + 1; ++i) {
    note_plans(result, "worker", {std::to_string(i), {}});
  }
  EXPECT_EQ(result.plans.size(), RunResult::kMostPlans);
}

TEST_F(RunObserverTest, OfAWorkerThatWasLostWhatItCountedStaysAndItIsDoneOnce) {
  progress("worker0", 5, 1);
  progress("worker1", 5, 1);
  EXPECT_EQ(record_.result.bytes_up, 200U);
  speakers_["worker1"] = start("worker1", 2).process.get();
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

TEST_F(RunObserverTest, OfAReaderThatWasLostWhatItPreparedStays) {
  say("reader0", actors::ReaderProgress{.reader = "reader0", .pictures = 900, .busy_seconds = 1});
  say("reader0", actors::ReaderProgress{.reader = "reader0", .pictures = 100, .busy_seconds = 1});
  ASSERT_THAT(record_.result.readers, SizeIs(1));
  EXPECT_EQ(record_.result.readers[0].pictures_per_second, 500);
}

TEST_F(RunObserverTest, WhatAnEvaluatorThatCameAgainSaysOnceMoreIsKnown) {
  evaluated(5, 0.5, "test");
  evaluated(5, 0.5, "test");
  evaluated(10, 0.6, "test");
  EXPECT_THAT(heard_.evaluations, ElementsAre(5, 10));
}

TEST_F(RunObserverTest, CountsTheRestartsOfSingleActors) {
  record_.status.actors = {{"reader0", "input_reader", "running"}};
  ProcessDown down;
  down.identity = {"reader0", 3};
  note_actor_restart(record_, down, "reader0#3 is dead: killed by SIGKILL");
  EXPECT_EQ(record_.status.actor_restarts, 1U);
  EXPECT_EQ(record_.status.actors[0].state, "restarting");
  ASSERT_THAT(record_.result.actor_restarts, SizeIs(1));
  EXPECT_EQ(record_.result.actor_restarts[0].incarnation, 3U);
  StatusReport report;
  ProcessStatus& next = report.processes.emplace_back();
  next.identity = {"reader0", 4};
  next.state = "running";
  update_actors(record_.status, report);
  EXPECT_EQ(record_.status.actors[0].state, "running");
}

TEST_F(RunObserverTest, AWorkerIsDoneOnce) {
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

TEST_F(RunObserverTest, SecondsThatNoRunHasHadAreNotCounted) {
  actors::Progress progress;
  progress.worker = "worker0";
  progress.step = 1;
  for (const double seconds : {1e300, -1e300}) {
    progress.seconds = seconds;
    record_.first_step_began.reset();
    say("worker0", progress);
    EXPECT_GE(record_.status.elapsed_seconds, 0) << seconds;
    EXPECT_LE(record_.status.elapsed_seconds, 1e9 + 1) << seconds;
  }
}

TEST_F(RunObserverTest, EndsWithTheHashOfTheParameters) {
  say("evaluator0", actors::JobFinished{"abc", "", 0});
  EXPECT_TRUE(record_.finished);
  EXPECT_EQ(record_.result.parameters_sha256, "abc");
}

TEST_F(RunObserverTest, WhatIsHeardAfterTheEndTakesNoTimeOfTheTraining) {
  progress("worker0", 8, 1);
  progress("worker1", 9, 1);
  say("evaluator0", actors::JobFinished{"abc", "", 0});
  const double trained = record_.status.elapsed_seconds;
  EXPECT_EQ(record_.result.seconds, trained);
  pass(7s);
  progress("worker0", 10, 1);
  EXPECT_EQ(record_.status.elapsed_seconds, trained);
}

TEST_F(RunObserverTest, WhoIsTooLateForTheLastVersionsTakesNoneOfThemBack) {
  progress("worker0", 8, 1);
  progress("worker1", 9, 1);
  done("worker1");
  say("evaluator0", actors::JobFinished{"abc", "", 0});
  EXPECT_EQ(record_.result.steps, 10);
  EXPECT_GT(record_.result.examples_per_second.value_or(0), 0);
  EXPECT_THAT(heard_.tensors, SizeIs(1)) << "of the one that was done";
  progress("worker0", 9, 1);
  EXPECT_EQ(record_.result.steps, 10);
  done("worker0");
  EXPECT_THAT(heard_.tensors, SizeIs(1)) << "they are told once";
}

TEST_F(RunObserverTest, ItsRateIsKnownWhereAWorkerIsLostWhenTheOthersAreDone) {
  progress("worker0", 8, 1);
  progress("worker1", 9, 1);
  const double rate = record_.status.examples_per_second.value();
  done("worker0");
  ProcessDown lost;
  lost.identity = {"worker1", 1};
  note_loss(record_, lost, "it is gone");
  say("evaluator0", actors::JobFinished{"abc", "", 0});
  EXPECT_GT(record_.result.examples_per_second.value_or(0), 0.5 * rate);
  EXPECT_THAT(heard_.tensors, SizeIs(1));
  EXPECT_EQ(record_.result.steps, 10);
}

TEST_F(RunObserverTest, TheLastEvaluationTakesNothingOffTheRateOfTheTraining) {
  progress("worker0", 8, 1);
  progress("worker1", 9, 1);
  done("worker0");
  done("worker1");
  const double rate = record_.result.examples_per_second.value();
  pass(10s);
  say("evaluator0", actors::JobFinished{"abc", "", 0});
  EXPECT_EQ(record_.result.examples_per_second, rate);
  EXPECT_EQ(record_.status.examples_per_second, rate);
  EXPECT_EQ(record_.status.left_seconds, std::nullopt);
}

RunStatus with_worker0(const std::string& state) {
  RunStatus status;
  status.actors.resize(1);
  status.actors[0].name = "worker0";
  status.actors[0].state = state;
  return status;
}

TEST(UpdateActors, TakesTheNodesReportOfAProcess) {
  RunStatus status = with_worker0("starting");
  StatusReport report;
  report.processes.resize(1);
  report.processes[0].identity = {"worker0", 2};
  report.processes[0].state = std::string("running");
  report.processes[0].pid = 7;
  report.processes[0].loop_lag = 1500us;
  update_actors(status, report);
  EXPECT_EQ(status.actors[0].state, "running");
  EXPECT_EQ(status.actors[0].incarnation, 2U);
  EXPECT_EQ(status.actors[0].pid, 7);
  EXPECT_EQ(status.actors[0].loop_lag_ms, 1.5);
}

TEST(UpdateActors, DoesNotBringBackWhoHasEnded) {
  for (const char* end : {"dead", "done", "stopped", "killed"}) {
    RunStatus status = with_worker0(end);
    StatusReport report;
    report.processes.resize(1);
    report.processes[0].identity = {"worker0", 1};
    report.processes[0].state = std::string("running");
    update_actors(status, report);
    EXPECT_EQ(status.actors[0].state, end);
  }
}

TEST(EndOf, IsWhetherItWasWantedAndAsked) {
  ProcessDown down;
  EXPECT_EQ(end_of(down, false), "dead");
  EXPECT_EQ(end_of(down, true), "dead");
  down.wanted = true;
  EXPECT_EQ(end_of(down, false), "done");
  EXPECT_EQ(end_of(down, true), "stopped");
  down.signal = SIGKILL;
  EXPECT_EQ(end_of(down, true), "killed");
}

TEST(MarkEnded, NotesTheCauseOfAnEndThatNobodyWanted) {
  RunStatus status = with_worker0("running");
  mark_ended(status, "worker1", "dead", "killed by signal 9");
  EXPECT_EQ(status.actors[0].state, "running");
  mark_ended(status, "worker0", "stopped", "asked to");
  EXPECT_EQ(status.actors[0].state, "stopped");
  EXPECT_EQ(status.actors[0].cause, "");
  mark_ended(status, "worker0", "dead", "killed by signal 9");
  EXPECT_EQ(status.actors[0].state, "dead");
  EXPECT_EQ(status.actors[0].cause, "killed by signal 9");
}

TEST(DeathInWords, NamesTheHostWhereThereAreSeveral) {
  ProcessDown down;
  down.identity = {"reader0", 1};
  down.exit_code = 1;
  down.cause = "the cluster file's data directory /data does not exist";
  const Result<ClusterFile> one = parse_cluster_file(kTwoWorkers, "x.toml");
  EXPECT_EQ(death_in_words(*one, down), "reader0#1 is dead: " + down.cause);
  const Result<ClusterFile> two = parse_cluster_file(
      std::string(kTwoWorkers) +
          "[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\naddress = \"127.0.0.2\"\n",
      "x.toml", std::vector<std::string>{"actor.input_reader.hosts=[\"b\"]"});
  ASSERT_TRUE(two.ok()) << two.error().message;
  EXPECT_EQ(death_in_words(*two, down), "reader0#1 on b is dead: " + down.cause);
}

}  // namespace
}  // namespace sterna::launcher
