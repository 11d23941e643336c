#include "launcher/page/run_story.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

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
  EXPECT_EQ(all["restarts"][0]["cause"], "worker0: killed by signal 9");
  story.take(step(21, 1, 100, 0));  // its seconds and bytes are counted from 0
  EXPECT_EQ(story.all()["steps"].back()[1], 21);
  EXPECT_EQ(story.all()["steps"].back()[2], 2100);
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

TEST(RunStory, HoldsSoManyTensorsAndEvaluationsAndNoMore) {
  RunStory story;
  for (int i = 0; i < 3000; ++i) {
    story.take({{"kind", "tensor"}, {"tensor", "t"}});
    story.take(evaluation(i, 0.5));
  }
  EXPECT_EQ(story.all()["tensors"].size(), RunStory::kMostTensors);
  EXPECT_EQ(story.all()["evaluations"].size(), RunStory::kMostEvaluations);
}

}  // namespace
}  // namespace sterna::launcher
