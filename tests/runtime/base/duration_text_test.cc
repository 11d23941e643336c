#include "runtime/base/duration_text.h"

#include <gtest/gtest.h>

namespace sterna {
namespace {

using namespace std::chrono_literals;

TEST(DurationText, IsANumberAndAUnit) {
  EXPECT_EQ(parse_duration("500ms"), Duration(500ms));
  EXPECT_EQ(parse_duration("1.5s"), Duration(1500ms));
  EXPECT_EQ(parse_duration("2m"), Duration(2min));
  EXPECT_EQ(parse_duration("7us"), Duration(7us));
}

TEST(DurationText, MayBeZero) { EXPECT_EQ(parse_duration("0s"), Duration(0)); }

TEST(DurationText, IsNoneWhereNumberOrUnitIsMissingOrAnother) {
  for (const char* bad : {"", "s", "5", "-5s", "5 s", "1e3s", "5sec", "5S", "nan", "inf"}) {
    EXPECT_FALSE(parse_duration(bad).has_value()) << bad;
  }
}

TEST(DurationText, IsAtMostAYear) {
  EXPECT_EQ(parse_duration("8784h"), Duration(8784h));
  EXPECT_FALSE(parse_duration("8785h").has_value());
  EXPECT_FALSE(parse_duration("999999999h").has_value());
  for (const std::string& longer : {std::string("8785h"), std::string(400, '9') + "s"}) {
    EXPECT_TRUE(is_too_long(longer)) << longer;
  }
  for (const char* other : {"8784h", "8785", "h", "1h 8785h"}) EXPECT_FALSE(is_too_long(other));
}

TEST(DurationText, IsWrittenInTheLargestUnitThatIsExact) {
  EXPECT_EQ(duration_text(1500ms), "1500ms");
  EXPECT_EQ(duration_text(120s), "2m");
  EXPECT_EQ(duration_text(90min), "90m");
  EXPECT_EQ(duration_text(Duration(0)), "0s");
}

TEST(DurationText, IsReadAsItWasWritten) {
  for (const Duration duration : {Duration(1), Duration(1001), Duration(250ms), Duration(36h)}) {
    EXPECT_EQ(parse_duration(duration_text(duration)), duration);
  }
}

}  // namespace
}  // namespace sterna
