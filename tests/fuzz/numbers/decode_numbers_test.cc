// What the fuzzer does for hours, for a moment: every seed decodes, and every seed with one byte
// changed, or cut short, ends in finite numbers or an error.
#include "tests/fuzz/numbers/decode_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sterna::fuzz {
namespace {

constexpr std::size_t kLookedAt = 300;  // beyond every header

bool decodes(const std::string& input) {
  return decode_numbers(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

TEST(DecodeNumbers, SeedsDecode) {
  const std::vector<std::string> all = number_seeds();
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(decodes(all[i])) << "seed " << i;
}

TEST(DecodeNumbers, NeitherAWrongByteNorATruncationHurts) {
  std::size_t refused = 0;
  std::size_t tried = 0;
  for (std::string input : number_seeds()) {
    for (std::size_t at = 0; at < std::min(input.size(), kLookedAt); ++at) {
      const char right = input[at];
      for (const int flip : {0x01, 0x80, 0xff}) {
        input[at] = static_cast<char>(right ^ flip);
        refused += decodes(input) ? 0 : 1;
        ++tried;
      }
      input[at] = right;
      EXPECT_FALSE(decodes(input.substr(0, at)));
    }
  }
  EXPECT_GT(refused, 0U);
  EXPECT_LT(refused, tried);
}

}  // namespace
}  // namespace sterna::fuzz
