// A gradient's statistics as a device takes them: the same sums as kernels/trits/statistics.h, in
// the same order, by half-warps.
//
// Half a warp takes a block of 4,096 elements: its lane l those that TRITS.md gives to lane l, in
// order. A warp has two such blocks, eight warps a chunk.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/isa/warp.h"
#include "kernels/trits/encode_launch.h"
#include "kernels/trits/scaler.h"
#include "kernels/trits/scaler_blocks.h"
#include "kernels/trits/statistics.h"

namespace sterna::kernels {

inline constexpr std::uint32_t kHalfWarp = kWarpLanes / 2;
inline constexpr std::uint32_t kSigmaBlocksPerChunk = kChunkElements / kSigmaBlock;
inline constexpr std::uint32_t kWarpsPerChunk = kSigmaBlocksPerChunk / 2;
static_assert(kHalfWarp == kSigmaLanes);

/// Where a lane's elements lie in its chunk: every 16th from here, within 4,096.
STERNA_DEVICE std::uint32_t half_warp_start(std::uint32_t pair, std::uint32_t lane) {
  return (2 * pair + lane / kHalfWarp) * static_cast<std::uint32_t>(kSigmaBlock) + lane % kHalfWarp;
}

/// A lane's share of the statistics of its block.
struct LaneMeasured {
  float sum = 0;
  float squares = 0;
  std::uint32_t largest = 0;
  std::uint32_t saturated = 0;
};

STERNA_DEVICE std::uint32_t magnitude_bits(float x) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(x) & 0x7FFFFFFFU;
#else
  return std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFU;
#endif
}

template <bool kSums>
STERNA_DEVICE void measure_element(float x, LaneMeasured& to) {
  if constexpr (kSums) {
    to.sum += x;
    to.squares = fmaf(x, x, to.squares);
  } else {
    const std::uint32_t magnitude = magnitude_bits(x);
    to.largest = magnitude > to.largest ? magnitude : to.largest;
  }
}

/// A warp's part of a chunk, of two blocks, once it has added up its lanes; their sums go
/// elsewhere.
struct PairMeasured {
  std::uint32_t largest = 0;
  std::uint32_t saturated = 0;
};

/// Calls put(half, sums) once for each half of the warp, and returns the rest.
template <bool kSums, class Warp, class Put>
STERNA_DEVICE PairMeasured add_halves(const Warp& warp,
                                      const typename Warp::template Each<LaneMeasured>& lanes,
                                      Put put) {
  PairMeasured pair;
  if constexpr (kSums) {
    typename Warp::template Each<float> sum;
    typename Warp::template Each<float> squares;
    warp.each([&](std::uint32_t lane) {
      sum[lane] = lanes[lane].sum;
      squares[lane] = lanes[lane].squares;
    });
    warp.each([&](std::uint32_t lane) {
      const std::uint32_t half = lane / kHalfWarp;
      SigmaSums block{0, 0};
      STERNA_UNROLL
      for (std::uint32_t l = 0; l < kHalfWarp; ++l) {
        block.sum += static_cast<double>(Warp::of_lane(sum, half * kHalfWarp + l));
        block.squares += static_cast<double>(Warp::of_lane(squares, half * kHalfWarp + l));
      }
      if (lane % kHalfWarp == 0) put(half, block);
    });
  } else {
    pair.largest = warp.largest([&](std::uint32_t lane) { return lanes[lane].largest; });
  }
  pair.saturated = warp.sum([&](std::uint32_t lane) { return lanes[lane].saturated; });
  return pair;
}

/// Measures the two blocks of pair `pair` (0 to 7) of a chunk of `count` elements.
template <bool kSums, class Warp, class Put>
STERNA_DEVICE PairMeasured measure_pair(const Warp& warp, const float* chunk, std::uint32_t count,
                                        std::uint32_t pair, Put put) {
  constexpr std::uint32_t kAtOnce = 16;  // loads that are under way together, twice
  constexpr std::uint32_t kSpan = kAtOnce * kHalfWarp;
  typename Warp::template Each<LaneMeasured> lanes;
  warp.each([&](std::uint32_t lane) {
    LaneMeasured measured;
    const std::uint32_t start = half_warp_start(pair, lane);
    const auto load = [&](std::uint32_t at, float(&x)[kAtOnce]) {
      if (start + at + (kAtOnce - 1) * kHalfWarp < count) {
        STERNA_UNROLL
        for (std::uint32_t m = 0; m < kAtOnce; ++m) x[m] = chunk[start + at + m * kHalfWarp];
      } else {
        STERNA_UNROLL
        for (std::uint32_t m = 0; m < kAtOnce; ++m) {
          const std::uint32_t i = start + at + m * kHalfWarp;
          x[m] = i < count ? chunk[i] : 0.0F;
        }
      }
    };
    const auto measure = [&](const float(&x)[kAtOnce]) {
      STERNA_UNROLL
      for (std::uint32_t m = 0; m < kAtOnce; ++m) measure_element<kSums>(x[m], measured);
    };
    // While some are added up the next are under way.
    float even[kAtOnce];
    float odd[kAtOnce];
    load(0, even);
    for (std::uint32_t at = 0; at < kSigmaBlock && start + at < count; at += 2 * kSpan) {
      load(at + kSpan, odd);
      measure(even);
      if (at + 2 * kSpan < kSigmaBlock) load(at + 2 * kSpan, even);
      measure(odd);
    }
    lanes[lane] = measured;
  });
  return add_halves<kSums>(warp, lanes, put);
}

/// Adds a chunk's block sums in their order.
STERNA_DEVICE SigmaSums add_in_order(const SigmaSums* sums, std::uint32_t count) {
  SigmaSums all{0, 0};
  for (std::uint32_t i = 0; i < count; ++i) {
    all.sum += sums[i].sum;
    all.squares += sums[i].squares;
  }
  return all;
}

STERNA_DEVICE bool is_finite(double x) { return fabs(x) <= 0x1.FFFFFFFFFFFFFp1023; }
STERNA_DEVICE bool is_finite(float x) { return fabsf(x) <= 0x1.FFFFFEp127F; }

/// The scaler of a tensor whose sums, largest and saturated are there; as GradientStatistics makes
/// it.
STERNA_DEVICE void make_scaler(TensorMeasured& of, std::uint64_t elements, float clip) {
  of.scaler = 0;
  of.non_finite = 0;
  if (elements == 0) return;
  if (!(of.largest < 0x7F800000U && is_finite(of.sums.squares) && is_finite(of.sums.sum))) {
    of.non_finite = 1;
    return;
  }
  if (!clips(clip)) {
#ifdef __CUDA_ARCH__
    of.scaler = __uint_as_float(of.largest);
#else
    of.scaler = std::bit_cast<float>(of.largest);
#endif
    return;
  }
  const auto n = static_cast<double>(elements);
  const double mean = of.sums.sum / n;
  const double variance = of.sums.squares / n - mean * mean;
  const auto sigma = static_cast<float>(sqrt(variance > 0 ? variance : 0.0));
  const float s = clip * sigma;
  if (is_finite(s)) {
    of.scaler = s;
  } else {
    of.non_finite = 1;
  }
}

/// What the trits stand for that were drawn under `scaler`.
STERNA_DEVICE float stands_for(const TensorWork& work, float scaler, float clip) {
  return work.fed_back != 0 ? fed_back_scaler(scaler, clip) : scaler;
}

}  // namespace sterna::kernels
