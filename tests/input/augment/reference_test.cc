// The families against what tests/reference/preprocess.py computed of the same draws.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/input/augment/prepare.h"

namespace sterna::input {
namespace {

/// A line of expected_pictures.txt.
struct Case {
  std::string family;
  std::string mode;
  PictureShape source;
  PictureShape shape;
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t example = 0;
  std::vector<Box> boxes;
  std::vector<double> means;
  std::vector<std::pair<std::size_t, double>> values;
};

std::istream& operator>>(std::istream& in, PictureShape& shape) {
  return in >> shape.rows >> shape.columns >> shape.channels;
}

Case read_case(const std::string& line) {
  Case read;
  const std::size_t bar = line.find('|');
  const std::size_t second = line.find('|', bar + 1);
  std::istringstream head(line.substr(0, bar));
  head >> read.family >> read.mode >> read.source >> read.shape >> read.seed >> read.epoch >>
      read.example;
  EXPECT_FALSE(head.fail()) << line;
  for (Box box; head >> box.top >> box.left >> box.bottom >> box.right;) read.boxes.push_back(box);
  std::istringstream means(line.substr(bar + 1, second - bar - 1));
  for (double mean = 0; means >> mean;) read.means.push_back(mean);
  std::istringstream values(line.substr(second + 1));
  for (std::pair<std::size_t, double> value; values >> value.first >> value.second;) {
    read.values.push_back(value);
  }
  EXPECT_EQ(read.means.size(), read.shape.channels) << line;
  EXPECT_EQ(read.values.size(), 16U) << line;
  return read;
}

std::vector<std::string> expected_lines() {
  const char* source = std::getenv("STERNA_SOURCE");
  std::ifstream file(std::string(source == nullptr ? "." : source) +
                     "/tests/input/augment/expected_pictures.txt");
  EXPECT_TRUE(file.good()) << "run through ctest, or set STERNA_SOURCE";
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#')) lines.push_back(line);
  }
  return lines;
}

/// 1e-5 in the net's units, and a unit of a byte where the family rounds to bytes.
double tolerance(const Case& expected, const PreparedPicture& prepared, std::size_t i) {
  const double unit = prepared.scale[i % prepared.scale.size()] / 255.0;
  const bool rounded = expected.family != "mnist" && expected.family != "cifar";
  return 1e-5 * std::max(1.0, unit) + (rounded ? 1.0001 * unit : 0.0);
}

TEST(Families, PrepareWhatTheReferenceScriptComputedOfTheSameDraws) {
  const std::vector<std::string> lines = expected_lines();
  ASSERT_GE(lines.size(), 40U);
  for (const std::string& line : lines) {
    SCOPED_TRACE(line.substr(0, line.find('|')));
    const Case expected = read_case(line);
    const Picture picture =
        textured(expected.source.rows, expected.source.columns, expected.source.channels);
    const PreparedPicture prepared =
        expected.mode == "train"
            ? trained(expected.family, as_stored(picture), expected.shape,
                      Draws(expected.seed, expected.epoch, expected.example), expected.boxes)
            : evaluated(expected.family, as_stored(picture), expected.shape);
    for (const auto& [i, value] : expected.values) {
      EXPECT_NEAR(prepared.value(i), value, tolerance(expected, prepared, i)) << "at " << i;
    }
    std::vector<double> sums(expected.shape.channels);
    for (std::size_t i = 0; i < prepared.pixels.size(); ++i) {
      sums[i % sums.size()] += prepared.value(i);
    }
    const double count = static_cast<double>(expected.shape.rows) * expected.shape.columns;
    for (std::size_t c = 0; c < sums.size(); ++c) {
      // A twentieth of the pixels may be rounded the other way.
      EXPECT_NEAR(sums[c] / count, expected.means[c],
                  2e-5 + 0.05 * (tolerance(expected, prepared, c) - 1e-5))
          << "channel " << c;
    }
  }
}

}  // namespace
}  // namespace sterna::input
