// Which elements dropout keeps.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

namespace sterna::kernels {

/// The place of a dropout layer's elements among all draws: stream `dropout`, mapped as a tensor's
/// trits (kernels/trits/TRITS.md). Element `first` of the rank's whole batch is the first of a
/// span.
struct DropoutDraw {
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint32_t rank = 0;   ///< below 65,536
  std::uint32_t layer = 0;  ///< below 65,536
  std::uint64_t first = 0;
};

/// The element is kept whose word is below this.
inline std::uint32_t dropout_limit(float keep) {
  return static_cast<std::uint32_t>(std::lround(static_cast<double>(keep) * 0x1p32));
}

/// out = x / keep where the element's word is below keep · 2³², else 0. `keep` is above 0 and below
/// 1. `out` may be `x`. The same bits on every machine.
void dropout(std::span<const float> x, float keep, const DropoutDraw& draw, std::span<float> out);

}  // namespace sterna::kernels
