#include "input/pictures/pixels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "input/pictures/decode.h"

namespace sterna::input {

Result<void> check_size(std::uint64_t rows, std::uint64_t columns, std::uint64_t most_pixels) {
  if (rows == 0 || columns == 0) return Error{Errc::malformed, "a picture without pixels"};
  if (rows > kMostSide || columns > kMostSide) {
    return Error{Errc::malformed, fmt::format("{} x {} pixels, and a side has at most {}", rows,
                                              columns, kMostSide)};
  }
  if (columns <= most_pixels / rows) return {};
  return Error{Errc::malformed, fmt::format("{} x {} pixels, more than the {} that are allowed",
                                            rows, columns, most_pixels)};
}

Result<Region> region_in(const PictureShape& shape, const std::optional<Region>& region) {
  if (!region) return Region{.rows = shape.rows, .columns = shape.columns};
  const bool within = region->top <= shape.rows && region->rows <= shape.rows - region->top &&
                      region->left <= shape.columns &&
                      region->columns <= shape.columns - region->left;
  if (within && region->rows > 0 && region->columns > 0) return *region;
  return Error{Errc::invalid_argument,
               fmt::format("a region of {} x {} pixels at ({}, {}) is no part of a picture of "
                           "{} x {}",
                           region->rows, region->columns, region->top, region->left, shape.rows,
                           shape.columns)};
}

std::uint8_t grey_of(std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
  constexpr std::uint32_t kRed = 19595;  // 0.299 x 2^16; the three add up to 2^16
  constexpr std::uint32_t kGreen = 38470;
  constexpr std::uint32_t kBlue = 7471;
  return static_cast<std::uint8_t>((kRed * red + kGreen * green + kBlue * blue + (1U << 15)) >> 16);
}

void convert_channels(std::span<const std::uint8_t> from, std::uint32_t from_channels,
                      std::span<std::uint8_t> to, std::uint32_t to_channels) {
  assert(from.size() / from_channels == to.size() / to_channels);
  if (from_channels == to_channels) {
    std::ranges::copy(from, to.begin());
  } else if (to_channels == 1) {
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = grey_of(from[3 * i], from[3 * i + 1], from[3 * i + 2]);
  } else {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i / 3];
  }
}

}  // namespace sterna::input
