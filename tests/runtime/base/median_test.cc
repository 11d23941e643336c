#include "runtime/base/median.h"

#include <gtest/gtest.h>

namespace sterna {
namespace {

TEST(Median, IsTheMiddleValueInWhateverOrder) { EXPECT_EQ(median({5, 1, 3}), 3); }

TEST(Median, OfAnEvenCountIsTheMeanOfTheMiddleTwo) { EXPECT_EQ(median({4, 1, 3, 2}), 2.5); }

TEST(Median, IsNotMovedByOneBusyMoment) { EXPECT_EQ(median({1, 1, 1000}), 1); }

TEST(Median, OfNothingIsZero) { EXPECT_EQ(median({}), 0); }

}  // namespace
}  // namespace sterna
