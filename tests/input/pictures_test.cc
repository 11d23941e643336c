// What holds of decoding whatever the coding, and of what encodes.
#include <gtest/gtest.h>

#include "input/pictures/decode.h"
#include "input/pictures/encode.h"
#include "input/pictures/pixels.h"
#include "made_pictures.h"

namespace sterna::input {
namespace {

EncodedPicture as_pixels(const Picture& picture) {
  return {Coding::pixels, picture.pixels, picture.shape};
}

TEST(Decode, KnowsACodingByItsFirstBytes) {
  const Picture picture = made_picture({4, 5, 3});
  EXPECT_EQ(*coding_of(*encode_jpeg(picture, 90)), Coding::jpeg);
  EXPECT_EQ(*coding_of(*encode_png(picture)), Coding::png);
  EXPECT_EQ(coding_of({}).error().code, Errc::malformed);
  EXPECT_FALSE(coding_of(std::vector<std::uint8_t>{0xff, 0xd8}).ok());
}

TEST(Decode, GivesPixelsAsTheyAreOrAPartOfThem) {
  const Picture picture = made_picture({7, 9, 3});
  EXPECT_EQ(decode(as_pixels(picture), {})->pixels, picture.pixels);
  EXPECT_EQ(*shape_of(as_pixels(picture), kMostPixels), picture.shape);
  const auto part = decode(as_pixels(picture), {.region = Region{2, 3, 1, 2}});
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->shape, (PictureShape{1, 2, 3}));
  const auto at = picture.pixels.begin() + (2 * 9 + 3) * 3;
  EXPECT_EQ(part->pixels, std::vector<std::uint8_t>(at, at + 6));
}

TEST(Decode, TurnsGreyIntoColourAndColourIntoGrey) {
  const Picture grey = made_picture({3, 4, 1});
  const auto colour = decode(as_pixels(grey), {.channels = 3});
  ASSERT_TRUE(colour.ok());
  EXPECT_EQ(colour->pixels[5], grey.pixels[1]);
  EXPECT_EQ(decode(as_pixels(*colour), {.channels = 1})->pixels, grey.pixels);
  EXPECT_EQ(grey_of(255, 0, 0), 76);
  EXPECT_EQ(grey_of(0, 255, 0), 150);
  EXPECT_EQ(grey_of(0, 0, 255), 29);
  EXPECT_EQ(grey_of(255, 255, 255), 255);
}

TEST(Decode, RefusesPixelsThatAreNotAsManyAsTheirShapeSays) {
  Picture picture = made_picture({3, 4, 3});
  picture.shape.rows = 4;
  EXPECT_EQ(decode(as_pixels(picture), {}).error().code, Errc::malformed);
  EXPECT_FALSE(shape_of(as_pixels(picture), kMostPixels).ok());
  EXPECT_FALSE(decode({}, {}).ok());
}

TEST(Decode, RefusesOptionsThatNoPictureCanHave) {
  const Picture picture = made_picture({8, 8, 3});
  const Bytes jpeg = *encode_jpeg(picture, 90);
  const Bytes png = *encode_png(picture);
  const auto code = [&](Coding coding, const DecodeOptions& options) {
    const Bytes& bytes = coding == Coding::jpeg  ? jpeg
                         : coding == Coding::png ? png
                                                 : picture.pixels;
    const auto decoded = decode({coding, bytes, picture.shape}, options);
    return decoded.ok() ? Errc::internal : decoded.error().code;
  };
  for (const Coding coding : {Coding::pixels, Coding::jpeg, Coding::png}) {
    EXPECT_EQ(code(coding, {.channels = 2}), Errc::invalid_argument);
    EXPECT_EQ(code(coding, {.shrink = 3}), Errc::invalid_argument);
    EXPECT_EQ(code(coding, {.region = Region{0, 0, 9, 1}}), Errc::invalid_argument);
    EXPECT_EQ(code(coding, {.region = Region{8, 0, 1, 1}}), Errc::invalid_argument);
    EXPECT_EQ(code(coding, {.region = Region{0, 4, 1, 0xffffffff}}), Errc::invalid_argument);
    EXPECT_EQ(code(coding, {.region = Region{0, 0, 0, 1}}), Errc::invalid_argument);
    EXPECT_EQ(code(coding, {.most_pixels = 63}), Errc::malformed);
    EXPECT_EQ(code(coding, {.most_pixels = 64}), Errc::internal);
    EXPECT_EQ(code(coding, {.shrink = 2}),
              can_shrink(coding) ? Errc::internal : Errc::invalid_argument);
  }
}

TEST(Encode, RefusesWhatTheFilesCannotHold) {
  EXPECT_FALSE(encode_png({{0, 0, 1}, {}}).ok());
  EXPECT_FALSE(encode_jpeg({{0, 0, 1}, {}}, 90).ok());
  EXPECT_FALSE(encode_jpeg(Picture{{1, 70000, 1}, Bytes(70000)}, 90).ok());
}

}  // namespace
}  // namespace sterna::input
