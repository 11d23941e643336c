#include "launcher/plots/mean_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(MeanCurve, OfOneRunIsTheRunWithoutABand) {
  const PlotCurve curve = mean_curve({{{1, 10, 0.5}, {2, 20, 0.75}}});
  EXPECT_THAT(curve.x, ElementsAre(10, 20));
  EXPECT_THAT(curve.mean, ElementsAre(0.5, 0.75));
  EXPECT_THAT(curve.low, IsEmpty());
  EXPECT_THAT(curve.high, IsEmpty());
}

TEST(MeanCurve, GoesAsFarAsAnyRunAndIsTheMeanOfThoseThatHaveComeSoFar) {
  const std::vector<RunPoints> runs = {{{1, 1, 8}, {2, 2, 6}}, {{1, 1, 4}, {2, 2, 4}, {3, 3, 3}}};
  const PlotCurve curve = mean_curve(runs);
  EXPECT_THAT(curve.x, ElementsAre(1, 2, 3));
  EXPECT_THAT(curve.mean, ElementsAre(6, 5, 3));
  EXPECT_THAT(curve.low, ElementsAre(4, 4, 3));
  EXPECT_THAT(curve.high, ElementsAre(8, 6, 3));
  EXPECT_EQ(runs_text(runs, 2), "2 runs, 1 of them to the end");
  EXPECT_EQ(runs_text({runs[0], runs[0]}, 2), "2 runs");
  EXPECT_EQ(runs_text(runs, 1), "2 runs of 1 seed, 1 of them to the end");
  EXPECT_THAT(curve.runs, ElementsAre(2, 2, 1));
  EXPECT_THAT(curve.deviation,
              ElementsAre(testing::DoubleEq(std::sqrt(8)), testing::DoubleEq(std::sqrt(2)), 0));
}

TEST(MeanCurve, ARunIsBetweenItsPointsInProportionAndNowhereBeyondThem) {
  const PlotCurve curve =
      mean_curve({{{10, 10, 1}, {42, 42, 5}}, {{6, 6, 9}, {22, 22, 5}, {62, 62, 0}}});
  EXPECT_THAT(curve.x, ElementsAre(6, 10, 22, 42, 62));
  EXPECT_THAT(curve.mean, ElementsAre(9, 4.5, 3.75, 3.75, 0));
  EXPECT_THAT(curve.low, ElementsAre(9, 1, 2.5, 2.5, 0));
  EXPECT_THAT(curve.high, ElementsAre(9, 8, 5, 5, 0));
}

TEST(MeanCurve, WhatWasMeasuredOnOtherExamplesThanMostIsAMark) {
  const PlotCurve curve = mean_curve(
      {{{1, 1, 0.5, 20}, {2, 2, 0.5, 20}, {3, 3, 0.25, 100}, {4, 4, 0.75, 20}, {6, 6, 1, 100}}});
  EXPECT_THAT(curve.x, ElementsAre(1, 2, 4));
  ASSERT_EQ(curve.marks.size(), 2U);
  EXPECT_EQ(curve.marks[0].x, 3);
  EXPECT_EQ(curve.marks[1].mean, 1);
  EXPECT_EQ(mean_curve({{{1, 1, 0.5, 20}, {2, 2, 1, 100}}}).examples, 20) << "of as many the fewer";
  EXPECT_THAT(mean_curve({{{2, 2, 1, 100}}}).marks, IsEmpty());
}

TEST(MeanCurve, AStepWhoseLineOneRunLostIsLeftOut) {
  const PlotCurve curve = mean_curve(
      {{{1, 1, 4}, {2, 2, 9}, {3, 3, 2}}, {{1, 1, 4}, {3, 3, 2}}, {{1, 1, 4}, {2, 2, 9}}});
  EXPECT_THAT(curve.x, ElementsAre(1, 3));
  EXPECT_THAT(curve.low, ElementsAre(4, 2));
  EXPECT_THAT(curve.high, ElementsAre(4, 2));
}

TEST(MeanCurve, WhereASlowRunEndsItsSecondsGoOnAsThoseOfTheOthers) {
  const PlotCurve curve = mean_curve({{{1, 100, 2}, {2, 200, 2}},
                                      {{1, 1, 4}, {2, 2, 4}, {3, 3, 4}},
                                      {{1, 3, 6}, {2, 6, 6}, {3, 9, 6}}});
  EXPECT_THAT(curve.x, ElementsAre(2, 4, 6)) << "of the two that go to the end";
  EXPECT_THAT(curve.mean, ElementsAre(4, 4, 5));
  EXPECT_THAT(curve.gaps, IsEmpty());
}

TEST(MeanCurve, ARunThatGoesOnFromAnothersCheckpointWithAClockOfItsOwnIsAPartOfItsOwn) {
  const PlotCurve curve = mean_curve({{{1, 10, 4}, {2, 20, 3}}, {{3, 5, 2}, {4, 15, 1}}});
  EXPECT_THAT(curve.x, ElementsAre(10, 20, 5, 15));
  EXPECT_THAT(curve.gaps, ElementsAre(2));
  EXPECT_THAT(mean_curve({{{1, 1, 4}, {2, 2, 3}}, {{3, 3, 2}, {4, 4, 1}}}).gaps, IsEmpty())
      << "over steps it goes on";
}

}  // namespace
}  // namespace sterna::launcher
