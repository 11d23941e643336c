// What the fuzzers do for hours, for a moment: every seed decodes, and every seed with some bytes
// changed, or cut short, ends in a picture or an error.
#include "tests/fuzz/decode_picture.h"

#include <gtest/gtest.h>

#include <random>

namespace sterna::fuzz {
namespace {

using input::Coding;

bool decodes(Coding coding, const std::string& input) {
  return decode_picture(coding, reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

class DecodePicture : public testing::TestWithParam<Coding> {};

TEST_P(DecodePicture, SeedsDecode) {
  const std::vector<std::string> all = picture_seeds(GetParam());
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_TRUE(decodes(GetParam(), all[i])) << "seed " << i;
}

TEST_P(DecodePicture, NeitherWrongBytesNorATruncationHurt) {
  std::mt19937 random(1);
  std::size_t refused = 0;
  for (const std::string& seed : picture_seeds(GetParam())) {
    for (int i = 0; i < 20; ++i) {
      std::string damaged = seed;
      for (int changes = 1 << i % 5; changes > 0; --changes)
        damaged[random() % damaged.size()] = static_cast<char>(random());
      if (i % 4 == 0) damaged.resize(random() % damaged.size());
      if (!decodes(GetParam(), damaged)) ++refused;
    }
  }
  EXPECT_GT(refused, 100U);
}

INSTANTIATE_TEST_SUITE_P(Codings, DecodePicture, testing::Values(Coding::jpeg, Coding::png),
                         [](const auto& coding) {
                           return coding.param == Coding::jpeg ? "Jpeg" : "Png";
                         });

}  // namespace
}  // namespace sterna::fuzz
