// What `sterna bench exchange` makes of its measurements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/bench/exchange/exchange_figures.h"

namespace sterna::launcher {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

ExchangeRound round(const std::string& link, double fp32, double fresh, double last_step) {
  ExchangeRound round;
  round.raw = {100e6, 110e6};
  for (const auto& [name, seconds] :
       {std::pair{"fp32", fp32}, std::pair{"fresh", fresh}, std::pair{"last_step", last_step}}) {
    ExchangeStep step;
    step.seconds = seconds;
    step.card_bytes = 5.5e6;
    step.bits_up_ternarized = 2.01;
    round.steps[link].push_back({name, step});
  }
  return round;
}

TEST(ExchangeFigures, AreTheMediansOfRatiosWithinARound) {
  const Figures figures = figures_of(
      {round("link", 1, 0.1, 0.05), round("link", 4, 0.2, 0.2), round("link", 1.5, 0.1, 0.1)});
  EXPECT_DOUBLE_EQ(figures.at("speedup_over_fp32.fresh"), 15);
  EXPECT_DOUBLE_EQ(figures.at("speedup_over_fp32.last_step"), 20);
  EXPECT_DOUBLE_EQ(figures.at("step_seconds.link.fp32"), 1.5);
  EXPECT_DOUBLE_EQ(figures.at("bits_up_ternarized"), 2.01);
  EXPECT_FALSE(figures.contains("speedup_over_gloo"));
}

TEST(ExchangeFigures, HoldAStepAgainstWhatRawSocketsNeedForItsBytes) {
  const Figures figures = figures_of({round("link", 1, 0.1, 0.06)});
  EXPECT_NEAR(figures.at("wall_over_wire.last_step"), 1.2, 1e-12);
  EXPECT_NEAR(figures.at("wall_over_wire.fresh"), 2, 1e-12);
  EXPECT_DOUBLE_EQ(figures.at("raw_goodput"), 100e6);
}

TEST(ExchangeFigures, CompareWithinTheMachineByTime) {
  const Figures figures = figures_of({round("ipc", 0.2, 0.3, 0.15)});
  EXPECT_DOUBLE_EQ(figures.at("ternary_over_fp32_time.ipc"), 0.75);
  EXPECT_FALSE(figures.contains("wall_over_wire.fresh"));
}

TEST(ExchangeFigures, CompareWithNothingWhereFp32WasNotRun) {
  ExchangeRound alone = round("link", 1, 0.1, 0.05);
  alone.steps["link"].erase(alone.steps["link"].begin());
  const Figures figures = figures_of({alone});
  EXPECT_FALSE(figures.contains("speedup_over_fp32.last_step"));
  EXPECT_DOUBLE_EQ(figures.at("wall_over_wire.last_step"), 1);
}

TEST(ExchangeFigures, HoldAutoAgainstTheFastestOfEachRound) {
  const auto with_auto = [](ExchangeRound one, double seconds) {
    ExchangeStep step;
    step.seconds = seconds;
    one.steps.begin()->second.push_back({"auto", step});
    return one;
  };
  ExchangeRound both = with_auto(round("ipc", 2, 3, 4), 2.1);
  both.steps["tcp"] = with_auto(round("tcp", 1, 0.5, 0.4), 0.6).steps["tcp"];
  const Figures figures = figures_of({both});
  EXPECT_DOUBLE_EQ(figures.at("auto_over_best.ipc"), 1.05);
  EXPECT_DOUBLE_EQ(figures.at("auto_over_best.tcp"), 1.5);
  EXPECT_DOUBLE_EQ(figures.at("auto_over_best"), 1.5) << "the worst of its links";
  EXPECT_FALSE(figures_of({round("ipc", 2, 3, 4)}).contains("auto_over_best"));
}

TEST(ExchangeFigures, AreATableForPeople) {
  const std::vector<ExchangeRound> rounds = {round("link", 1, 0.1, 0.05)};
  Figures figures = figures_of(rounds);
  figures.insert({{"read_gbps", 10}, {"memcpy_gbps", 8}, {"net_step_seconds", 1e-4}});
  const std::vector<std::string> lines = lines_of(rounds, figures);
  EXPECT_THAT(lines, Contains(HasSubstr("time over wire's")));
  EXPECT_THAT(lines, Contains(testing::ContainsRegex("last_step +50.00 +20.00")));
}

}  // namespace
}  // namespace sterna::launcher
