// What resizing does to whole rows, per instruction set; the same source, which compilers turn into
// vectors. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "input/augment/lanes.h"

namespace sterna::input {

/// Two rows and what each weighs.
struct TwoRows {
  const std::uint8_t* upper;
  const std::uint8_t* lower;
  float upper_weight;
  float lower_weight;
};

/// What an instruction set has for it.
struct RowKernels {
  /// out[i] = upper * its weight + lower * its weight
  void (*start)(const TwoRows& rows, std::size_t count, float* out);
  /// out[i] = out[i] + (the same)
  void (*add)(const TwoRows& rows, std::size_t count, float* out);
  /// Clamped to 0 ... 255 and rounded.
  void (*round)(const float* values, std::size_t count, std::uint8_t* out);
};
extern const RowKernels kRowKernels;
extern const RowKernels kRowKernelsAvx2;

STERNA_LANES_INLINE void start_rows(const TwoRows& rows, std::size_t count, float* __restrict out) {
  const std::uint8_t* __restrict upper = rows.upper;
  const std::uint8_t* __restrict lower = rows.lower;
  const float a = rows.upper_weight;
  const float b = rows.lower_weight;
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = a * static_cast<float>(upper[i]) + b * static_cast<float>(lower[i]);
  }
}

STERNA_LANES_INLINE void add_rows(const TwoRows& rows, std::size_t count, float* __restrict out) {
  const std::uint8_t* __restrict upper = rows.upper;
  const std::uint8_t* __restrict lower = rows.lower;
  const float a = rows.upper_weight;
  const float b = rows.lower_weight;
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = out[i] + (a * static_cast<float>(upper[i]) + b * static_cast<float>(lower[i]));
  }
}

STERNA_LANES_INLINE void round_values(const float* __restrict values, std::size_t count,
                                      std::uint8_t* __restrict out) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = nearest_byte(values[i]);
  }
}

}  // namespace sterna::input
