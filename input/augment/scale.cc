#include "input/augment/scale.h"

#include <algorithm>

#include "input/augment/resize.h"
#include "input/pictures/decode.h"

namespace sterna::input {

Scaling whole_scaled(const PictureShape& from, std::uint32_t rows, std::uint32_t columns,
                     const PictureShape& shape) {
  return {.part = {0, 0, from.rows, from.columns},
          .rows = rows,
          .columns = columns,
          .window = {(rows - shape.rows) / 2, (columns - shape.columns) / 2, shape.rows,
                     shape.columns}};
}

Scaling whole_scaled_to_side(const PictureShape& from, std::uint32_t side,
                             const PictureShape& shape) {
  constexpr std::uint64_t kLongest = std::uint64_t{1} << 31;  // of a strip some pixels wide
  side = std::max({side, shape.rows, shape.columns});
  const std::uint64_t shorter = std::min(from.rows, from.columns);
  const auto length = [&](std::uint64_t of) {
    return static_cast<std::uint32_t>(
        std::min((2 * of * side + shorter) / (2 * shorter), kLongest));
  };
  return whole_scaled(from, length(from.rows), length(from.columns), shape);
}

std::uint32_t shrink_for(Coding coding, const Scaling& scaling) {
  if (!can_shrink(coding)) return 1;
  std::uint32_t shrink = 8;
  while (shrink > 1 && (scaling.part.rows / shrink < scaling.rows ||
                        scaling.part.columns / shrink < scaling.columns)) {
    shrink /= 2;
  }
  return shrink;
}

Result<void> scale(const EncodedPicture& picture, const PictureShape& from, const Scaling& scaling,
                   std::uint32_t channels, std::uint64_t most_pixels,
                   std::span<std::uint8_t> pixels) {
  const std::uint32_t shrink = shrink_for(picture.coding, scaling);
  const PictureShape smaller = shrunken(from, shrink);
  const Region& part = scaling.part;
  const std::uint32_t top = part.top / shrink;
  const std::uint32_t left = part.left / shrink;
  const std::uint32_t bottom = std::min((part.top + part.rows + shrink - 1) / shrink, smaller.rows);
  const std::uint32_t right =
      std::min((part.left + part.columns + shrink - 1) / shrink, smaller.columns);
  const Region& window = scaling.window;
  const Taps rows =
      make_taps(scaling.filter, {bottom - top, scaling.rows, window.top, window.rows});
  Taps columns =
      make_taps(scaling.filter, {right - left, scaling.columns, window.left, window.columns});
  if (scaling.flip) reverse(columns);
  STERNA_ASSIGN(
      const Picture read,
      decode(picture, {.channels = channels,
                       .shrink = shrink,
                       .region = Region{top + rows.begin, left + columns.begin,
                                        rows.end - rows.begin, columns.end - columns.begin},
                       .most_pixels = most_pixels}));
  resize(read, rows, columns, pixels);
  return {};
}

}  // namespace sterna::input
