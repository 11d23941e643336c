#include "input/pictures/jpeg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "input/pictures/encode.h"
#include "made_pictures.h"
#include "real_data.h"
#include "scratch.h"

namespace sterna::input {
namespace {

EncodedPicture as_jpeg(const Bytes& bytes) { return {Coding::jpeg, bytes, {}}; }

Bytes first_of(const Bytes& bytes, std::size_t size) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

int mean_difference(const Picture& a, const Picture& b) {
  if (a.shape != b.shape) return 255;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i)
    sum += static_cast<std::size_t>(std::abs(a.pixels[i] - b.pixels[i]));
  return static_cast<int>(sum / a.pixels.size());
}

Picture part_of(const Picture& whole, const Region& region) {
  return *decode({Coding::pixels, whole.pixels, whole.shape},
                 {.channels = whole.shape.channels, .region = region});
}

/// Every way that the tests write a JPEG.
std::vector<JpegForm> forms() {
  std::vector<JpegForm> all;
  for (const int across : {1, 2, 4})
    for (const int down : {1, 2}) all.push_back({.across = across, .down = down});
  all.push_back({.across = 3, .down = 1});
  all.push_back({.across = 2, .down = 4});
  for (const bool progressive : {false, true}) {
    for (const Colors colors : {Colors::grey, Colors::ycc, Colors::rgb, Colors::cmyk, Colors::ycck})
      for (const bool adobe : {true, false}) {
        // Without the marker nobody could tell YCCK from CMYK.
        if (colors == Colors::ycck && !adobe) continue;
        all.push_back({.colors = colors,
                       .across = colors == Colors::ycc ? 2 : 1,
                       .down = colors == Colors::ycc ? 2 : 1,
                       .progressive = progressive,
                       .adobe = adobe,
                       .restart_interval = 3});
      }
    all.push_back({.progressive = progressive, .arithmetic = true});
  }
  return all;
}

TEST(Jpeg, OfEveryFormLooksLikeWhatWasEncoded) {
  for (const JpegForm& form : forms()) {
    const bool grey = form.colors == Colors::grey;
    const Picture picture = made_picture({45, 70, grey ? 1U : 3U});
    const Bytes jpeg = make_jpeg(picture, form);
    EXPECT_EQ(*shape_of(as_jpeg(jpeg), kMostPixels), picture.shape);
    const auto decoded = decode(as_jpeg(jpeg), {.channels = picture.shape.channels});
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    EXPECT_LE(mean_difference(*decoded, picture), 6) << static_cast<int>(form.colors);
    const auto other = decode(as_jpeg(jpeg), {.channels = grey ? 3U : 1U});
    const auto expected =
        decode({Coding::pixels, decoded->pixels, decoded->shape}, {.channels = grey ? 3U : 1U});
    EXPECT_LE(mean_difference(*other, *expected), 2) << static_cast<int>(form.colors);
  }
}

TEST(Jpeg, IsTurnedUprightAsItsExifSays) {
  const Picture picture = made_picture({32, 48, 3});
  const Bytes jpeg = *encode_jpeg(picture, 95);
  const Picture stored = *decode(as_jpeg(jpeg), {});
  const auto pixel = [](const Picture& of, std::uint32_t row, std::uint32_t column) {
    const auto at = of.pixels.begin() + (row * of.shape.columns + column) * 3;
    return Bytes(at, at + 3);
  };
  // Where the stored picture's first pixel and the last of its first row are, when it is upright.
  struct Corners {
    bool first_low, first_right, last_low, last_right;
  };
  const std::array<Corners, 8> corners{{{false, false, false, true},
                                        {false, true, false, false},
                                        {true, true, true, false},
                                        {true, false, true, true},
                                        {false, false, true, false},
                                        {false, true, true, true},
                                        {true, true, false, true},
                                        {true, false, false, false}}};
  for (std::uint16_t orientation = 1; orientation <= 8; ++orientation) {
    for (const bool big_endian : {false, true}) {
      const Bytes turned = with_orientation(jpeg, orientation, big_endian);
      const Picture upright = *decode(as_jpeg(turned), {});
      const std::uint32_t rows = orientation < 5 ? 32 : 48;
      const std::uint32_t columns = orientation < 5 ? 48 : 32;
      EXPECT_EQ(upright.shape, (PictureShape{rows, columns, 3}));
      EXPECT_EQ(*shape_of(as_jpeg(turned), kMostPixels), upright.shape);
      const Corners& is = corners[orientation - 1U];
      EXPECT_EQ(pixel(upright, is.first_low ? rows - 1 : 0, is.first_right ? columns - 1 : 0),
                pixel(stored, 0, 0))
          << orientation;
      EXPECT_EQ(pixel(upright, is.last_low ? rows - 1 : 0, is.last_right ? columns - 1 : 0),
                pixel(stored, 0, 47))
          << orientation;
      const Region region{.top = 3, .left = 8, .rows = 17, .columns = 9};
      EXPECT_EQ(decode(as_jpeg(turned), {.region = region})->pixels,
                part_of(upright, region).pixels)
          << orientation;
    }
  }
}

TEST(Jpeg, IsTurnedWithItsBoxes) {
  const PictureShape stored{32, 64, 3};
  const Bytes jpeg = *encode_jpeg(made_picture(stored), 95);
  const auto box_of = [](const Region& region, const PictureShape& of) {
    const auto part = [](std::uint32_t pixels, std::uint32_t length) {
      return static_cast<float>(pixels) / static_cast<float>(length);
    };
    return Box{.top = part(region.top, of.rows),
               .left = part(region.left, of.columns),
               .bottom = part(region.top + region.rows, of.rows),
               .right = part(region.left + region.columns, of.columns)};
  };
  for (std::uint16_t exif = 1; exif <= 8; ++exif) {
    const Bytes turned = with_orientation(jpeg, exif, false);
    const PictureShape shape = *shape_of(as_jpeg(turned), kMostPixels);
    const Region region{.top = 3, .left = 8, .rows = 17, .columns = 9};
    const Region there = stored_region(region, stored, orientation_of(exif));
    EXPECT_EQ(upright({box_of(there, stored)}, as_jpeg(turned)), std::vector{box_of(region, shape)})
        << exif;
  }
  const std::vector<Box> boxes{{.top = 0.25F}};
  EXPECT_EQ(upright(boxes, as_jpeg({})), boxes);
}

TEST(Jpeg, IsUprightWhereItsExifIsDamaged) {
  const Bytes jpeg = *encode_jpeg(made_picture({16, 24, 3}), 90);
  const PictureShape stored{16, 24, 3};
  for (const std::uint16_t orientation : {0, 9, 0xffff})
    EXPECT_EQ(*shape_of(as_jpeg(with_orientation(jpeg, orientation, true)), kMostPixels), stored);
  const Bytes turned = with_orientation(jpeg, 6, true);
  constexpr std::size_t kTiff = 12;
  for (std::size_t i = kTiff; i < kTiff + 12; ++i) {  // its header, and how many entries there are
    Bytes damaged = turned;
    damaged[i] = 0xff;
    EXPECT_TRUE(shape_of(as_jpeg(damaged), kMostPixels).ok()) << i;
  }
}

TEST(Jpeg, OfHugeSizeIsRefusedByItsHeader) {
  Bytes jpeg = *encode_jpeg(made_picture({8, 8, 1}), 90);
  const std::array<std::uint8_t, 2> frame{0xff, 0xc0};
  const auto at = std::search(jpeg.begin(), jpeg.end(), frame.begin(), frame.end());
  ASSERT_NE(at, jpeg.end());
  for (int i = 5; i < 9; ++i) at[i] = 0xff - static_cast<std::uint8_t>(i % 2 == 0 ? 0x23 : 0);
  const auto shape = shape_of(as_jpeg(jpeg), kMostPixels);
  ASSERT_FALSE(shape.ok());
  EXPECT_EQ(shape.error().message, "65500 x 65500 pixels, more than the 67108864 that are allowed");
  EXPECT_EQ(decode(as_jpeg(jpeg), {}).error().message, shape.error().message);
}

TEST(Jpeg, CutShortIsAnErrorUnlessOnlyItsEndMarkerIsMissing) {
  const Picture picture = made_picture({40, 40, 3});
  for (const bool progressive : {false, true}) {
    const Bytes jpeg = make_jpeg(picture, {.progressive = progressive});
    for (const std::size_t missing :
         {std::size_t{20}, jpeg.size() / 3, jpeg.size() - 3, jpeg.size()})
      EXPECT_FALSE(decode(as_jpeg(first_of(jpeg, jpeg.size() - missing)), {}).ok()) << missing;
  }
  const Bytes jpeg = make_jpeg(picture, {});
  Bytes ended = first_of(jpeg, jpeg.size() - 20);
  ended.insert(ended.end(), jpeg.end() - 2, jpeg.end());
  EXPECT_EQ(decode(as_jpeg(ended), {}).error().message, "a JPEG that is cut short");
  const auto decoded = decode(as_jpeg(first_of(jpeg, jpeg.size() - 2)), {});
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(decoded->pixels, decode(as_jpeg(jpeg), {})->pixels);
}

TEST(Jpeg, OfALargePictureMayHaveFewerScans) {
  const Bytes jpeg =
      make_jpeg(made_picture({16, 16, 1}),
                {.colors = Colors::grey, .across = 1, .down = 1, .progressive = true});
  const std::array<std::uint8_t, 2> scan{0xff, 0xda};
  const auto last = std::find_end(jpeg.begin(), jpeg.end(), scan.begin(), scan.end());
  // 5,120 x 5,120 pixels, of which the file has the first few; 2^29 are 20 of that.
  const auto many = [&](int more) {
    Bytes bytes = jpeg;
    bytes.resize(bytes.size() - 2);
    for (int i = 0; i < more; ++i) bytes.insert(bytes.end(), last, jpeg.end() - 2);
    bytes.insert(bytes.end(), jpeg.end() - 2, jpeg.end());
    const std::array<std::uint8_t, 2> frame{0xff, 0xc2};
    const auto at = std::search(bytes.begin(), bytes.end(), frame.begin(), frame.end());
    for (int i = 5; i < 9; ++i) at[i] = i % 2 == 0 ? 0x00 : 0x14;
    return bytes;
  };
  const auto message = [&](int more) { return decode(as_jpeg(many(more)), {}).error().message; };
  EXPECT_THAT(message(2), testing::HasSubstr("cut short"));
  EXPECT_THAT(message(30), testing::HasSubstr("more scans than anyone writes"));
}

TEST(Jpeg, OfMoreScansThanAnyoneWritesIsRefused) {
  const Bytes jpeg =
      make_jpeg(made_picture({16, 16, 1}),
                {.colors = Colors::grey, .across = 1, .down = 1, .progressive = true});
  const std::array<std::uint8_t, 2> scan{0xff, 0xda};
  const auto last = std::find_end(jpeg.begin(), jpeg.end(), scan.begin(), scan.end());
  Bytes many = jpeg;
  many.resize(many.size() - 2);
  for (int i = 0; i < 200; ++i) many.insert(many.end(), last, jpeg.end() - 2);
  many.insert(many.end(), jpeg.end() - 2, jpeg.end());
  const auto decoded = decode(as_jpeg(many), {});
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.error().message,
            "a JPEG that cannot be decoded: it has more scans than anyone writes");
}

TEST(Jpeg, ShrunkLooksLikeTheMeanOfItsPixels) {
  const Picture picture = made_picture({64, 96, 1});
  const Bytes jpeg = *encode_jpeg(picture, 95);
  for (const std::uint32_t shrink : {2U, 4U, 8U}) {
    Picture expected{shrunken(picture.shape, shrink), {}};
    for (std::uint32_t at = 0; at < expected.shape.bytes(); ++at) {
      const std::uint32_t columns = expected.shape.columns;
      std::uint32_t sum = 0;
      for (std::uint32_t i = 0; i < shrink * shrink; ++i) {
        sum += picture.pixels[(at / columns * shrink + i / shrink) * picture.shape.columns +
                              at % columns * shrink + i % shrink];
      }
      expected.pixels.push_back(static_cast<std::uint8_t>(sum / (shrink * shrink)));
    }
    const auto decoded = decode(as_jpeg(jpeg), {.channels = 1, .shrink = shrink});
    EXPECT_LE(mean_difference(*decoded, expected), 2) << shrink;
  }
}

TEST(Jpeg, ShrinksToSizesThatAreRoundedUp) {
  const Picture picture = made_picture({61, 97, 3});
  const Bytes jpeg = *encode_jpeg(picture, 90);
  for (const std::uint32_t shrink : {1U, 2U, 4U, 8U}) {
    const auto decoded = decode(as_jpeg(jpeg), {.shrink = shrink});
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(decoded->shape, shrunken(picture.shape, shrink));
    EXPECT_EQ(decoded->shape.rows, (61 + shrink - 1) / shrink);
    EXPECT_EQ(decoded->shape.columns, (97 + shrink - 1) / shrink);
    const Bytes turned = with_orientation(jpeg, 6, false);
    EXPECT_EQ(decode(as_jpeg(turned), {.shrink = shrink})->shape.rows, decoded->shape.columns);
  }
}

/// Regions of this many random places and sizes are what the whole has there.
void expect_parts(const Bytes& jpeg, int count, std::uint32_t seed, const std::string& name) {
  std::mt19937 random(seed);
  for (const std::uint32_t shrink : {1U, 2U, 4U, 8U}) {
    const std::uint32_t channels = random() % 4 == 0 ? 1 : 3;
    const auto whole = decode(as_jpeg(jpeg), {.channels = channels, .shrink = shrink});
    if (!whole) return;
    const auto [rows, columns, unused] = whole->shape;
    for (int i = 0; i < count; ++i) {
      Region region;
      region.top = static_cast<std::uint32_t>(random()) % rows;
      region.left = static_cast<std::uint32_t>(random()) % columns;
      region.rows = 1 + static_cast<std::uint32_t>(random()) % (rows - region.top);
      region.columns = 1 + static_cast<std::uint32_t>(random()) % (columns - region.left);
      if (i % 2 == 0)
        region.rows = std::min(region.rows, 1 + static_cast<std::uint32_t>(random() % 20));
      if (i % 3 == 0)
        region.columns = std::min(region.columns, 1 + static_cast<std::uint32_t>(random() % 20));
      const auto part =
          decode(as_jpeg(jpeg), {.channels = channels, .shrink = shrink, .region = region});
      ASSERT_TRUE(part.ok()) << name << ": " << part.error().message;
      ASSERT_TRUE(part->pixels == part_of(*whole, region).pixels)
          << name << " / " << shrink << ": " << region.rows << " x " << region.columns << " at ("
          << region.top << ", " << region.left << ") of " << rows << " x " << columns;
    }
  }
}

TEST(Jpeg, APartIsWhatTheWholeHasThereBitForBit) {
  std::uint32_t seed = 0;
  for (const JpegForm& form : forms()) {
    for (const std::uint32_t side : {9U, 40U, 131U}) {
      const Picture picture = made_picture({side, side + 7, form.colors == Colors::grey ? 1U : 3U});
      ++seed;
      expect_parts(make_jpeg(picture, form), 8, seed,
                   "form " + std::to_string(seed) + " side " + std::to_string(side));
    }
  }
}

/// The JPEGs in `folder` of at most 250 kB, by name.
std::vector<std::filesystem::path> jpegs_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() == ".jpg" && file.file_size() <= 250000)
      paths.push_back(file.path());
  }
  std::ranges::sort(paths);
  return paths;
}

TEST(Jpeg, APartOfARealPhotographIsWhatTheWholeHasThere) {
  const auto photos = real_data("flower_photos/val");
  const auto odd = real_data("jpeg-odd");
  if (!photos || !odd) {
    GTEST_SKIP() << "SKIPPED: no flower_photos or jpeg-odd in $STERNA_DATA, ~/.cache/sterna or "
                    "../shared/data";
  }
  std::vector<std::filesystem::path> paths = jpegs_in(*odd);
  const std::vector<std::filesystem::path> all = jpegs_in(*photos);
  for (std::size_t i = 0; i < all.size(); i += 8) paths.push_back(all[i]);
  std::uint32_t seed = 0;
  for (const auto& path : paths) expect_parts(read_file(path), 3, ++seed, path.filename().string());
}

}  // namespace
}  // namespace sterna::input
