#include "input/pictures/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "input/pictures/jpeg.h"
#include "input/pictures/pixels.h"
#include "input/pictures/png.h"

namespace sterna::input {

namespace {

constexpr std::array<std::uint8_t, 3> kJpegStart{0xff, 0xd8, 0xff};
constexpr std::array<std::uint8_t, 8> kPngStart{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

bool starts_with(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> start) {
  return bytes.size() >= start.size() && std::ranges::equal(bytes.first(start.size()), start);
}

Result<PictureShape> pixels_shape(const EncodedPicture& picture, std::uint64_t most_pixels) {
  const PictureShape& shape = picture.shape;
  STERNA_TRY(check_size(shape.rows, shape.columns, most_pixels));
  if ((shape.channels != 1 && shape.channels != 3) || shape.bytes() != picture.bytes.size()) {
    return Error{Errc::malformed,
                 fmt::format("{} bytes are no {} x {} pixels of {} channels", picture.bytes.size(),
                             shape.rows, shape.columns, shape.channels)};
  }
  return shape;
}

Result<Picture> decode_pixels(const EncodedPicture& encoded, const DecodeOptions& options) {
  STERNA_ASSIGN(const PictureShape stored, pixels_shape(encoded, options.most_pixels));
  STERNA_ASSIGN(const Region part, region_in(stored, options.region));
  Picture picture{{part.rows, part.columns, options.channels}, {}};
  picture.pixels.resize(picture.shape.bytes());
  const std::size_t row_bytes = std::size_t{part.columns} * options.channels;
  for (std::size_t row = 0; row < part.rows; ++row) {
    const std::size_t first = (part.top + row) * stored.columns + part.left;
    convert_channels(
        encoded.bytes.subspan(first * stored.channels, std::size_t{part.columns} * stored.channels),
        stored.channels, std::span(picture.pixels).subspan(row * row_bytes, row_bytes),
        options.channels);
  }
  return picture;
}

Result<void> check_options(Coding coding, const DecodeOptions& options) {
  if (options.channels != 1 && options.channels != 3) {
    return Error{Errc::invalid_argument,
                 fmt::format("pictures are decoded to 1 channel or 3, not {}", options.channels)};
  }
  constexpr std::array<std::uint32_t, 4> kShrinks{1, 2, 4, 8};
  if (std::ranges::find(kShrinks, options.shrink) == kShrinks.end()) {
    return Error{Errc::invalid_argument,
                 fmt::format("pictures shrink by 1, 2, 4 or 8, not {}", options.shrink)};
  }
  if (options.shrink == 1 || can_shrink(coding)) return {};
  return Error{Errc::invalid_argument, "only a JPEG shrinks while it is decoded"};
}

}  // namespace

Result<Coding> coding_of(std::span<const std::uint8_t> bytes) {
  if (starts_with(bytes, kJpegStart)) return Coding::jpeg;
  if (starts_with(bytes, kPngStart)) return Coding::png;
  return Error{Errc::malformed, "neither a JPEG nor a PNG"};
}

bool can_shrink(Coding coding) { return coding == Coding::jpeg; }

PictureShape shrunken(const PictureShape& shape, std::uint32_t shrink) {
  const auto part = [shrink](std::uint32_t length) {
    return length / shrink + (length % shrink != 0 ? 1 : 0);
  };
  return {part(shape.rows), part(shape.columns), shape.channels};
}

Result<PictureShape> shape_of(const EncodedPicture& picture, std::uint64_t most_pixels) {
  switch (picture.coding) {
    case Coding::jpeg:
      return jpeg_shape(picture.bytes, most_pixels);
    case Coding::png:
      return png_shape(picture.bytes, most_pixels);
    case Coding::pixels:
      break;
  }
  return pixels_shape(picture, most_pixels);
}

std::vector<Box> upright(std::vector<Box> boxes, const EncodedPicture& picture) {
  if (boxes.empty() || picture.coding != Coding::jpeg) return boxes;
  const Orientation orientation = jpeg_orientation(picture.bytes);
  for (Box& box : boxes) box = upright(box, orientation);
  return boxes;
}

Result<Picture> decode(const EncodedPicture& picture, const DecodeOptions& options) {
  STERNA_TRY(check_options(picture.coding, options));
  switch (picture.coding) {
    case Coding::jpeg:
      return decode_jpeg(picture.bytes, options);
    case Coding::png:
      return decode_png(picture.bytes, options);
    case Coding::pixels:
      break;
  }
  return decode_pixels(picture, options);
}

}  // namespace sterna::input
