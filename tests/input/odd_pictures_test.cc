// Awkward pictures from the tests of other decoders: what they decode to is what those made of
// them.
#include "odd_pictures.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "input/pictures/decode.h"
#include "made_pictures.h"
#include "real_data.h"
#include "scratch.h"

namespace sterna::input {
namespace {

TEST(OddPictures, DecodeAsOthersDecodedThem) {
  const auto folder = real_data("jpeg-odd");
  if (!folder) {
    GTEST_SKIP() << "SKIPPED: no jpeg-odd in $STERNA_DATA, ~/.cache/sterna or ../shared/data";
  }
  const std::vector<OddPicture> all = odd_pictures(*folder);
  EXPECT_EQ(all.size(), 116U);
  const auto count = [&all](auto&& what) { return std::ranges::count_if(all, what); };
  EXPECT_EQ(count([](const OddPicture& odd) { return odd.has_reference; }), 41);
  EXPECT_EQ(count([](const OddPicture& odd) { return odd.difference && *odd.difference <= 2; }), 33)
      << table_of(all);
  EXPECT_EQ(count([](const OddPicture& odd) { return odd.has_reference && !odd.shape; }), 8);
  for (const OddPicture& odd : all) {
    if (!odd.has_reference || odd.shape) continue;
    EXPECT_NE(odd.error.find("SOF type 0xc3"), std::string::npos) << odd.file << odd.error;
  }
}

// By 2 and by 4 each library has a transform of its own.
TEST(OddPictures, ShrinkByEightAsOthersShrankThem) {
  const auto folder = real_data("jpeg-odd/jpeg-decoder");
  if (!folder) {
    GTEST_SKIP() << "SKIPPED: no jpeg-odd in $STERNA_DATA, ~/.cache/sterna or ../shared/data";
  }
  const Bytes jpeg = read_file(*folder / "rgb.jpg");
  const Bytes png = read_file(*folder / "rgb_63x42.png");
  const auto shrunk = decode({Coding::jpeg, jpeg, {}}, {.shrink = 8});
  const auto expected = decode({Coding::png, png, {}}, {});
  ASSERT_TRUE(shrunk.ok() && expected.ok());
  EXPECT_LE(difference(*shrunk, *expected).value_or(255), 2);
}

}  // namespace
}  // namespace sterna::input
