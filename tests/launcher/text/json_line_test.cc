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

TEST(JsonLine, GivesATerminalNothingToObey) {
  const std::string text =
      "\x1b[1m\x7F\xC2\x9B"
      "1mü\xC2\xA0";
  const std::string line = json_line(text);
  EXPECT_EQ(line, "\"\\u001b[1m\\u007f\\u009b1mü\xC2\xA0\"");
  EXPECT_EQ(Json::parse(line), Json(text));
}

TEST(ParseShallow, LeavesOutWhatIsNestedDeeperThanAnyOfOurs) {
  constexpr int kDeep = 200'000;  // to write it would take more stack than there is
  const std::string deep = std::string(kDeep, '[') + std::string(kDeep, ']');
  const Json json = parse_shallow("{\"exit\":1,\"cause\":" + deep + ",\"steps\":[[2]]}");
  EXPECT_EQ(json["exit"], 1);
  EXPECT_EQ(json["steps"], Json::parse("[[2]]"));
  EXPECT_LT(json_line(json).size(), 200U);
  EXPECT_TRUE(parse_shallow("{\"exit\":").is_discarded());
}

TEST(JsonNumber, IsNullWhereItIsNoNumber) {
  EXPECT_EQ(json_number(0.5), 0.5);
  EXPECT_TRUE(json_number(std::nullopt).is_null());
  EXPECT_TRUE(json_number(std::numeric_limits<double>::quiet_NaN()).is_null());
  EXPECT_TRUE(json_number(-std::numeric_limits<double>::infinity()).is_null());
}

TEST(JsonKept, HasNumbersAndShortTextsAndNothingOfAnotherShape) {
  Json deep = 1;
  for (int i = 0; i < 100; ++i) deep = Json::array({std::move(deep)});
  const Json object = {{"cause", std::string(kLongestKeptText + 1, 'x')},
                       {"codec", 7},
                       {"steps", 5},
                       {"loss", "none"},
                       {"exit", std::move(deep)},
                       {"other", 1}};
  const Json kept = json_kept(object, {"cause", "codec"}, {"steps", "loss", "exit", "seconds"});
  EXPECT_EQ(kept, Json({{"cause", std::string(kLongestKeptText, 'x')},
                        {"codec", ""},
                        {"steps", 5},
                        {"loss", nullptr},
                        {"exit", nullptr},
                        {"seconds", nullptr}}));
}

}  // namespace
}  // namespace sterna::launcher
