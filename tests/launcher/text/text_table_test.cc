#include "launcher/text/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

using testing::ElementsAre;

TEST(TextTable, HasTextsAtTheLeftAndNumbersAtTheRight) {
  EXPECT_THAT(text_table({{"a"}, {"n", true}, {"z"}}, {{"x", "10", "e"}, {"yy", "5", "f"}}),
              ElementsAre("a    n  z", "x   10  e", "yy   5  f"));
}

TEST(TextTable, LeavesOutColumnsInWhichNothingIsSaid) {
  EXPECT_THAT(text_table({{"a"}, {"none"}, {"b"}}, {{"x", "-", "1"}, {"y", "", "2"}}),
              ElementsAre("a  b", "x  1", "y  2"));
}

TEST(TextTable, BreaksALongListAfterAComma) {
  EXPECT_THAT(text_table({{"a"}, {"list", false, 8}}, {{"x", "one, two, three"}, {"y", "four"}}),
              ElementsAre("a  list", "x  one,", "   two,", "   three", "y  four"));
}

TEST(TextTable, BreaksNothingThatHasNoComma) {
  EXPECT_THAT(text_table({{"list", false, 4}}, {{"a long word"}}),
              ElementsAre("list", "a long word"));
}

TEST(TextTable, MeasuresWideCharactersByTheirColumns) {
  EXPECT_THAT(text_table({{"a"}, {"b"}}, {{"日本", "1"}, {"xy", "2"}}),
              ElementsAre("a     b", "日本  1", "xy    2"));
}

TEST(TextTable, LeavesOutTheLeastWantedWhereThereIsNoRoom) {
  const std::vector<TableColumn> columns = {
      {"name"}, {"in", true, 0, 1}, {"pid", true, 0, 2}, {"out", true, 0, 1}};
  const std::vector<std::vector<std::string>> rows = {{"worker", "12", "-", "3"},
                                                      {"server", "1", "4711", "3"}};
  EXPECT_THAT(
      text_table(columns, rows, 21),
      ElementsAre("name    in   pid  out", "worker  12     -    3", "server   1  4711    3"));
  EXPECT_THAT(text_table(columns, rows, 20),
              ElementsAre("name    in  out", "worker  12    3", "server   1    3"));
  EXPECT_THAT(text_table(columns, rows, 14), ElementsAre("name", "worker", "server"));
  EXPECT_THAT(text_table(columns, rows, 0), ElementsAre("name", "worker", "server"));
}

TEST(TextTable, MakesItsCellsPrintable) {
  EXPECT_THAT(text_table({{"a"}}, {{"a\tb\033"}}), ElementsAre("a", "a b?"));
}

TEST(TextTable, IsItsTitlesAloneWithoutRows) {
  // A column of which nothing is known is left out, and without rows that is every one.
  EXPECT_THAT(text_table({{"a"}, {"b"}}, {}), ElementsAre(""));
}

}  // namespace
}  // namespace sterna::launcher
