#include "launcher/text/json_line.h"

#include <gtest/gtest.h>

#include <limits>

namespace sterna::launcher {
namespace {

TEST(JsonLine, IsOneLineInTheOrderOfItsKeys) {
  EXPECT_EQ(json_line({{"b", 1}, {"a", "x\ny"}}), R"({"b":1,"a":"x\ny"})");
}

TEST(JsonLine, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(json_line("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
}

TEST(JsonNumber, IsNullWhereItIsNoNumber) {
  EXPECT_EQ(json_number(0.5), 0.5);
  EXPECT_TRUE(json_number(std::nullopt).is_null());
  EXPECT_TRUE(json_number(std::numeric_limits<double>::quiet_NaN()).is_null());
  EXPECT_TRUE(json_number(-std::numeric_limits<double>::infinity()).is_null());
}

}  // namespace
}  // namespace sterna::launcher
