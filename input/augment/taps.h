// How one axis of a picture is resized: which source pixels make each of the new ones.
#pragma once

#include <cstdint>
#include <vector>

namespace sterna::input {

/// The first four are TF1's resize methods as its image_ops called them (align_corners = False: the
/// new pixel x lies at x * from / to, no half pixels), the last is what torchvision does.
enum class Filter : std::uint8_t {
  bilinear,  ///< the two neighbours
  nearest,   ///< the pixel at or before
  bicubic,   ///< the four neighbours, a = -0.75, the position rounded to 1/1024
  area,      ///< all that the new pixel covers, by how much
  triangle,  ///< bilinear between centres of pixels, widened to all that a smaller picture covers
};

/// `from` pixels become `to`, of which [first, first + count) are wanted.
struct Axis {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// New pixel i is the sum over t < width of weights[i * width + t] * source[starts[i] + t]. Weights
/// are computed in double and rounded once; a pixel's sum to 1. What lies beyond the border is the
/// border's pixel.
struct Taps {
  std::uint32_t begin = 0;  ///< of the source, [begin, end) is read
  std::uint32_t end = 0;
  std::uint32_t width = 0;            ///< at most end - begin
  std::vector<std::uint32_t> starts;  ///< from `begin` on; starts[i] + width <= end - begin
  std::vector<float> weights;
};

Taps make_taps(Filter filter, const Axis& axis);
/// The same taps for the new pixels from the last to the first.
void reverse(Taps& taps);

}  // namespace sterna::input
