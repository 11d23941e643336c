// What local response normalization is made of, per instruction set. Internal.
//
// Some pixels at a time are fp32, and are computed in passes that stay in the cache: squares of
// x, sums of them over windows, and what follows; for the gradient there are two such sums:
//   dx = dy · base^-3/4 - 3/2 · alpha · x · Σ dy · x · base^-7/4,  base = bias + alpha · Σ x².
#pragma once

#include <cstddef>

namespace sterna::nets {

/// Of pixels in a row of memory; their windows' sums are taken over rows of `stride` numbers, in
/// each of which `radius` zeros stand before the channels, and enough behind.
struct LrnRows {
  std::size_t channels, radius, stride;
  float bias, alpha;
};

/// Numbers that a pass may read, or write zeros to, behind a row's channels and `radius`.
inline constexpr std::size_t kLrnSlack = 16;

struct LrnPasses {
  /// x² into rows.
  void (*square)(const LrnRows& norm, std::size_t pixels, const float* x, float* rows);
  /// x · base^-3/4 in place.
  void (*normalize)(const LrnRows& norm, std::size_t pixels, const float* squares, float* x);
  /// dy · base^-3/4 in place, and dy · x · base^-7/4 into rows.
  void (*scale)(const LrnRows& norm, std::size_t pixels, const float* x, const float* squares,
                float* dy, float* products);
  /// The rest of the gradient.
  void (*subtract)(const LrnRows& norm, std::size_t pixels, const float* x, const float* products,
                   float* dx);
};

LrnPasses lrn_passes_avx2();
LrnPasses lrn_passes_avx512();

}  // namespace sterna::nets
