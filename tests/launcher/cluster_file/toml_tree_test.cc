#include "launcher/cluster_file/toml_tree.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sterna::launcher {
namespace {

Value::Table parsed(std::string_view text) {
  auto result = parse_toml(text);
  const auto* table = std::get_if<Value::Table>(&result);
  EXPECT_NE(table, nullptr) << text;
  return table == nullptr ? Value::Table{} : *table;
}

TEST(TomlTree, HasItsKeysInTheOrderOfTheFileWithTheirLines) {
  const auto table = parsed("z = 1\n\na = 'text'\n");
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table[0].key, "z");
  EXPECT_EQ(table[0].line, 1);
  EXPECT_EQ(table[1].key, "a");
  EXPECT_EQ(table[1].line, 3);
}

TEST(TomlTree, HasEveryKindOfValue) {
  const auto table = parsed("i = 3\nf = 0.5\nb = true\nt = 'x'\nl = [1, 2]\nd = 2026-01-01\n");
  EXPECT_EQ(*table[0].value.get<std::int64_t>(), 3);
  EXPECT_EQ(*table[1].value.get<double>(), 0.5);
  EXPECT_EQ(*table[2].value.get<bool>(), true);
  EXPECT_EQ(*table[3].value.get<std::string>(), "x");
  EXPECT_EQ(table[4].value.get<Value::Array>()->size(), 2U);
  EXPECT_EQ(in_words(table[5].value), "a date");
}

TEST(TomlTree, KnowsWhichTablesHaveAHeader) {
  const auto table = parsed("a.b = 1\nc = {d = 1}\n[e]\nf = 1\n[[g]]\nh = 1\n");
  EXPECT_FALSE(table[0].value.header);
  EXPECT_FALSE(table[1].value.header);
  EXPECT_TRUE(table[2].value.header);
  EXPECT_TRUE(table[3].value.get<Value::Array>()->front().header);
}

TEST(TomlTree, OfWhatIsNoTomlIsTheLineAndOneLineOfWhy) {
  const auto result = parse_toml("a = 1\nb = = 2\n");
  const auto* error = std::get_if<TomlError>(&result);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->line, 2);
  EXPECT_NE(error->message, "");
  EXPECT_EQ(error->message.find('\n'), std::string::npos);
}

/// Where and why a text is refused; "" if it is not.
std::string refusal(const std::string& text) {
  const auto result = parse_toml(text);
  const auto* error = std::get_if<TomlError>(&result);
  return error == nullptr ? "" : std::to_string(error->line) + ": " + error->message;
}

TEST(TomlTree, WhatLiesTooDeepIsRefusedHoweverItIsWritten) {
  const std::string why = "this lies within more than 128 tables or lists; no key does";
  std::string dots = "a";
  for (int i = 0; i < 20'000; ++i) dots += i % 2 == 0 ? ".a" : " . 'a.b'";
  EXPECT_EQ(refusal("x = 1\n" + dots + " = 1\n"), "2: " + why);
  EXPECT_EQ(refusal("[" + dots + "]\n"), "1: " + why);
  EXPECT_EQ(refusal("[[" + dots + "]]\n"), "1: " + why);
  EXPECT_EQ(refusal("x = \"\"\"\n\"\"\"\"\"\ny = { " + dots + " = 1 }\n"), "3: " + why);
  EXPECT_EQ(refusal("x = " + std::string(20'000, '[') + "\n"), "1: " + why);
  EXPECT_EQ(refusal("x = { a = { " + dots + " = 1 } }\n"), "1: " + why);
}

TEST(TomlTree, DotsOfTextsCommentsAndOtherLinesMakeNothingDeep) {
  const std::string dots(1000, '.');
  EXPECT_EQ(refusal("# " + dots + "\na = \"" + dots + "\"\nb = '" + dots + "'\n"), "");
  EXPECT_EQ(refusal("a = \"\"\"\\\"" + dots + "\n" + dots + "\"\"\"\nb = '''" + dots + "'''\n"),
            "");
  std::string numbers = "a = [0.5";
  for (int i = 0; i < 1000; ++i) numbers += ",0.5";
  EXPECT_EQ(refusal(numbers + "]\n"), "");
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "a.b" + std::to_string(i) + " = 0.5\n";
  EXPECT_EQ(refusal(lines), "");
}

TEST(InWords, IsWhatAMessageCallsAValue) {
  const auto table = parsed("i = 3\nf = 0.5\nb = true\nt = 'x'\nl = []\nm = {}\n");
  const std::vector<std::string> words = {"the integer 3",  "the number 0.5", "true",
                                          "the text \"x\"", "a list",         "a table"};
  for (std::size_t i = 0; i < words.size(); ++i) EXPECT_EQ(in_words(table[i].value), words[i]);
}

TEST(TomlQuoted, IsReadAsTheText) {
  for (const std::string text : {"plain", "a \"b\" \\ c", "tab\tline\nend", "\x01\x7F", "ü 日"}) {
    EXPECT_EQ(*parsed("k = " + toml_quoted(text)).front().value.get<std::string>(), text);
  }
}

TEST(TomlFloat, IsReadAsTheSameBits) {
  for (const double number : {0.1, 1.0, -3.0, 1e300, 5e-324, 1.0 / 3, 123456789.0}) {
    EXPECT_EQ(*parsed("k = " + toml_text(number)).front().value.get<double>(), number);
  }
}

}  // namespace
}  // namespace sterna::launcher
