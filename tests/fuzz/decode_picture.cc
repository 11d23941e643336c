#include "tests/fuzz/decode_picture.h"

#include <zlib.h>

#include <cstdlib>
#include <span>

#include "input/pictures/decode.h"
#include "tests/input/made_pictures.h"

namespace sterna::fuzz {

namespace {

using input::Bytes;
using input::Coding;
using input::Colors;
using input::DecodeOptions;
using input::Picture;
using input::PictureShape;
using input::Region;

constexpr std::size_t kFront = 5;
constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 18;  // tens of milliseconds

void require(bool holds) {
  if (!holds) std::abort();
}

DecodeOptions options_of(Coding coding, std::uint8_t byte) {
  return {.channels = byte % 2 == 0 ? 3U : 1U,
          .shrink = can_shrink(coding) ? 1U << (byte / 2 % 4) : 1U,
          .most_pixels = kMostPixels};
}

/// 256ths of the picture, as a part of it that is not empty.
Region region_of(const std::uint8_t* front, const PictureShape& shape) {
  const auto part = [](std::uint8_t share, std::uint32_t of) {
    return static_cast<std::uint32_t>(std::uint64_t{share} * of / 256);
  };
  Region region;
  region.top = part(front[1], shape.rows);
  region.left = part(front[2], shape.columns);
  region.rows = 1 + part(front[3], shape.rows - region.top);
  region.columns = 1 + part(front[4], shape.columns - region.left);
  return region;
}

/// A PNG is 8 bytes, then chunks: length, type, content, the CRC-32 of the latter two.
void put_checksums_right(Bytes& png) {
  std::size_t at = 8;
  while (at + 12 <= png.size()) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | png[at + i];
    if (length > png.size() - at - 12) return;
    const auto sum = crc32(0, png.data() + at + 4, static_cast<uInt>(length + 4));
    for (std::size_t i = 0; i < 4; ++i)
      png[at + 8 + length + i] = static_cast<std::uint8_t>(sum >> (24 - 8 * i));
    at += 12 + length;
  }
}

std::string input_of(std::size_t number, const Bytes& file) {
  std::string input;
  for (const std::size_t front : {number, number * 37, number * 71, number * 113, number * 151})
    input += static_cast<char>(front);
  return input.append(file.begin(), file.end());
}

std::vector<Bytes> jpegs() {
  const Picture grey = input::made_picture({19, 35, 1});
  const Picture color = input::made_picture({35, 19, 3});
  std::vector<Bytes> all;
  for (const bool progressive : {false, true}) {
    for (const unsigned interval : {0U, 2U}) {
      for (const Colors colors : {Colors::ycc, Colors::rgb, Colors::cmyk, Colors::ycck}) {
        const int samples = colors == Colors::rgb ? 1 : 2;
        all.push_back(make_jpeg(color, {.colors = colors,
                                        .across = samples,
                                        .down = samples,
                                        .progressive = progressive,
                                        .restart_interval = interval}));
      }
      all.push_back(make_jpeg(grey, {.colors = Colors::grey,
                                     .across = 1,
                                     .down = 1,
                                     .progressive = progressive,
                                     .restart_interval = interval}));
    }
    all.push_back(make_jpeg(color, {.progressive = progressive, .arithmetic = true}));
  }
  for (const int across : {1, 2, 4}) all.push_back(make_jpeg(color, {.across = across, .down = 1}));
  all.push_back(make_jpeg(color, {.across = 1, .down = 2}));
  for (std::uint16_t orientation = 2; orientation <= 8; ++orientation)
    all.push_back(input::with_orientation(all[0], orientation, orientation % 2 == 0));
  return all;
}

std::vector<Bytes> pngs() {
  const Picture grey = input::made_picture({9, 13, 1});
  const Picture color = input::made_picture({11, 7, 3});
  std::vector<Bytes> all;
  for (const bool interlaced : {false, true}) {
    for (const int depth : {1, 2, 4, 8, 16}) {
      for (const bool key : {false, true}) {
        input::PngForm form{.bit_depth = depth, .key = key, .interlaced = interlaced};
        all.push_back(make_png(grey, form));
        if (depth >= 8) all.push_back(make_png(color, form));
        form.palette = true;
        if (depth <= 8) all.push_back(make_png(grey, form));
        form = {.bit_depth = depth, .alpha = true, .interlaced = interlaced};
        if (depth >= 8 && key) all.push_back(make_png(color, form));
      }
    }
  }
  return all;
}

}  // namespace

bool decode_picture(Coding coding, const std::uint8_t* data, std::size_t size) {
  if (size < kFront) return false;
  Bytes file(data + kFront, data + size);
  if (coding == Coding::png) put_checksums_right(file);
  const input::EncodedPicture encoded{coding, file, {}};
  DecodeOptions options = options_of(coding, data[0]);
  const auto shape = shape_of(encoded, kMostPixels);
  const auto whole = decode(encoded, options);
  if (!whole) return false;
  require(shape.ok());
  require(whole->shape.rows == shrunken(*shape, options.shrink).rows);
  require(whole->shape.columns == shrunken(*shape, options.shrink).columns);
  require(whole->pixels.size() == whole->shape.bytes());

  options.region = region_of(data, whole->shape);
  const auto part = decode(encoded, options);
  require(part.ok());
  const auto expected = input::decode({Coding::pixels, whole->pixels, whole->shape},
                                      {.channels = options.channels, .region = options.region});
  require(expected.ok() && part->shape == expected->shape && part->pixels == expected->pixels);
  return true;
}

std::vector<std::string> picture_seeds(Coding coding) {
  std::vector<std::string> inputs;
  for (const Bytes& file : coding == Coding::png ? pngs() : jpegs())
    inputs.push_back(input_of(inputs.size(), file));
  return inputs;
}

}  // namespace sterna::fuzz
