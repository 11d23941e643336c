#include "launcher/record/steps/step_totals.h"

#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

StepTotals::Counts counts(double seconds, double bytes) {
  return {.seconds = seconds,
          .bytes_up = bytes,
          .bytes_down = 10 * bytes,
          .coded_bytes_up = bytes / 2,
          .examples = bytes};
}

TEST(StepTotals, AreEachWorkersAtTheStepAndTheSecondsOfTheLast) {
  StepTotals totals(0);
  totals.add("a", 10, counts(1, 100));
  totals.add("b", 4, counts(2, 40));
  totals.add("b", 8, counts(4, 80));
  const StepTotals::Counts six = totals.at(6);
  EXPECT_DOUBLE_EQ(six.bytes_up, 60 + 60);
  EXPECT_DOUBLE_EQ(six.bytes_down, 1200);
  EXPECT_DOUBLE_EQ(six.examples, 120);
  EXPECT_DOUBLE_EQ(six.coded_bytes_up, 60);
  EXPECT_DOUBLE_EQ(six.seconds, 3);
  EXPECT_DOUBLE_EQ(totals.at(8).bytes_up, 80 + 80);
}

TEST(StepTotals, BeginAtTheCheckpointsStep) {
  StepTotals totals(100);
  totals.add("a", 104, counts(1, 40));
  EXPECT_DOUBLE_EQ(totals.at(102).bytes_up, 20);
}

TEST(StepTotals, OfALostWorkerAreWhatItToldLast) {
  StepTotals totals(0);
  totals.add("lost", 5, counts(1, 50));
  totals.add("b", 20, counts(4, 200));
  EXPECT_DOUBLE_EQ(totals.at(20).bytes_up, 250);
  EXPECT_DOUBLE_EQ(totals.at(20).seconds, 4);
}

TEST(StepTotals, OfAWorkerThatComesAgainCountWhatItDoesAgain) {
  StepTotals totals(0);
  totals.add("a", 10, counts(1, 100));
  totals.add("a", 6, counts(2, 130));
  totals.add("a", 10, counts(3, 170));
  EXPECT_DOUBLE_EQ(totals.at(10).bytes_up, 170);
}

TEST(StepTotals, WhileOneIsSlowWhatOthersToldGetsThinAndStaysInProportion) {
  StepTotals totals(0);
  totals.add("slow", 1, counts(1, 10));
  constexpr std::uint64_t kSteps = 5000;
  for (std::uint64_t step = 1; step <= kSteps; ++step) {
    const auto all = static_cast<double>(step);
    totals.add("fast", step, counts(all, 10 * all));
  }
  totals.add("slow", kSteps, counts(kSteps, 10 * kSteps));
  for (const std::uint64_t step : {1U, 7U, 2500U, 4999U}) {
    EXPECT_NEAR(totals.at(step).bytes_up, 20 * static_cast<double>(step), 1e-6) << step;
  }
}

}  // namespace
}  // namespace sterna::launcher
