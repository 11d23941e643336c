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

std::vector<std::byte> largest_of(std::span<const float> values, double part) {
  std::vector<std::byte> out(largest_bytes(values.size(), part));
  encode_largest(values, part, out);
  return out;
}

std::vector<float> back(std::span<const std::byte> payload, std::size_t count) {
  std::vector<float> values(count, 7.0F);
  const Result<void> decoded = decode_largest(payload, values);
  EXPECT_TRUE(decoded.ok()) << decoded.error().message;
  return values;
}

/// By sorting each 65,536: of equal magnitudes the first are kept.
std::vector<float> by_sorting(const std::vector<float>& values, double part) {
  std::vector<float> left(values.size());
  for (std::size_t first = 0; first < values.size(); first += kPlacesPerPart) {
    std::vector<std::size_t> order(std::min(kPlacesPerPart, values.size() - first));
    std::iota(order.begin(), order.end(), first);
    std::ranges::stable_sort(order, std::greater{},
                             [&](std::size_t i) { return std::fabs(values[i]); });
    order.resize(kept_of(order.size(), part));
    for (const std::size_t i : order) left[i] = values[i];
  }
  return left;
}

TEST(Largest, LieAsTheirPageSays) {
  const std::vector<float> values{0.5F, -4, 0, 3, -1};
  const std::vector<std::byte> payload = largest_of(values, 0.4);
  ASSERT_EQ(payload.size(), 8U + 2 * 2 + 2 * 4);
  std::uint32_t count = 0;
  std::uint16_t places[2];
  float kept[2];
  std::memcpy(&count, payload.data(), 4);
  EXPECT_EQ(count, 5U) << "elements";
  std::memcpy(&count, payload.data() + 4, 4);
  std::memcpy(places, payload.data() + 8, 4);
  std::memcpy(kept, payload.data() + 12, 8);
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
      ASSERT_EQ(back(largest_of(values, part), count), by_sorting(values, part)) << count << part;
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
  for (const std::size_t i : {5U, 9U, 65'540U, 65'550U}) values[i] = 1;
  const std::vector<std::byte> right = largest_of(values, 2e-5);
  std::vector<float> out(values.size());
  const auto changed = [&](std::size_t at, auto value) {
    std::vector<std::byte> payload = right;
    std::memcpy(payload.data() + at, &value, sizeof(value));
    return decode_largest(payload, out).error().code;
  };
  EXPECT_EQ(changed(0, std::uint32_t{70'001}), Errc::malformed) << "of other elements";
  EXPECT_EQ(changed(4, std::uint32_t{70'000}), Errc::malformed) << "more than there are";
  EXPECT_EQ(changed(4, std::uint32_t{9}), Errc::malformed) << "more than follow";
  EXPECT_EQ(changed(4, std::uint32_t{1}), Errc::malformed);
  EXPECT_EQ(changed(8, std::uint16_t{9}), Errc::malformed) << "one place twice";
  EXPECT_EQ(changed(10, std::uint16_t{4}), Errc::malformed) << "not in order";
  const std::size_t second = 8 + 2 * 6;
  EXPECT_EQ(changed(second + 4, std::uint16_t{4464}), Errc::malformed) << "behind the last";
  EXPECT_EQ(changed(12, std::numeric_limits<float>::infinity()), Errc::non_finite);
  EXPECT_FALSE(decode_largest(std::span(right).first(second), out).ok());
  EXPECT_FALSE(decode_largest({}, out).ok());
  std::vector<std::byte> longer = right;
  longer.push_back({});
  EXPECT_EQ(decode_largest(longer, out).error().code, Errc::malformed);
}

}  // namespace
}  // namespace sterna::kernels
