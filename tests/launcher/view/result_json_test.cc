#include "launcher/view/result_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;

std::vector<std::string> keys(const Json& json) {
  std::vector<std::string> names;
  for (const auto& [key, value] : json.items()) names.push_back(key);
  return names;
}

TEST(ResultJson, IsOneLineWithEveryKeyInItsOrder) {
  const std::string text = to_json(RunResult{});
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_THAT(keys(Json::parse(text)),
              ElementsAre("format", "run", "exit", "steps", "first_step", "workers", "ranks",
                          "data", "data_dir", "codec", "security", "transport", "isa", "job",
                          "seconds", "seconds_to_first_step", "evaluations", "examples_per_second",
                          "loss", "decay_loss", "precision_at_1", "recall_at_5",
                          "skipped_evaluations", "late_packets", "evaluator_wait", "data_wait",
                          "readers", "bits_per_ternarized_element_up", "bits_per_element_up",
                          "bits_per_element_down", "bytes_up", "bytes_down", "coded_bytes_up",
                          "coded_bytes_down", "parameters_sha256"));
}

TEST(ResultJson, HasTheLastEvaluationsAndIsNeverLargerThanWeRead) {
  RunResult result;
  for (int i = 1; i <= 30'000; ++i) {
    EvaluationResult one;
    one.step = 1'000'000'000 + i;
    one.seconds = 123456.789012345678;
    one.subset = "train";
    one.of = "parameters";
    one.precision_at_1 = 0.123456789012345678;
    one.recall_at_5 = 0.123456789012345678;
    one.loss = 0.0123456789012345678;
    one.examples = 1'281'167;
    result.evaluations.push_back(one);
  }
  result.actor_restarts.assign(5 * RunResult::kMostActorRestarts,
                               {"worker1000", 12, 1'000'000, std::string(300, 'x')});
  result.lost_workers = result.actor_restarts;
  const std::string text = to_json(result);
  EXPECT_LT(text.size(), kMostResultBytes);
  const Json json = Json::parse(text);
  EXPECT_EQ(json["evaluations"].size(), RunResult::kMostEvaluations);
  EXPECT_EQ(json["evaluations"].back()["step"], 1'000'030'000);
  EXPECT_EQ(json["actor_restarts"].size(), RunResult::kMostActorRestarts);
}

TEST(ResultJson, CountsCheckpointsThatCouldNotBeMade) {
  RunResult result;
  result.missed_checkpoints = 2;
  EXPECT_EQ(Json::parse(to_json(result))["missed_checkpoints"], 2);
}

TEST(ResultJson, SaysHowOldGradientsWereWhereEachMakesAVersion) {
  RunResult result;
  result.staleness = 0.75;
  result.most_stale = 4;
  const auto json = Json::parse(to_json(result));
  EXPECT_EQ(json["staleness"], 0.75);
  EXPECT_EQ(json["most_stale"], 4);
}

TEST(ResultJson, SaysWhatATableOverRunsAsksForOfTheJob) {
  RunResult result;
  result.first_step = 160;
  result.job = {"mnist", "lenet", 500, 32, 7, "sync", "momentum", 0.01, 0.0005, true};
  const Json json = Json::parse(to_json(result));
  EXPECT_EQ(json["first_step"], 160);
  EXPECT_EQ(json["job"].dump(),
            R"({"name":"mnist","net":"lenet","steps":500,"batch":32,"seed":7,"scheme":"sync",)"
            R"("optimizer":"momentum","learning_rate":0.01,"weight_decay":0.0005,)"
            R"("error_feedback":true})");
}

TEST(ResultJson, HasTheEvaluationsInTheirOrder) {
  RunResult result;
  result.evaluations = {{250, 5.5, 0.97, 2000, 0, 0.99, 0.125},
                        {500, 11, 0.98, 10000, 0, std::nullopt, 0.5, "train", "averages"}};
  EXPECT_EQ(
      Json::parse(to_json(result))["evaluations"].dump(),
      R"([{"step":250,"seconds":5.5,"subset":"test","of":"parameters",)"
      R"("precision_at_1":0.97,"recall_at_5":0.99,"loss":0.125,"examples":2000,"left_out_examples":0},)"
      R"({"step":500,"seconds":11.0,"subset":"train","of":"averages",)"
      R"("precision_at_1":0.98,"recall_at_5":null,"loss":0.5,"examples":10000,"left_out_examples":0}])");
}

TEST(ResultJson, HasThePlansOfWorkersOnDevices) {
  RunResult result;
  result.plans = {{{"worker0", "worker1"}, "NVIDIA H200", {"cuDNN engine 5", "another"}}};
  EXPECT_EQ(Json::parse(to_json(result))["plans"].dump(),
            R"([{"workers":["worker0","worker1"],"device":"NVIDIA H200",)"
            R"("plans":["cuDNN engine 5","another"]}])");
}

TEST(ResultJson, IsNullWhereNothingWasMeasured) {
  RunResult result;
  result.seconds = std::nan("");
  const Json json = Json::parse(to_json(result));
  EXPECT_TRUE(json["loss"].is_null());
  EXPECT_TRUE(json["seconds"].is_null());
}

TEST(ResultJson, OfAFailedRunHasACauseEvenInBytesThatAreNotUtf8) {
  RunResult result;
  result.exit = 1;
  result.cause = "worker0 said \xFF";
  EXPECT_THAT(Json::parse(to_json(result))["cause"].get<std::string>(), HasSubstr("worker0 said"));
}

TEST(ResultJson, OfAProgramsActorsSaysHowEachEndedAndNothingOfTraining) {
  RunResult result;
  result.run = "run";
  result.seconds = 1.5;
  result.security = "token";
  result.transport = "ipc";
  result.awaited = {"adder"};
  result.actors = {{"adder", "adder", "a", "dead", "killed"},
                   {"counter", "counter", "b", "done", ""}};
  EXPECT_EQ(to_json(result),
            R"({"format":1,"run":"run","exit":0,"seconds":1.5,"security":"token",)"
            R"("transport":"ipc","awaited":["adder"],"actors":[)"
            R"({"name":"adder","type":"adder","host":"a","end":"dead","cause":"killed"},)"
            R"({"name":"counter","type":"counter","host":"b","end":"done"}]})");
}

TEST(Metrics, BeginWithTheFormatAndTheRun) {
  EXPECT_EQ(metrics_header("runs/x", 1.5),
            R"({"format":1,"kind":"run","run":"runs/x","time":1.5})");
}

TEST(Metrics, OfAStepAreALineOfTheirKind) {
  StepMetrics step;
  step.step = 3;
  step.loss = 0.5;
  step.decay_loss = 0.25;
  step.examples = 96;
  step.bits_up = 2;
  step.nonzero = 0.25;
  step.readers = {{"reader0", 410.5, 2}};
  EXPECT_EQ(
      to_json(step),
      R"({"kind":"step","step":3,"seconds":0.0,"loss":0.5,"decay_loss":0.25,"learning_rate":0.0,)"
      R"("examples_per_second":0.0,"examples":96,"bytes_up":0,"bytes_down":0,"coded_bytes_up":0,"coded_bytes_down":0,"bits_up":2.0,"bits_down":null,"nonzero":0.25,)"
      R"("saturated":null,"staleness":null,"data_wait":null,"readers":[)"
      R"({"reader":"reader0","pictures_per_second":410.5,"threads":2}]})");
}

TEST(Metrics, OfALossAreALineOfTheirKind) {
  EXPECT_EQ(to_json(LossMetrics{.step = 3, .loss = 0.5, .decay_loss = 0.25}),
            R"({"kind":"loss","step":3,"loss":0.5,"decay_loss":0.25})");
  EXPECT_EQ(to_json(LossMetrics{.step = 3, .rank = 1, .loss = 0.5}),
            R"({"kind":"loss","step":3,"rank":1,"loss":0.5,"decay_loss":0.0})");
}

TEST(Metrics, OfARestartAreALineOfTheirKind) {
  EXPECT_EQ(
      to_json(Restart{.step = 20, .steps_again = 5, .seconds = {}, .cause = "worker1 died"}, 1.5),
      R"({"kind":"restart","step":20,"steps_again":5,"cause":"worker1 died","time":1.5})");
}

TEST(Metrics, OfAnEvaluationAreALineOfTheirKind) {
  EXPECT_EQ(
      to_json(EvaluationResult{250, 5.5, 0.97, 2000}),
      R"({"kind":"evaluation","step":250,"seconds":5.5,"subset":"test","of":"parameters",)"
      R"("precision_at_1":0.97,"recall_at_5":null,"loss":0.0,"examples":2000,"left_out_examples":0})");
}

TEST(Metrics, OfATensorAreALineOfTheirKind) {
  TensorMetrics tensor;
  tensor.tensor = "fc.weight";
  tensor.codec = "ternary";
  tensor.elements = 512;
  tensor.bits_up = 2;
  EXPECT_EQ(to_json(tensor),
            R"({"kind":"tensor","tensor":"fc.weight","codec":"ternary","elements":512,)"
            R"("bits_up":2.0,"bits_down":null,"ratio":null,"nonzero":null,"saturated":null,)"
            R"("encode_seconds":null,"decode_seconds":null,"exchange_seconds":null})");
}

}  // namespace
}  // namespace sterna::launcher
