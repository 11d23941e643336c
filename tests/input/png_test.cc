#include "input/pictures/png.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "input/pictures/encode.h"
#include "made_pictures.h"

namespace sterna::input {
namespace {

EncodedPicture as_png(const Bytes& bytes) { return {Coding::png, bytes, {}}; }

TEST(Png, DecodesToThePixelsThatWereEncoded) {
  for (const std::uint32_t channels : {1U, 3U}) {
    const Picture picture = made_picture({31, 17, channels});
    const Bytes bytes = *encode_png(picture);
    EXPECT_EQ(*shape_of(as_png(bytes), kMostPixels), picture.shape);
    EXPECT_EQ(decode(as_png(bytes), {.channels = channels})->pixels, picture.pixels);
  }
}

TEST(Png, OfEveryFormHasTheSamePixels) {
  const Picture grey = made_picture({13, 21, 1});
  const Picture colour = made_picture({13, 21, 3});
  for (const bool interlaced : {false, true}) {
    for (const int depth : {8, 16}) {
      for (const bool alpha : {false, true}) {
        const PngForm form{
            .bit_depth = depth, .alpha = alpha, .key = !alpha, .interlaced = interlaced};
        EXPECT_EQ(decode(as_png(make_png(grey, form)), {.channels = 1})->pixels, grey.pixels);
        EXPECT_EQ(decode(as_png(make_png(colour, form)), {})->pixels, colour.pixels);
      }
    }
    const Bytes palette = make_png(grey, {.palette = true, .key = true, .interlaced = interlaced});
    EXPECT_EQ(decode(as_png(palette), {.channels = 1})->pixels, grey.pixels);
    EXPECT_EQ(shape_of(as_png(palette), kMostPixels)->channels, 3U);
  }
}

TEST(Png, OfFewBitsSpreadsThemOverEight) {
  const Picture grey = made_picture({5, 11, 1});
  for (const int depth : {1, 2, 4}) {
    for (const bool palette : {false, true}) {
      const auto decoded =
          decode(as_png(make_png(grey, {.bit_depth = depth, .palette = palette})), {.channels = 1});
      ASSERT_TRUE(decoded.ok()) << decoded.error().message;
      const int most = (1 << depth) - 1;
      for (std::size_t i = 0; i < grey.pixels.size(); ++i)
        EXPECT_EQ(decoded->pixels[i], (grey.pixels[i] >> (8 - depth)) * 255 / most);
    }
  }
}

TEST(Png, SixteenBitsAreRoundedNotCut) {
  Bytes png = make_png(Picture{{1, 2, 1}, {100, 100}}, {.bit_depth = 16});
  const auto decoded = decode(as_png(png), {.channels = 1});
  EXPECT_EQ(decoded->pixels, Bytes({100, 100}));
}

TEST(Png, APartIsWhatTheWholeHasThere) {
  const Picture picture = made_picture({23, 19, 3});
  const Region region{.top = 5, .left = 7, .rows = 11, .columns = 3};
  const auto expected = decode({Coding::pixels, picture.pixels, picture.shape}, {.region = region});
  for (const bool interlaced : {false, true}) {
    const Bytes png = make_png(picture, {.interlaced = interlaced});
    EXPECT_EQ(decode(as_png(png), {.region = region})->pixels, expected->pixels);
  }
}

/// The PNG with this chunk after its header.
Bytes with_chunk(const Bytes& png, const std::string& type, const Bytes& content) {
  Bytes chunk;
  const auto put = [&chunk](std::size_t value) {
    for (const int shift : {24, 16, 8, 0})
      chunk.push_back(static_cast<std::uint8_t>(value >> shift));
  };
  put(content.size());
  chunk.insert(chunk.end(), type.begin(), type.end());
  chunk.insert(chunk.end(), content.begin(), content.end());
  put(crc32(0, chunk.data() + 4, static_cast<uInt>(chunk.size() - 4)));
  constexpr std::ptrdiff_t kHeader = 8 + 12 + 13;
  Bytes bytes = png;
  bytes.insert(bytes.begin() + kHeader, chunk.begin(), chunk.end());
  return bytes;
}

TEST(Png, PassesOverWhatIsNoPictureHoweverLarge) {
  const Picture picture = made_picture({9, 9, 3});
  const Bytes png = *encode_png(picture);
  for (const char* type : {"zTXt", "iCCP", "teSt"}) {
    const auto decoded = decode(as_png(with_chunk(png, type, Bytes(5'000'000, 7))), {});
    ASSERT_TRUE(decoded.ok()) << type << ": " << decoded.error().message;
    EXPECT_EQ(decoded->pixels, picture.pixels);
  }
  EXPECT_FALSE(decode(as_png(with_chunk(png, "TEST", {})), {}).ok());  // a picture needs it
}

TEST(Png, OfALongerSideThanAJpegMayHaveIsRefused) {
  const auto strip = [](std::uint32_t rows, std::uint32_t columns) {
    return *encode_png({{rows, columns, 1}, Bytes(std::size_t{rows} * columns)});
  };
  EXPECT_TRUE(decode(as_png(strip(1, kMostSide)), {}).ok());
  EXPECT_TRUE(decode(as_png(strip(kMostSide, 1)), {}).ok());
  const auto wide = shape_of(as_png(strip(1, kMostSide + 1)), kMostPixels);
  ASSERT_FALSE(wide.ok());
  EXPECT_EQ(wide.error().message, "1 x 65537 pixels, and a side has at most 65536");
  EXPECT_FALSE(decode(as_png(strip(kMostSide + 1, 1)), {}).ok());
}

TEST(Png, AWrongByteAnywhereIsAnError) {
  const Bytes png = *encode_png(made_picture({9, 9, 3}));
  for (std::size_t i = 0; i < png.size(); ++i) {
    Bytes damaged = png;
    damaged[i] ^= 1;
    EXPECT_FALSE(decode(as_png(damaged), {}).ok()) << "byte " << i;
  }
}

TEST(Png, CutShortIsAnError) {
  for (const bool interlaced : {false, true}) {
    const Bytes png = make_png(made_picture({9, 9, 3}), {.interlaced = interlaced});
    for (std::size_t size = 0; size < png.size(); ++size)
      EXPECT_FALSE(
          decode(as_png(Bytes(png.begin(), png.begin() + static_cast<std::ptrdiff_t>(size))), {})
              .ok())
          << size;
  }
}

}  // namespace
}  // namespace sterna::input
