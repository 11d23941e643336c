// Pictures: as they are stored, and decoded to rows of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sterna::input {

/// Rows x columns pixels of `channels` bytes: 1 for grey, 3 for red, green and blue.
struct PictureShape {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint32_t channels = 0;
  std::size_t bytes() const { return std::size_t{rows} * columns * channels; }
  bool operator==(const PictureShape&) const = default;
};

/// What the bytes of a stored picture are: as decoded, row-major, a pixel's channels beside each
/// other (`pixels`); or a whole file.
enum class Coding : std::uint8_t { pixels, jpeg, png };

/// A picture as it is stored. A view: whoever owns the bytes keeps them.
struct EncodedPicture {
  Coding coding = Coding::pixels;
  std::span<const std::uint8_t> bytes;
  PictureShape shape;  ///< of `pixels`, whose bytes are as many; a file says its own
};

/// A decoded picture, upright: row-major, the channels of a pixel beside each other.
struct Picture {
  PictureShape shape;
  std::vector<std::uint8_t> pixels;
};

/// A box in a picture, as parts of its height and width: 0 <= top < bottom <= 1, left and right
/// alike.
struct Box {
  float top = 0;
  float left = 0;
  float bottom = 1;
  float right = 1;
  bool operator==(const Box&) const = default;
};

/// A part of a picture: [top, top + rows) x [left, left + columns), within it.
struct Region {
  std::uint32_t top = 0;
  std::uint32_t left = 0;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  bool operator==(const Region&) const = default;
};

}  // namespace sterna::input
