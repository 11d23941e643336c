#include "launcher/plots/curves_csv.h"

#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

TEST(CurvesCsv, HasALineAPointAndThenTheMarks) {
  const Plot plot{
      .curves = {
          {.label = "lone \"a\", b", .x = {10, 20}, .mean = {0.25, 0.1}},
          {.label = "two",
           .x = {10},
           .mean = {0.5},
           .low = {0.25},
           .high = {0.75},
           .runs = {2},
           .deviation = {0.125},
           .examples = 2000,
           .marks = {{.x = 30, .mean = 0.875, .low = 0.875, .high = 0.875, .examples = 10000}}}}};
  EXPECT_EQ(curves_csv(plot),
            "label,x,mean,lowest,highest,runs,deviation,examples\n"
            "\"lone \"\"a\"\", b\",10,0.25,0.25,0.25,1,,\n"
            "\"lone \"\"a\"\", b\",20,0.1,0.1,0.1,1,,\n"
            "\"two\",10,0.5,0.25,0.75,2,0.125,2000\n"
            "\"two\",30,0.875,0.875,0.875,1,,10000\n");
}

}  // namespace
}  // namespace sterna::launcher
