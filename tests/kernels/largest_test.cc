#include "kernels/numbers/largest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "runtime/base/random.h"

namespace sterna::kernels {
namespace {

using testing::ElementsAre;

std::vector<std::byte> largest_of(std::span<const float> values, std::size_t kept) {
  std::vector<std::byte> out(largest_bytes(values.size(), kept));
  encode_largest(values, kept, out);
  return out;
}

std::vector<float> back(std::span<const std::byte> payload, std::size_t count) {
  std::vector<float> values(count, 7.0F);
  const Result<void> decoded = decode_largest(payload, values);
  EXPECT_TRUE(decoded.ok()) << decoded.error().message;
  return values;
}

/// By sorting: the kept ones, of equal magnitudes the first.
std::vector<float> by_sorting(const std::vector<float>& values, std::size_t kept) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t i) { return std::fabs(values[i]); });
  std::vector<float> left(values.size());
  for (std::size_t i = 0; i < kept; ++i) left[order[i]] = values[order[i]];
  return left;
}

TEST(Largest, LieAsTheirPageSays) {
  const std::vector<float> values{0.5F, -4, 0, 3, -1};
  const std::vector<std::byte> payload = largest_of(values, 2);
  ASSERT_EQ(payload.size(), 4U + 2 * 2 + 2 * 4);
  std::uint32_t count = 0;
  std::uint16_t places[2];
  float kept[2];
  std::memcpy(&count, payload.data(), 4);
  std::memcpy(places, payload.data() + 4, 4);
  std::memcpy(kept, payload.data() + 8, 8);
  EXPECT_EQ(count, 2U);
  EXPECT_THAT(places, ElementsAre(1, 3));
  EXPECT_THAT(kept, ElementsAre(-4, 3));
  EXPECT_THAT(back(payload, 5), ElementsAre(0, -4, 0, 3, 0));
}

TEST(Largest, AreThoseThatSortingFinds) {
  SeededRandom random(3);
  for (const std::size_t count : {1U, 100U, 65'536U, 150'001U}) {
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) {  // of few magnitudes, so that many are equal
      values.push_back(static_cast<float>(random.below(400)) - 200.0F);
    }
    for (const double part : {1e-5, 0.01, 0.3, 1.0}) {
      const std::size_t kept = kept_of(count, part);
      ASSERT_EQ(back(largest_of(values, kept), count), by_sorting(values, kept)) << count << part;
    }
  }
}

TEST(Largest, AreAPartRoundedUpAndNeverNone) {
  EXPECT_EQ(kept_of(1000, 0.01), 10U);
  EXPECT_EQ(kept_of(1001, 0.01), 11U);
  EXPECT_EQ(kept_of(3, 0.01), 1U);
  EXPECT_EQ(kept_of(3, 1), 3U);
}

TEST(Largest, RefuseWhatTheyAreNot) {
  std::vector<float> values(70'000);
  for (const std::size_t i : {5U, 9U, 65'540U}) values[i] = 1;
  const std::vector<std::byte> right = largest_of(values, 3);
  std::vector<float> out(values.size());
  const auto changed = [&](std::size_t at, auto value) {
    std::vector<std::byte> payload = right;
    std::memcpy(payload.data() + at, &value, sizeof(value));
    return decode_largest(payload, out).error().code;
  };
  EXPECT_EQ(changed(0, std::uint32_t{70'000}), Errc::malformed) << "more than there are";
  EXPECT_EQ(changed(0, std::uint32_t{9}), Errc::malformed) << "more than follow";
  EXPECT_EQ(changed(0, std::uint32_t{1}), Errc::malformed);
  EXPECT_EQ(changed(4, std::uint16_t{9}), Errc::malformed) << "one place twice";
  EXPECT_EQ(changed(6, std::uint16_t{4}), Errc::malformed) << "not in order";
  const std::size_t second = 4 + 2 * 6;
  EXPECT_EQ(changed(second + 4, std::uint16_t{4464}), Errc::malformed) << "behind the last";
  EXPECT_EQ(changed(8, std::numeric_limits<float>::infinity()), Errc::non_finite);
  EXPECT_FALSE(decode_largest(std::span(right).first(second), out).ok());
  EXPECT_FALSE(decode_largest({}, out).ok());
  std::vector<std::byte> longer = right;
  longer.push_back({});
  EXPECT_EQ(decode_largest(longer, out).error().code, Errc::malformed);
}

}  // namespace
}  // namespace sterna::kernels
