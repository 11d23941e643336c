// What ranks do by themselves between exchanges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "actors/schemes/scheme.h"

namespace sterna::actors {
namespace {

using testing::ElementsAre;

/// One tensor of four numbers.
class LocalStepsTest : public testing::Test {
 protected:
  LocalStepsTest() {
    job.steps = 100;
    job.ranks = 2;
    job.local_optimizer.name = "gd";
    job.local_optimizer.learning_rate = 0.5;
    nets::ParameterSpec spec;
    spec.name = "t";
    spec.shape = {4};
    spec.decay = true;
    table = std::make_shared<const ParameterTable>(std::vector{spec}, job, 1);
  }
  std::unique_ptr<LocalSteps> steps(const char* name, std::uint64_t window = 1) {
    job.scheme.name = name;
    job.scheme.window = window;
    return find_scheme(name).value().local_steps(job, 0, table).value();
  }

  JobConfig job;
  std::shared_ptr<const ParameterTable> table;
};

TEST_F(LocalStepsTest, AWindowPushesWhatItsGradientsOrItsStepsComeTo) {
  const std::vector<float> theirs = {1, 2, 3, 4};
  const std::vector<float> g = {1, 0, -1, 2};
  const auto pushed = [&](const char* name) {
    std::vector<float> w(4);
    const auto local = steps(name, 2);
    local->came(table->chunks[0], theirs, w);
    local->begin({.step = 0, .pushes = false});
    EXPECT_TRUE(local->gradient(0, g, w).empty());
    local->begin({.step = 1});
    const std::span<const float> push = local->gradient(0, g, w);
    EXPECT_THAT(w, ElementsAre(0, 2, 4, 2)) << "both steps are made";
    return std::vector<float>(push.begin(), push.end());
  };
  EXPECT_THAT(pushed("downpour"), ElementsAre(2, 0, -2, 4));
  EXPECT_THAT(pushed("agn"), ElementsAre(1, 0, -1, 2));
  EXPECT_THAT(pushed("local_sgd"), ElementsAre(-1, 0, 1, -2));
}

TEST_F(LocalStepsTest, ARankHasARateOfItsOwn) {
  job.scheme.rank_rates = {0.25, 1};
  std::vector<float> w(4);
  const auto local = steps("agn", 2);
  local->came(table->chunks[0], std::vector<float>{1, 1, 1, 1}, w);
  local->begin({.step = 0, .pushes = false});
  local->gradient(0, std::vector<float>{1, 2, 4, 8}, w);
  EXPECT_THAT(w, ElementsAre(0.875F, 0.75F, 0.5F, 0));
}

TEST_F(LocalStepsTest, AnOptimizerThatDecaysByItselfDoesWhereParametersArePushed) {
  job.local_optimizer.name = "adamw";
  job.optimizer.weight_decay = 0.5;
  const std::vector<float> none(4);
  for (const char* name : {"local_sgd", "aeasgd", "agn"}) {
    std::vector<float> w(4);
    const auto local = steps(name, 2);
    local->came(table->chunks[0], std::vector<float>{1, 2, 3, 4}, w);
    local->begin({.step = 0, .pushes = false});
    local->gradient(0, none, w);
    if (name == std::string("agn")) {
      EXPECT_THAT(w, ElementsAre(1, 2, 3, 4)) << "else none of it would come to the servers";
    } else {
      EXPECT_THAT(w, ElementsAre(0.75F, 1.5F, 2.25F, 3)) << name;
    }
  }
}

TEST_F(LocalStepsTest, AnElasticRanksStatisticsAreTheMeanOfAllSinceItsLastPush) {
  nets::ParameterSpec spec;
  spec.name = "s";
  spec.shape = {2};
  spec.role = nets::Role::statistic;
  table = std::make_shared<const ParameterTable>(std::vector{spec}, job, 1);
  std::vector<float> w(2);
  const auto first = steps("aeasgd", 2);
  const auto take = [&](LocalSteps& local, std::vector<float> g, bool pushes) {
    local.begin({.pushes = pushes});
    const std::span<const float> push = local.gradient(0, g, w);
    return std::vector<float>(push.begin(), push.end());
  };
  EXPECT_THAT(take(*first, {1, 2}, false), ElementsAre());
  EXPECT_THAT(take(*first, {3, 6}, true), ElementsAre(2, 4));
  EXPECT_THAT(take(*first, {4, 4}, false), ElementsAre());
  // Another that goes on from what this one has kept.
  const auto second = steps("aeasgd", 2);
  const std::vector<KeptArray> from = first->kept();
  const std::vector<KeptArray> to = second->kept();
  ASSERT_EQ(from.size(), 1U);
  ASSERT_EQ(to.size(), 1U);
  EXPECT_TRUE(to[0].optional);
  std::ranges::copy(from[0].values, to[0].values.begin());
  EXPECT_THAT(take(*second, {6, 0}, true), ElementsAre(5, 2));
}

TEST_F(LocalStepsTest, WhatServersAddAnElasticRankTakesOffSoThatTheSumStays) {
  job.scheme.moving_rate = 0.3;
  for (const char* name : {"aeasgd", "aeamsgd"}) {
    std::vector<float> center = {1, 2, 3, 4};
    std::vector<float> w(4);
    const auto local = steps(name, 1);
    local->came(table->chunks[0], center, w);
    EXPECT_EQ(w, center);
    const std::vector<float> none(4);
    local->begin({.step = 0, .pushes = false});
    local->gradient(0, std::vector<float>{2, -2, 6, -8}, w);
    double before = 0;
    for (std::size_t i = 0; i < 4; ++i) before += center[i];
    // aeamsgd's net has x + delta v: its velocity comes to rest first.
    for (std::uint64_t step = 1; step < 400; ++step) {
      local->begin({.step = step, .pushes = false});
      local->gradient(0, none, w);
    }
    const double moved = std::accumulate(w.begin(), w.end(), before);
    for (std::uint64_t step = 400; step < 420; ++step) {
      local->came(table->chunks[0], center, w);
      local->begin({.step = step});
      const std::span<const float> e = local->gradient(0, none, w);
      std::vector<float> sent;  // as some codec has it
      for (const float one : e) sent.push_back(one > 0.05F ? 0.25F : one < -0.05F ? -0.25F : 0);
      local->sent(table->chunks[0], sent, w);
      for (std::size_t i = 0; i < 4; ++i) center[i] += sent[i];
    }
    const double sum = std::accumulate(w.begin(), w.end(), 0.0) +
                       std::accumulate(center.begin(), center.end(), 0.0);
    EXPECT_NEAR(sum, moved, 1e-5) << name;
    EXPECT_NE(center, (std::vector<float>{1, 2, 3, 4})) << name;
  }
}

}  // namespace
}  // namespace sterna::actors
