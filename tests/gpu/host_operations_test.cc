// How the host's device rounds what it multiplies.
#include "kernels/device/host_operations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sterna::kernels {
namespace {

float of_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

TEST(Tf32, IsTheNearestNumberOfTenBits) {
  EXPECT_EQ(to_tf32(1.0F), 1.0F);
  EXPECT_EQ(to_tf32(1 + 0x1p-10F), 1 + 0x1p-10F);
  EXPECT_EQ(to_tf32(1 + 0x1p-12F), 1.0F);
  EXPECT_EQ(to_tf32(1 + 0x1.8p-11F), 1 + 0x1p-10F);
  EXPECT_EQ(to_tf32(0x1.FFFp0F), 2.0F);  // the next exponent's first
  EXPECT_EQ(to_tf32(-3.1415927F), -3.140625F);
}

TEST(Tf32, OfTwoThatAreAsNearIsTheOneThatIsFartherFromZero) {
  EXPECT_EQ(to_tf32(1 + 0x1p-11F), 1 + 0x1p-10F);   // not the even one
  EXPECT_EQ(to_tf32(1 + 0x1.8p-10F), 1 + 0x1p-9F);  // which is even
  EXPECT_EQ(to_tf32(-1 - 0x1p-11F), -1 - 0x1p-10F);
  EXPECT_EQ(to_tf32(std::nextafter(1 + 0x1p-11F, 0.0F)), 1.0F);
}

TEST(Tf32, KeepsWhatIsInfiniteOrNoNumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(to_tf32(kInfinity), kInfinity);
  EXPECT_EQ(to_tf32(-kInfinity), -kInfinity);
  EXPECT_EQ(to_tf32(std::numeric_limits<float>::max()), kInfinity);
  for (const std::uint32_t nan : {0x7F800001U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
    EXPECT_TRUE(std::isnan(to_tf32(of_bits(nan)))) << nan;
  }
}

TEST(Tf32, RoundsDenormalsToo) {
  EXPECT_EQ(to_tf32(of_bits(0x3FFFU)), of_bits(0x4000U));
  EXPECT_EQ(to_tf32(of_bits(0x0FFFU)), 0.0F);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(to_tf32(-0.0F)), 0x80000000U);
}

}  // namespace
}  // namespace sterna::kernels
