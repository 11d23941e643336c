// Pictures of the tests' own, and files that the room's encoders do not write.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "input/pictures/picture.h"

namespace sterna::input {

using Bytes = std::vector<std::uint8_t>;

/// Waves with a little noise, as photographs have; the same for the same shape.
Picture made_picture(const PictureShape& shape);

enum class Colors { grey, ycc, rgb, cmyk, ycck };

/// How a JPEG is written.
struct JpegForm {
  Colors colors = Colors::ycc;
  int across = 2;  ///< samples of the first channel to one of the others, across and down
  int down = 2;
  bool progressive = false;
  bool arithmetic = false;
  bool adobe = true;              ///< for cmyk and ycck: Adobe's marker, and light instead of ink
  unsigned restart_interval = 0;  ///< in blocks of the whole; 0: no restart markers
};

/// The picture (of three channels, or one for grey) as a JPEG of this form, quality 90.
Bytes make_jpeg(const Picture& picture, const JpegForm& form);

/// The JPEG with an EXIF segment that has this orientation, in either order of bytes.
Bytes with_orientation(std::span<const std::uint8_t> jpeg, std::uint16_t orientation,
                       bool big_endian);

/// How a PNG is written.
struct PngForm {
  int bit_depth = 8;   ///< of 16, the lower byte is the upper one's; of fewer, the upper bits stay
  bool alpha = false;  ///< every pixel has another one
  bool palette = false;  ///< of 256 greys; for pictures of one channel
  bool key = false;      ///< tRNS: one colour is transparent
  bool interlaced = false;
};

Bytes make_png(const Picture& picture, const PngForm& form);

}  // namespace sterna::input
