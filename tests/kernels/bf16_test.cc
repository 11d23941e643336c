#include "kernels/sums/bf16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gradients.h"

namespace sterna::kernels {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<std::byte> encoded(std::span<const float> values, Isa isa) {
  std::vector<std::byte> out(2 * values.size() + 1, std::byte{0xAA});
  encode_bf16(values, std::span(out).subspan(1), isa);
  return {out.begin() + 1, out.end()};
}

// Values of every kind, those that lie half way between two bf16 among them.
std::vector<float> of_every_kind(std::size_t count) {
  auto values = any_finite(count, 12);
  SeededRandom random(13);
  for (float& value : values) {
    auto bits = std::bit_cast<std::uint32_t>(value);
    if (random.below(3) == 0) bits = (bits & 0xFFFF0000U) | 0x8000U;
    if (random.below(40) == 0) bits |= 0x7F800000U;  // infinities and NaNs
    value = std::bit_cast<float>(bits);
  }
  return values;
}

TEST(Bf16, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(to_bf16(1.0F), 0x3F80);
  EXPECT_EQ(to_bf16(-2.0F), 0xC000);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3F808000U)), 0x3F80);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3F808001U)), 0x3F81);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3F818000U)), 0x3F82);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x00008001U)), 0x0001);
  EXPECT_EQ(to_bf16(-0.0F), 0x8000);
}

TEST(Bf16, KeepsWhatIsNotFinite) {
  EXPECT_EQ(to_bf16(infinity), 0x7F80);
  EXPECT_EQ(to_bf16(-infinity), 0xFF80);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(std::bit_cast<float>(0x7F800001U)))));
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(std::bit_cast<float>(0xFFFFFFFFU)))));
}

TEST(Bf16, ComesBackAsTheNearestOfAll) {
  for (const float value : gaussian(20000, 1.0F, 4)) {
    const std::uint16_t bits = to_bf16(value);
    const auto distance = [&](int step) {
      return std::abs(double{from_bf16(static_cast<std::uint16_t>(bits + step))} - double{value});
    };
    ASSERT_LE(distance(0), distance(1));
    ASSERT_LE(distance(0), distance(-1));
  }
}

TEST(Bf16, ThatWasDecodedIsEncodedAsItself) {
  std::vector<std::byte> payload(2 * 65536);
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    payload[2 * bits] = static_cast<std::byte>(bits);
    payload[2 * bits + 1] = static_cast<std::byte>(bits >> 8);
  }
  for (const Isa isa : every_isa()) {
    std::vector<float> values(65536);
    decode_bf16(payload, values, isa);
    const auto again = encoded(values, isa);
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      const bool signalling = (bits & 0x7FFFU) > 0x7F80U && (bits & 0x40U) == 0;
      if (signalling) continue;  // comes back quiet
      ASSERT_EQ(again[2 * bits], payload[2 * bits]) << bits;
      ASSERT_EQ(again[2 * bits + 1], payload[2 * bits + 1]) << bits;
    }
  }
}

TEST(Bf16, HasTheSameBitsOnEveryInstructionSet) {
  for (const std::size_t count : lengths()) {
    const auto values = of_every_kind(count);
    const auto expected = encoded(values, Isa::scalar);
    std::vector<float> decoded(count);
    decode_bf16(expected, decoded, Isa::scalar);
    for (const Isa isa : every_isa()) {
      EXPECT_EQ(encoded(values, isa), expected) << count;
      std::vector<float> out(count, 99.0F);
      decode_bf16(expected, out, isa);
      EXPECT_EQ(bits(out), bits(decoded)) << count;
    }
  }
}

TEST(Bf16, SumsAreRoundedOnceOnEveryInstructionSet) {
  for (const std::size_t count : lengths()) {
    const auto numbers = [&](std::uint64_t seed) {
      std::vector<std::uint16_t> made;
      for (const float value : gaussian(count, 1.0F, seed)) made.push_back(to_bf16(value));
      return made;
    };
    const auto a = numbers(5), b = numbers(6);
    std::vector<std::uint16_t> expected;
    for (std::size_t i = 0; i < count; ++i)
      expected.push_back(to_bf16(from_bf16(a[i]) + from_bf16(b[i])));
    for (const Isa isa : every_isa()) {
      std::vector<std::uint16_t> sum = a;
      add_bf16(sum, b, sum, isa);
      EXPECT_EQ(sum, expected) << count;
    }
  }
}

TEST(Bf16, OfAPeerMustHaveTheRightSizeAndBeFinite) {
  auto payload = encoded(gaussian(100, 1, 1), Isa::scalar);
  EXPECT_TRUE(check_bf16(payload, 100).ok());
  EXPECT_TRUE(check_bf16({}, 0).ok());
  EXPECT_FALSE(check_bf16(payload, 99).ok());
  EXPECT_FALSE(check_bf16(std::span(payload).first(199), 100).ok());
  payload[2 * 70] = std::byte{0};
  payload[2 * 70 + 1] = std::byte{0};
  EXPECT_TRUE(check_bf16(payload, 100).ok());
  payload[2 * 70] = std::byte{0x80};
  payload[2 * 70 + 1] = std::byte{0x7F};
  const auto refused = check_bf16(payload, 100);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::non_finite);
  EXPECT_EQ(refused.error().message, "bf16 element 70 is not finite");
}

}  // namespace
}  // namespace sterna::kernels
