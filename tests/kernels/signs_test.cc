#include "kernels/numbers/signs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

namespace sterna::kernels {
namespace {

using testing::ElementsAre;

std::vector<std::byte> signs_of(std::span<const float> values) {
  std::vector<std::byte> signs(signs_bytes(values.size()));
  encode_signs(values, signs);
  return signs;
}

TEST(Signs, AreOneBitEachAndTheMeanMagnitude) {
  const std::vector<float> values{1, -2, 0, -0.0F, 3, -4, 5, 6, -7, 2};
  const std::vector<std::byte> signs = signs_of(values);
  ASSERT_EQ(signs.size(), 6U);
  float mean = 0;
  std::memcpy(&mean, signs.data(), sizeof(mean));
  EXPECT_EQ(mean, 3);
  EXPECT_EQ(signs[4], std::byte{0b00100010});
  EXPECT_EQ(signs[5], std::byte{0b00000001});
  std::vector<float> decoded(values.size());
  ASSERT_TRUE(decode_signs(signs, decoded).ok());
  EXPECT_THAT(decoded, ElementsAre(3, -3, 3, 3, 3, -3, 3, 3, -3, 3));
}

// Summed one after the other in fp32, a million such numbers are off by a thousandth.
TEST(Signs, HaveTheMeanOfManyElementsToTheLastBits) {
  const std::vector<float> values(262'144, -0.1F);
  float mean = 0;
  const std::vector<std::byte> signs = signs_of(values);
  std::memcpy(&mean, signs.data(), sizeof(mean));
  EXPECT_FLOAT_EQ(mean, 0.1F);
}

TEST(Signs, OfATensorCutBetweenTheirPartsAreThoseOfTheWhole) {
  std::vector<float> values(2 * kSignsPerMean + 9);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 70'000.0F;
  const std::vector<std::byte> whole = signs_of(values);
  std::vector<std::byte> parts = signs_of(std::span(values).first(kSignsPerMean));
  const auto rest = signs_of(std::span(values).subspan(kSignsPerMean));
  parts.insert(parts.end(), rest.begin(), rest.end());
  EXPECT_EQ(parts, whole);
  std::vector<float> decoded(values.size());
  ASSERT_TRUE(decode_signs(whole, decoded).ok());
  EXPECT_LT(decoded[0], 0);
  EXPECT_GT(decoded.back(), 0);
  EXPECT_NE(decoded[0], -decoded.back()) << "each part has a mean of its own";
}

TEST(Signs, RefuseWhatNoSignsAre) {
  const std::vector<float> values(10, 1.0F);
  const std::vector<std::byte> right = signs_of(values);
  std::vector<float> out(10);
  const auto with_mean = [&](float mean) {
    std::vector<std::byte> signs = right;
    std::memcpy(signs.data(), &mean, sizeof(mean));
    return decode_signs(signs, out).error().code;
  };
  EXPECT_EQ(with_mean(-1), Errc::malformed);
  EXPECT_EQ(with_mean(std::numeric_limits<float>::quiet_NaN()), Errc::non_finite);
  EXPECT_EQ(with_mean(std::numeric_limits<float>::infinity()), Errc::non_finite);
  std::vector<std::byte> behind = right;
  behind.back() |= std::byte{0x04};
  EXPECT_EQ(decode_signs(behind, out).error().code, Errc::malformed);
  EXPECT_FALSE(decode_signs(std::span(right).first(5), out).ok());
  EXPECT_FALSE(decode_signs({}, out).ok());
}

}  // namespace
}  // namespace sterna::kernels
