// What the tests of the kernels share: gradients, instruction sets, and equality of bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "kernels/isa/isa.h"
#include "runtime/base/random.h"

namespace sterna::kernels {

/// The instruction sets of this CPU, the oracle first.
inline std::vector<Isa> every_isa() {
  std::vector<Isa> all{Isa::scalar};
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    if (isa <= best_isa()) all.push_back(isa);
  }
  return all;
}

/// Lengths around the borders of vectors, plane blocks, tiles and sigma blocks.
inline std::vector<std::size_t> lengths() {
  return {0, 1, 15, 16, 17, 500, 511, 512, 513, 800, 1023, 1024, 1025, 4095, 4096, 4097, 65553};
}

/// Independent draws of a normal distribution (Box and Muller).
inline std::vector<float> gaussian(std::size_t count, float stddev, std::uint64_t seed) {
  SeededRandom random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    const double u = (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53;
    const double v = static_cast<double>(random.next() >> 11) * 0x1p-53;
    value = static_cast<float>(stddev * std::sqrt(-2 * std::log(u)) *
                               std::cos(2 * std::numbers::pi * v));
  }
  return values;
}

/// Random bits as floats of every magnitude and both zeros, denormals too; never NaN or infinite.
inline std::vector<float> any_finite(std::size_t count, std::uint64_t seed) {
  SeededRandom random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    do {
      value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
    } while (!std::isfinite(value));
    if (random.below(16) == 0) value = std::copysign(0.0F, value);
    if (random.below(16) == 0) value = std::copysign(0x1p-140F, value);
  }
  return values;
}

/// Values at the borders of fp32 and of the thresholds, both signs, again and again.
inline std::vector<float> special_values() {
  constexpr float largest = 0x1.FFFFFEp127F;
  std::vector<float> g{0.0F,
                       0x1p-149F,
                       0x1.FFFFFCp-127F,
                       0x1p-126F,
                       0x1p-95F,
                       0x1p-33F,
                       0x1p-32F,
                       0x1.FFFFFEp-2F,
                       0.5F,
                       0x1.000002p-1F,
                       0x1.FFFFFEp-1F,
                       1.0F,
                       0x1.000002p0F,
                       largest,
                       std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::quiet_NaN()};
  for (std::size_t i = g.size(); i-- > 0;) g.push_back(-g[i]);
  while (g.size() < 2048) g.push_back(g[g.size() - 32]);
  return g;
}

/// Makes sigma blocks of very unlike size, so that any other order of the sums shows.
inline void shrink_by_blocks(std::vector<float>& gradient) {
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = std::ldexp(gradient[i], -static_cast<int>(i / 4096 % 32));
  }
}

/// The elements' bits: unlike ==, tells -0 from +0 and finds a NaN equal to itself.
inline std::vector<std::uint32_t> bits(std::span<const float> values) {
  std::vector<std::uint32_t> result(values.size());
  if (!values.empty()) std::memcpy(result.data(), values.data(), values.size_bytes());
  return result;
}

}  // namespace sterna::kernels
