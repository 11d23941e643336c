#include "kernels/numbers/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gradients.h"

namespace sterna::kernels {
namespace {

using testing::ElementsAre;

std::vector<float> values_of(std::size_t count) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(0.01F * std::sin(0.37F * static_cast<float>(i)) + 0.002F);
  }
  return values;
}

std::vector<std::byte> rows_of(std::span<const float> values, std::uint32_t bits,
                               const TernaryDraw& draw = {}, std::uint64_t first = 0,
                               Isa isa = best_isa()) {
  std::vector<std::byte> rows(rows_bytes(values.size(), bits));
  encode_rows(values, bits, draw, first, rows, isa);
  return rows;
}

std::vector<float> rows_back(std::span<const std::byte> rows, std::size_t count) {
  std::vector<float> values(count);
  const Result<void> decoded = decode_rows(rows, values);
  EXPECT_TRUE(decoded.ok()) << decoded.error().message;
  return values;
}

// The example of the operator's own page: two bits, five elements, four levels 0.8 apart.
TEST(Rows, LieAsTheirPageSays) {
  const std::vector<float> values{0.3F, -1.4F, -0.6F, 0.9F, 1.0F};
  const std::vector<std::byte> rows = rows_of(values, 2);
  ASSERT_EQ(rows.size(), 12U);
  EXPECT_EQ(rows[0], std::byte{2});
  EXPECT_EQ(rows[1], std::byte{3}) << "missing of eight places";
  float ends[2];
  std::memcpy(ends, &rows[2], sizeof(ends));
  EXPECT_THAT(ends, ElementsAre(-1.4F, 1.0F));
  const auto level = [&](std::size_t element) {  // two bytes: element i of segment j is j·2 + i
    return std::to_integer<unsigned>(rows[10 + element % 2]) >> (element / 2 * 2) & 3U;
  };
  EXPECT_EQ(level(1), 0U);
  EXPECT_EQ(level(2), 1U);
  EXPECT_EQ(level(4), 3U);
  for (const std::size_t missing : {5U, 6U, 7U}) EXPECT_EQ(level(missing), 0U);
  const std::vector<float> decoded = rows_back(rows, 5);
  EXPECT_FLOAT_EQ(decoded[2], -0.6F);
  EXPECT_TRUE(std::fabs(decoded[0] - 0.2F) < 1e-6F || decoded[0] == 1.0F);
}

TEST(Rows, AreWithinALevelAndExactAtBothEnds) {
  for (const std::uint32_t bits : {1U, 2U, 4U, 8U}) {
    for (const std::size_t count : {1U, 7U, 1024U, 1025U, 3000U}) {
      const std::vector<float> values = values_of(count);
      const std::vector<float> decoded = rows_back(rows_of(values, bits), count);
      for (std::size_t first = 0; first < count; first += kRowElements) {
        const auto row = std::span(values).subspan(first, std::min(kRowElements, count - first));
        const auto [least, largest] = std::ranges::minmax(row);
        const float step = (largest - least) / static_cast<float>((1U << bits) - 1);
        for (std::size_t i = 0; i < row.size(); ++i) {
          ASSERT_NEAR(decoded[first + i], row[i], 1.0001F * step) << bits << " " << first + i;
          const bool end = row[i] == least || row[i] == largest;
          ASSERT_TRUE(!end || decoded[first + i] == row[i]) << bits << " " << first + i;
        }
      }
    }
  }
}

TEST(Rows, AreRightOnAverage) {
  const std::vector<float> values = values_of(2000);
  for (const std::uint32_t bits : {1U, 2U, 4U}) {
    constexpr int kSteps = 400;
    std::vector<double> sums(values.size());
    for (std::uint32_t step = 0; step < kSteps; ++step) {
      const std::vector<float> decoded =
          rows_back(rows_of(values, bits, {.seed = 5, .step = step}), 2000);
      for (std::size_t i = 0; i < values.size(); ++i) sums[i] += decoded[i];
    }
    // Half a level apart at most, so is each deviation; five of them, of 2,000 elements.
    const double deviation = 0.02 / ((1U << bits) - 1) / 2 / std::sqrt(kSteps);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(sums[i] / kSteps, values[i], 5 * deviation) << bits << " " << i;
    }
  }
}

TEST(Rows, OfATensorCutBetweenThemAreThoseOfTheWhole) {
  const std::vector<float> values = values_of(3000);
  const TernaryDraw draw{.seed = 9, .step = 3, .rank = 2, .tensor = 1};
  std::vector<std::byte> whole = rows_of(values, 4, draw);
  std::vector<std::byte> parts = rows_of(std::span(values).first(2048), 4, draw);
  const auto rest = rows_of(std::span(values).subspan(2048), 4, draw, 2048);
  parts.insert(parts.end(), rest.begin(), rest.end());
  EXPECT_EQ(parts, whole);
  EXPECT_NE(rows_of(values, 4, {.seed = 9, .step = 4, .rank = 2, .tensor = 1}), whole);
  EXPECT_NE(rows_of(values, 4, {.seed = 9, .step = 3, .rank = 1, .tensor = 1}), whole);
}

TEST(Rows, HaveTheSameBytesOnEveryInstructionSet) {
  const auto expect_same = [](std::span<const float> values, std::uint64_t first) {
    for (const std::uint32_t bits : {1U, 2U, 4U, 8U}) {
      const TernaryDraw draw{.seed = 7, .step = bits, .rank = 3, .tensor = 2};
      const auto expected = rows_of(values, bits, draw, first, Isa::scalar);
      for (const Isa isa : every_isa()) {
        ASSERT_EQ(rows_of(values, bits, draw, first, isa), expected)
            << values.size() << " from " << first << ", " << bits << " bits, " << name(isa);
      }
    }
  };
  for (const std::size_t count : lengths()) {
    expect_same(gaussian(count, 0.1F, count), 65'536);
    expect_same(any_finite(count, count), 0);
  }
  expect_same(gaussian(1000, 1, 1), 3);  // in the middle of a draw
  // Zeros of either sign at an end, and what has no end.
  std::vector<float> values(1024);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 3 == 1 ? -0.0F : 0.0F;
  expect_same(values, 0);
  values[700] = 2;
  expect_same(values, 0);
  for (const float end :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    values[1023] = end;
    expect_same(values, 0);
  }
}

TEST(Rows, TakeOneNumberAndTheLargestThereAre) {
  const std::vector<float> equal(100, -3.5F);
  EXPECT_EQ(rows_back(rows_of(equal, 1), 100), equal);
  const float most = std::numeric_limits<float>::max();
  const std::vector<float> far{-most, most, 0, 1};
  for (const float value : rows_back(rows_of(far, 8), 4)) EXPECT_TRUE(std::isfinite(value));
}

TEST(Rows, RefuseWhatNoRowsAre) {
  const std::vector<float> values = values_of(1030);
  const std::vector<std::byte> right = rows_of(values, 4);
  std::vector<float> out(values.size());
  const auto refused = [&](std::size_t at, std::byte byte) {
    std::vector<std::byte> wrong = right;
    wrong[at] = byte;
    return decode_rows(wrong, out).error().code;
  };
  const std::size_t second = kRowHeaderBytes + 512;
  EXPECT_EQ(refused(0, std::byte{3}), Errc::malformed);
  EXPECT_EQ(refused(0, std::byte{8}), Errc::malformed);
  EXPECT_EQ(refused(1, std::byte{1}), Errc::malformed);
  EXPECT_EQ(refused(second, std::byte{2}), Errc::malformed);
  EXPECT_EQ(refused(second + 1, std::byte{1}), Errc::malformed);
  EXPECT_EQ(refused(9, std::byte{0xFF}), Errc::malformed) << "the largest is negative";
  std::vector<std::byte> endless = right;
  const float infinite = std::numeric_limits<float>::infinity();
  std::memcpy(&endless[6], &infinite, sizeof(infinite));
  EXPECT_EQ(decode_rows(endless, out).error().code, Errc::non_finite);
  EXPECT_FALSE(decode_rows(std::span(right).first(right.size() - 1), out).ok());
  EXPECT_FALSE(decode_rows({}, out).ok());
  std::vector<std::byte> odd = rows_of(std::span(values).first(3), 4);  // one place is missing
  odd.back() |= std::byte{0x10};
  EXPECT_EQ(decode_rows(odd, std::span(out).first(3)).error().code, Errc::malformed);
}

}  // namespace
}  // namespace sterna::kernels
