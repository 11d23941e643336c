#include "input/augment/draws.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/input/page_vectors.h"

namespace sterna::input {
namespace {

TEST(Draws, AgreeWithTheTestVectorsOfThePage) {
  const std::vector<std::string> lines = page_vectors("draws");
  ASSERT_GE(lines.size(), 4U);
  for (const std::string& line : lines) {
    std::istringstream in(line);
    std::uint64_t seed = 0;
    std::uint64_t epoch = 0;
    std::uint64_t example = 0;
    std::uint32_t first = 0;
    char colon = 0;
    in >> seed >> epoch >> example >> first >> colon;
    ASSERT_TRUE(in.good() && colon == ':') << line;
    Draws draws(seed, epoch, example);
    for (std::uint32_t i = 0; i < first; ++i) draws.word();
    for (std::uint32_t expected = 0; in >> std::hex >> expected;) {
      EXPECT_EQ(draws.word(), expected) << line;
    }
  }
}

TEST(Draws, DifferByAll48BitsOfTheExampleAnd40OfTheEpoch) {
  std::set<std::uint32_t> words{Draws(1, 0, 0).word(), Draws(2, 0, 0).word()};
  for (int bit = 0; bit < 48; ++bit) words.insert(Draws(1, 0, std::uint64_t{1} << bit).word());
  for (int bit = 0; bit < 40; ++bit) words.insert(Draws(1, std::uint64_t{1} << bit, 0).word());
  EXPECT_EQ(words.size(), 90U);
  // The words of one example are none of the next one's: a family may take all of its 1,024.
  Draws all(1, 0, 0);
  std::set<std::uint32_t> own;
  for (int i = 0; i < 1024; ++i) own.insert(all.word());
  EXPECT_EQ(own.size(), 1024U);
}

TEST(Draws, StayWithinTheirBounds) {
  EXPECT_EQ(scaled(0, 7), 0U);
  EXPECT_EQ(scaled(0xFFFFFFFF, 7), 6U);
  EXPECT_EQ(scaled(0xFFFFFFFF, 0xFFFFFFFF), 0xFFFFFFFEU);
  Draws draws(5, 6, 7);
  for (int i = 0; i < 500; ++i) {
    const float number = draws.uniform();
    EXPECT_TRUE(number >= 0 && number < 1) << number;
    const float between = draws.uniform(0.75F, 1.33F);
    EXPECT_TRUE(between >= 0.75F && between <= 1.33F) << between;
  }
}

}  // namespace
}  // namespace sterna::input
