#include "runtime/base/section.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sterna {
namespace {

enum class Colour : std::uint8_t { red, dark_green };

struct Everything {
  std::int64_t integer = -1;
  std::uint64_t big = 7;
  std::uint32_t small = 3;
  double number = 0.1;
  bool flag = true;
  std::string text = "a \"b\"\n\x01\\";
  Duration duration = std::chrono::milliseconds(1500);
  std::vector<std::string> names = {"x", "y"};
  std::vector<std::uint32_t> widths = {300, 100};
  std::vector<double> rates = {0.25, 1};
  std::map<std::string, std::string> table = {{"A", "1"}, {"fc1/weights", "none"}};
  Colour colour = Colour::dark_green;
  Numbers numbers = {{"beta", 0.5}};
  bool operator==(const Everything&) const = default;
};

constexpr NumberKey kBeta{"beta", 0.5, {.low = 0, .high = 1, .high_open = true}, "help"};

Section<Everything> keys() {
  using S = Everything;
  Section<S> section{
      "all",
      false,
      "help",
      {key("integer", &S::integer, "help").at_least(-5), key("big", &S::big, "help").at_least(0),
       key("small", &S::small, "help").at_least(1).at_most(65536),
       key("number", &S::number, "help").above(0), key("flag", &S::flag, "help"),
       key("text", &S::text, "help"), key("duration", &S::duration, "help").above(0),
       key("names", &S::names, "help"), key("widths", &S::widths, "help").at_least(1),
       key("rates", &S::rates, "help").above(0), key("table", &S::table, "help"),
       enum_key<&S::colour>("colour", {"red", "dark_green"}, "help")}};
  append_keys(section.keys, {&kBeta, 1}, &S::numbers, "adam");
  return section;
}

std::string text_of(const Everything& values) {
  std::string text;
  append_section(text, keys(), values);
  return text;
}

std::string error_of(const std::string& text) {
  SectionReader reader(text);
  Everything values;
  const auto read = reader.read(keys(), values);
  return read ? "" : read.error().message;
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = text_of({});
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Section, WritesEveryKeyAsToml) {
  EXPECT_EQ(text_of({}), R"([all]
integer = -1
big = 7
small = 3
number = 0.1
flag = true
text = "a \"b\"\u000A\u0001\\"
duration = "1500ms"
names = ["x", "y"]
widths = [300, 100]
rates = [0.25, 1.0]
table = { A = "1", "fc1/weights" = "none" }
colour = "dark_green"
beta = 0.5
)");
}

TEST(Section, ReadsBackWhatItWrote) {
  Everything values;
  values.integer = 12;
  values.number = 1e-30 / 3;
  values.flag = false;
  values.text = "ü";
  values.names.clear();
  values.widths.clear();
  values.table.clear();
  values.colour = Colour::red;
  values.numbers["beta"] = std::nextafter(1.0, 0.0);
  for (const Everything& written : {Everything{}, values}) {
    const std::string text = text_of(written);
    SectionReader reader(text);
    Everything read;
    const auto result = reader.read(keys(), read);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(reader.at_end());
    EXPECT_TRUE(read == written);
  }
}

TEST(Section, NamesTheSectionAndTheKeyThatIsWrong) {
  EXPECT_EQ(error_of("[other]\n"), "\"all\" is not there");
  EXPECT_EQ(error_of(changed("small = 3", "small = 0")),
            "\"all.small\" must be at least 1 and at most 65536, not 0");
  EXPECT_EQ(error_of(changed("number = 0.1", "number = inf")),
            "\"all.number\" must be a finite number, not inf");
  EXPECT_EQ(error_of(changed("number = 0.1", "number = 1e+39")),
            "\"all.number\" must fit into fp32, which goes up to 3.4e38, not 1e+39");
  EXPECT_EQ(
      error_of(changed("0.25", "1e-50")),
      "\"all.rates\" wants numbers; each must be above 0 in fp32, which goes down to 1.4e-45, "
      "not 1e-50");
  EXPECT_EQ(error_of(changed("\"dark_green\"", "\"green\"")),
            "\"all.colour\" must be \"red\" or \"dark_green\", not \"green\"");
  EXPECT_EQ(error_of(changed("beta = 0.5", "beta = 1.0")),
            "\"all.beta\" must be at least 0 and below 1, not 1");
  EXPECT_EQ(error_of(changed("0.25", "0")),
            "\"all.rates\" wants numbers; each must be above 0, not 0");
  EXPECT_EQ(error_of(changed("big = 7", "big = -7")), "\"all.big\" must be at least 0, not -7");
}

TEST(Section, ReadsNothingButItsOwnText) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"big = 7\n", ""},
           {"big = 7", "big = 99999999999999999999x"},
           {"big = 7", "big  = 7"},
           {"flag = true", "flag = yes"},
           {"widths = [300, 100]", "widths = [[300], 100]"},
           {"widths = [300, 100]", "widths = [300, 100"},
           {"table = { A", "table = { \"A"},
           {"\"none\" }", "\"none\""},
           {"\\u0001", "\\u00"}}) {
    EXPECT_NE(error_of(changed(from, to)), "") << to;
  }
  const std::string whole = text_of({});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(error_of(whole.substr(0, size)), "") << size;
  }
}

TEST(Section, BoundsItsLists) {
  std::string list = "[1";
  for (std::size_t i = 0; i < SectionReader::kMostItems; ++i) list += ", 1";
  EXPECT_EQ(error_of(changed("[300, 100]", list + "]")), "\"all.widths\" cannot be read");
}

}  // namespace
}  // namespace sterna
