#include "input/augment/cut.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "input/pictures/decode.h"

namespace sterna::input {

namespace {

/// Copies `count` pixels of N bytes, the last one first.
template <std::size_t N>
void copy_reversed(const std::uint8_t* from, std::size_t count, std::uint8_t* to) {
  const std::uint8_t* pixel = from + count * N;
  for (std::size_t i = 0; i < count; ++i) {
    pixel -= N;
    for (std::size_t c = 0; c < N; ++c) to[i * N + c] = pixel[c];
  }
}

/// Rows of `stride` bytes from `from` on, to where the window lies in `pixels`.
void copy_window(const std::uint8_t* from, std::size_t stride, const Cut& cut,
                 const PictureShape& shape, std::span<std::uint8_t> pixels) {
  const std::size_t channels = shape.channels;
  const std::uint32_t left =
      cut.flip ? shape.columns - cut.columns.target - cut.columns.count : cut.columns.target;
  if (cut.rows.count < shape.rows || cut.columns.count < shape.columns) {
    std::ranges::fill(pixels, std::uint8_t{0});
  }
  for (std::uint32_t y = 0; y < cut.rows.count; ++y) {
    const std::uint8_t* row = from + y * stride;
    std::uint8_t* to =
        &pixels[(std::size_t{cut.rows.target + y} * shape.columns + left) * channels];
    if (!cut.flip) {
      std::memcpy(to, row, cut.columns.count * channels);
    } else if (channels == 1) {
      copy_reversed<1>(row, cut.columns.count, to);
    } else {
      copy_reversed<3>(row, cut.columns.count, to);
    }
  }
}

}  // namespace

std::uint32_t places(std::uint32_t from, std::uint32_t to) { return from > to ? from - to + 1 : 1; }

Segment window(std::uint32_t from, std::uint32_t to, std::uint32_t first) {
  assert(first < places(from, to));
  if (from >= to) return {first, 0, to};
  return {0, (to - from) / 2, from};
}

Segment central_window(std::uint32_t from, std::uint32_t to) {
  return window(from, to, (places(from, to) - 1) / 2);
}

Result<void> cut(const EncodedPicture& picture, const Cut& cut, const PictureShape& shape,
                 std::uint64_t most_pixels, std::span<std::uint8_t> pixels) {
  assert(pixels.size() == shape.bytes());
  if (picture.coding == Coding::pixels && picture.shape.channels == shape.channels) {
    const std::size_t stride = std::size_t{picture.shape.columns} * shape.channels;
    const std::size_t first =
        cut.rows.source * stride + std::size_t{cut.columns.source} * shape.channels;
    copy_window(picture.bytes.data() + first, stride, cut, shape, pixels);
    return {};
  }
  STERNA_ASSIGN(const Picture part,
                decode(picture, {.channels = shape.channels,
                                 .shrink = 1,
                                 .region = Region{cut.rows.source, cut.columns.source,
                                                  cut.rows.count, cut.columns.count},
                                 .most_pixels = most_pixels}));
  copy_window(part.pixels.data(), std::size_t{part.shape.columns} * shape.channels, cut, shape,
              pixels);
  return {};
}

}  // namespace sterna::input
