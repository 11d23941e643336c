#include "runtime/base/random.h"

#include <gtest/gtest.h>

#include <limits>

namespace sterna {
namespace {

class Constant final : public Random {
 public:
  explicit Constant(std::uint64_t value) : value_(value) {}
  std::uint64_t next() override { return value_; }

 private:
  std::uint64_t value_;
};

TEST(SeededRandom, IsSplitMix64) {
  SeededRandom random(1234567);
  // The values that Vigna's splitmix64.c gives for this seed.
  EXPECT_EQ(random.next(), 6457827717110365317U);
  EXPECT_EQ(random.next(), 3203168211198807973U);
  EXPECT_EQ(random.next(), 9817491932198370423U);
}

TEST(Random, BelowReachesBothEndsOfItsRangeAndNoFurther) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(Constant(0).below(10), 0U);
  EXPECT_EQ(Constant(kLargest).below(10), 9U);
  EXPECT_EQ(Constant(kLargest).below(1), 0U);
  EXPECT_EQ(Constant(kLargest).below(kLargest), kLargest - 1);
}

TEST(SystemRandom, DoesNotRepeatItself) {
  SystemRandom random;
  EXPECT_NE(random.next(), random.next());
}

}  // namespace
}  // namespace sterna
