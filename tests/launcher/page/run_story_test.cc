#include "launcher/page/run_story.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sterna::launcher {
namespace {

Json loss(int step, double value, double decay = 0) {
  return {{"kind", "loss"}, {"step", step}, {"loss", value}, {"decay_loss", decay}};
}
Json step(int at, double seconds, int up, int down) {
  return {{"kind", "step"}, {"step", at},         {"seconds", seconds},
          {"bytes_up", up}, {"bytes_down", down}, {"learning_rate", 0.1}};
}
Json evaluation(int at, double precision) {
  return {{"kind", "evaluation"},
          {"step", at},
          {"precision_at_1", precision},
          {"subset", "test"},
          {"of", "parameters"}};
}

TEST(RunStory, TellsEachLossOnceAndAllOfThemAgain) {
  RunStory story;
  EXPECT_EQ(story.news(), std::nullopt);
  story.take(loss(1, 2.5, 0.5));
  story.take(loss(2, 2));
  EXPECT_EQ(*story.news(), Json::parse(R"({"loss":[[1,2.5,2.5,2.5,0.5],[2,2.0,2.0,2.0,0.0]]})"));
  EXPECT_EQ(story.news(), std::nullopt);
  story.take(loss(3, 1));
  EXPECT_EQ(story.news()->at("loss").size(), 1U);
  EXPECT_EQ(story.all()["loss"].size(), 3U);
}

TEST(RunStory, OfManyStepsKeepsTheLowestTheMeanAndTheHighest) {
  RunStory story;
  const int steps = 4 * static_cast<int>(LossBand::kMost);
  for (int i = 1; i <= steps; ++i) story.take(loss(i, i % 2));
  const Json points = story.all()["loss"];
  ASSERT_GT(points.size(), LossBand::kMost / 2 - 1);
  ASSERT_LE(points.size(), LossBand::kMost);
  for (const Json& point : points) {
    EXPECT_EQ(point[1], 0);
    EXPECT_EQ(point[2], 0.5);
    EXPECT_EQ(point[3], 1);
  }
  EXPECT_EQ(points.back()[0], steps);
}

TEST(RunStory, StepsAreFewAndEndWithTheLast) {
  RunStory story;
  for (int i = 1; i <= 5001; ++i) story.take(step(i, 0.1 * i, 100 * i, 10 * i));
  const Json steps = story.all()["steps"];
  EXPECT_LE(steps.size(), RunStory::kMostSteps);
  EXPECT_EQ(steps.back()[0], 5001);
  EXPECT_EQ(steps.back()[2], 5001 * 110);
  EXPECT_EQ(steps.back()[3], 0.1);
  EXPECT_EQ(steps.back()[5], nullptr) << "bits that nobody told";
}

TEST(RunStory, AnEvaluationLiesAtTheBytesAndSecondsOfItsStep) {
  RunStory story;
  story.take(step(10, 1, 1000, 0));
  story.take(step(20, 3, 2000, 1000));
  story.take(evaluation(15, 0.75));
  const Json told = story.news()->at("evaluations")[0];
  EXPECT_EQ(told["seconds"], 2);
  EXPECT_EQ(told["bytes"], 2000);
  EXPECT_EQ(told["precision_at_1"], 0.75);
  EXPECT_EQ(told["recall_at_5"], nullptr);
}

TEST(RunStory, OfARunThatGoesOnCountsFromWhereItBegan) {
  RunStory story;
  EXPECT_EQ(story.all()["begins"], 0);
  story.take(loss(1001, 2));
  story.take(step(1010, 1, 1000, 1000));
  story.take(evaluation(1005, 0.75));
  EXPECT_EQ(story.all()["begins"], 1000);
  const Json news = *story.news();
  EXPECT_EQ(news["begins"], 1000);
  EXPECT_EQ(news["evaluations"][0]["bytes"], 1000);
  EXPECT_EQ(news["evaluations"][0]["seconds"], 0.5);
  story.take(loss(1002, 2));
  EXPECT_FALSE(story.news()->contains("begins"));
}

TEST(RunStory, AfterARestartWhatWasDoneAgainIsNotThereTwice) {
  RunStory story;
  for (int i = 1; i <= 30; ++i) {
    story.take(loss(i, 1));
    story.take(step(i, i, 100 * i, 0));
  }
  story.take(evaluation(10, 0.5));
  story.take(evaluation(30, 0.6));
  EXPECT_FALSE(story.begins_anew());
  story.take({{"kind", "restart"}, {"step", 20}, {"cause", "worker0: killed by signal 9"}});
  EXPECT_TRUE(story.begins_anew());
  EXPECT_FALSE(story.begins_anew());
  const Json all = story.all();
  EXPECT_EQ(all["loss"].back()[0], 20);
  EXPECT_EQ(all["evaluations"].size(), 1U);
  story.take(step(21, 1, 100, 0));  // its seconds and bytes are counted from 0
  EXPECT_EQ(story.all()["steps"].back()[1], 21);
  EXPECT_EQ(story.all()["steps"].back()[2], 2100);
}

TEST(RunStory, TensorsAreThoseOfTheLastAttemptAndToldAgain) {
  RunStory story;
  const Json tensor = {{"kind", "tensor"}, {"tensor", "fc1"}, {"elements", 7}};
  story.take(tensor);
  EXPECT_EQ(story.news()->at("tensors").size(), 1U);
  story.take({{"kind", "restart"}, {"step", 20}});
  EXPECT_EQ(story.all()["tensors"].size(), 0U);
  story.take(tensor);
  EXPECT_EQ(story.all()["tensors"].size(), 1U);
  EXPECT_EQ(story.news()->at("tensors").size(), 1U);
}

TEST(RunStory, OfATensorOnlyWhatIsKnownIsKeptAndItsNumbersAreNumbers) {
  RunStory story;
  Json deep = 1;
  for (int i = 0; i < 100; ++i) deep = Json::array({std::move(deep)});
  story.take({{"kind", "tensor"},
              {"tensor", "fc1"},
              {"elements", 7},
              {"ratio", "much"},
              {"bits_up", std::move(deep)},
              {"other", 1}});
  const Json told = story.all()["tensors"][0];
  EXPECT_EQ(told["tensor"], "fc1");
  EXPECT_EQ(told["elements"], 7);
  EXPECT_EQ(told["ratio"], nullptr);
  EXPECT_EQ(told["bits_up"], nullptr);
  EXPECT_FALSE(told.contains("other"));
}

TEST(RunStory, WhatIsNoLineOfMetricsIsPassedOver) {
  RunStory story;
  for (const char* text :
       {R"({})", R"({"kind":7,"step":1})", R"({"kind":"loss","step":-1,"loss":1})",
        R"({"kind":"loss","step":1e300,"loss":1})", R"({"kind":"loss","step":1,"loss":"x"})",
        R"({"kind":"unheard of","step":1})", R"([])", R"("loss")"}) {
    story.take(Json::parse(text));
  }
  EXPECT_EQ(story.news(), std::nullopt);
}

TEST(RunStory, WhatNoNumberCanSayIsNull) {
  RunStory story;
  story.take(loss(1, std::numeric_limits<double>::infinity()));
  EXPECT_EQ(story.all()["loss"][0][2], nullptr);
}

TEST(RunStory, HoldsSoManyTensorsAndNoMore) {
  RunStory story;
  for (int i = 0; i < 3000; ++i) story.take({{"kind", "tensor"}, {"tensor", "t"}});
  EXPECT_EQ(story.all()["tensors"].size(), RunStory::kMostTensors);
}

TEST(RunStory, OfManyEvaluationsKeepsTheFirstTheLastAndSomeBetweenOfEachSubset) {
  RunStory story;
  Json train = evaluation(0, 0.5);
  train["subset"] = "train";
  constexpr int kEvaluations = 3001;
  int anew = 0;
  for (int i = 0; i < kEvaluations; ++i) {
    story.take(evaluation(i, 0.25));
    if (i % 10 == 0) {
      train["step"] = i;
      story.take(train);
    }
    const std::optional<Json> news = story.news();
    if (story.begins_anew()) {
      ++anew;
      EXPECT_EQ(story.all()["evaluations"].back()["step"], i);
    } else {
      ASSERT_TRUE(news) << i;
      EXPECT_EQ(news->at("evaluations").back()["step"], i);
    }
  }
  EXPECT_GT(anew, 0) << "a page has those that were left out";
  std::map<std::string, std::vector<int>> steps;
  const Json all = story.all()["evaluations"];
  EXPECT_LE(all.size(), RunStory::kMostEvaluations);
  for (const Json& one : all) steps[one["subset"]].push_back(one["step"]);
  for (const auto& [subset, kept] : steps) {
    const int apart = kept[1] - kept[0];
    EXPECT_EQ(kept.front(), 0) << subset;
    EXPECT_EQ(kept.back(), kEvaluations - 1) << subset;
    EXPECT_GE(kept.size(), subset == "test" ? 256U : 32U);
    for (std::size_t i = 1; i + 1 < kept.size(); ++i) EXPECT_EQ(kept[i] - kept[i - 1], apart);
  }
}

TEST(RunStory, OfMoreSubsetsThanAnyRunHasTheNewestAreKept) {
  RunStory story;
  Json one = evaluation(0, 0.5);
  for (int i = 0; i < 10'000; ++i) {
    one["subset"] = std::to_string(i);
    story.take(one);
  }
  const Json all = story.all()["evaluations"];
  EXPECT_LE(all.size(), RunStory::kMostEvaluations);
  EXPECT_EQ(all.back()["subset"], "9999");
}

}  // namespace
}  // namespace sterna::launcher
