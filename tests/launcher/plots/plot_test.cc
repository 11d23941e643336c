#include "launcher/plots/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sterna::launcher {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::Le;

std::vector<std::string> texts(const PlotAxis& axis) {
  std::vector<std::string> all;
  for (const PlotTick& tick : axis.ticks) all.push_back(tick.text);
  return all;
}

TEST(PlotAxis, EndsAndTicksAreRoundAndHoldAllValues) {
  const PlotAxis axis = plot_axis({0.871, 0.993, 0.9}, false);
  EXPECT_DOUBLE_EQ(axis.first, 0.86);
  EXPECT_DOUBLE_EQ(axis.last, 1.0);
  EXPECT_THAT(texts(axis), ElementsAre("0.86", "0.88", "0.9", "0.92", "0.94", "0.96", "0.98", "1"));
  EXPECT_THAT(texts(plot_axis({0, 2'000'000}, false)),
              ElementsAre("0", "500k", "1M", "1.5M", "2M"));
}

TEST(PlotAxis, OfALogarithmHasDecades) {
  const PlotAxis axis = plot_axis({0, 3e6, 4e9}, true);
  EXPECT_THAT(texts(axis), ElementsAre("1M", "10M", "100M", "1G", "10G"));
  EXPECT_DOUBLE_EQ(axis.part(1e6), 0);
  EXPECT_DOUBLE_EQ(axis.part(1e8), 0.5);
}

TEST(PlotAxis, OfALogarithmOverFewDecadesHasOneTwoAndFive) {
  EXPECT_THAT(texts(plot_axis({3.1e6, 4e7}, true)), ElementsAre("2M", "5M", "10M", "20M", "50M"));
  EXPECT_THAT(texts(plot_axis({0.02, 0.09}, true)), ElementsAre("0.02", "0.05", "0.1"));
  EXPECT_THAT(texts(plot_axis({1, 999}, true)).size(), 10U);
  const PlotAxis axis = plot_axis({20, 50}, true);
  EXPECT_DOUBLE_EQ(axis.first, 20);
  EXPECT_DOUBLE_EQ(axis.last, 50);
}

TEST(PlotAxis, OfOneValueOrNoneIsAnAxis) {
  for (const bool log : {false, true}) {
    for (const auto& values : {std::vector<double>{}, {5.0}, {0.0}, {-3.0}}) {
      const PlotAxis axis = plot_axis(values, log);
      EXPECT_LT(axis.first, axis.last);
      EXPECT_GE(axis.ticks.size(), 2U);
      EXPECT_LE(axis.ticks.size(), 12U);
    }
  }
}

TEST(PlotAxis, HasFewTicksOverAnyRange) {
  for (const double scale : {1e-9, 0.37, 1.0, 123.0, 9.99e11}) {
    for (const double width : {1e-3, 0.5, 1.0, 17.0}) {
      const PlotAxis axis = plot_axis({scale, scale * (1 + width)}, false);
      EXPECT_THAT(axis.ticks.size(), AllOf(Ge(3U), Le(12U))) << scale << " " << width;
      EXPECT_LE(axis.first, scale * (1 + 1e-9));
      EXPECT_GE(axis.last, scale * (1 + width) * (1 - 1e-9));
    }
  }
}

TEST(PlotFrame, HoldsMarks) {
  const Plot plot{.curves = {{.label = "a",
                              .x = {0, 10},
                              .mean = {0, 1},
                              .marks = {{.x = 20, .mean = 2, .low = 1.5, .high = 3}}}}};
  const PlotFrame frame(plot);
  EXPECT_DOUBLE_EQ(frame.x.last, 20);
  EXPECT_DOUBLE_EQ(frame.y.last, 3);
}

TEST(PlotFrame, PutsTheLeastLowerLeftAndTheMostUpperRight) {
  const Plot plot{.curves = {{.label = "a", .x = {0, 10}, .mean = {0, 1}}}};
  const PlotFrame frame(plot);
  EXPECT_DOUBLE_EQ(frame.x_of(0), PlotFrame::kLeft);
  EXPECT_DOUBLE_EQ(frame.x_of(10), PlotFrame::kWidth - PlotFrame::kRight);
  EXPECT_DOUBLE_EQ(frame.y_of(0), PlotFrame::kHeight - PlotFrame::kBottom);
  EXPECT_DOUBLE_EQ(frame.y_of(1), PlotFrame::kTop);
}

}  // namespace
}  // namespace sterna::launcher
