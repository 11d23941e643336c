#include "launcher/text/whole_number.h"

#include <gtest/gtest.h>

#include <limits>

namespace sterna::launcher {
namespace {

constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

TEST(WholeNumber, IsCutTowardsZero) {
  EXPECT_EQ(whole_number(2.9, -10, 10), 2);
  EXPECT_EQ(whole_number(-2.9, -10, 10), -2);
}

TEST(WholeNumber, BeyondTheRangeIsItsNearerEnd) {
  EXPECT_EQ(whole_number(1e300, 0, 10), 10);
  EXPECT_EQ(whole_number(-1e300, 0, 10), 0);
  EXPECT_EQ(whole_number(std::numeric_limits<double>::infinity(), kLeast, kMost), kMost);
  EXPECT_EQ(whole_number(-std::numeric_limits<double>::infinity(), kLeast, kMost), kLeast);
  EXPECT_EQ(whole_number(9223372036854775807.0, kLeast, kMost), kMost);
}

TEST(WholeNumber, OfNoNumberIsTheLeast) {
  EXPECT_EQ(whole_number(std::numeric_limits<double>::quiet_NaN(), 3, 10), 3);
}

}  // namespace
}  // namespace sterna::launcher
