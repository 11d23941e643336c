// Ternarizing and decoding as a device's warps do it; TRITS.md's bits, as kernels/trits/ternary.h
// makes them.
//
// Trits alone: a warp takes 512 elements, lane l those that are l mod 32, so that one Philox call
// serves a lane's 16 and a ballot is a word of a plane. Trits with statistics: each half of a warp
// takes the blocks of 512 of its own 4,096 elements one after the other, lane l those that are l
// mod 16, because the sums want that order; two ballots are then a word of either half's planes.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/isa/warp.h"
#include "kernels/random/philox_device.h"
#include "kernels/trits/encode_launch.h"
#include "kernels/trits/statistics_device.h"
#include "kernels/trits/ternary.h"

namespace sterna::kernels {

inline constexpr std::uint32_t kRows = kPlaneBlock / kWarpLanes;  ///< words of a plane's block
inline constexpr std::uint32_t kBlocksPerChunk = kChunkElements / kPlaneBlock;

/// k of TRITS.md: 2^32 / s, or 0 where no trit is to be set.
STERNA_DEVICE float reciprocal_of(float scaler) {
  return scaler >= 0x1p-95F ? 0x1p32F / scaler : 0.0F;
}

/// |g| * k truncated to 32 bits; 2^32 or more, and a NaN too, becomes 2^32 - 1.
STERNA_DEVICE std::uint32_t threshold_of(float g, float k) {
  const float t = fminf(fabsf(g) * k, 0x1p32F);  // of a NaN and a number the number
#ifdef __CUDA_ARCH__
  return __float2uint_rz(t);  // which saturates
#else
  return t < 0x1p32F ? static_cast<std::uint32_t>(t) : 0xFFFFFFFFU;
#endif
}

STERNA_DEVICE bool sign_of(float x) {
#ifdef __CUDA_ARCH__
  return __float_as_int(x) < 0;
#else
  return std::signbit(x);
#endif
}

/// The counter and key of the block of 512 elements that begins at `index` of its tensor.
STERNA_DEVICE BlockDraw draw_of(const StepOfRank& step, std::uint32_t tensor, std::uint64_t index) {
  return {static_cast<std::uint32_t>(index / kPlaneBlock * kDrawsPerBlock), step.step,
          step.rank << 16 | tensor, step.seed};
}

STERNA_DEVICE FourWords load_words(const std::byte* from) {
  return *reinterpret_cast<const FourWords*>(from);
}
STERNA_DEVICE void store_words(std::byte* to, const FourWords& words) {
  *reinterpret_cast<FourWords*>(to) = words;
}

/// Ternarizes the `count` elements of one block (at most 512; its planes are filled) from `g`.
template <class Warp>
STERNA_DEVICE void ternarize_block(const Warp& warp, const float* g, std::uint32_t count,
                                   const BlockDraw& draw, float k, std::byte* planes) {
  struct Column {
    float g[kRows];
    ColumnDraw draw;
  };
  typename Warp::template Each<Column> columns;
  warp.each([&](std::uint32_t lane) {
    Column& column = columns[lane];
    if (count == kPlaneBlock) {
      STERNA_UNROLL
      for (std::uint32_t row = 0; row < kRows; ++row) column.g[row] = g[row * kWarpLanes + lane];
    } else {
      STERNA_UNROLL
      for (std::uint32_t row = 0; row < kRows; ++row) {
        const std::uint32_t i = row * kWarpLanes + lane;
        column.g[row] = i < count ? g[i] : 0.0F;
      }
    }
    column.draw = draw_column(draw, lane, Stream::ternary);
  });
  FourWords nonzero{};
  FourWords negative{};
  STERNA_UNROLL
  for (std::uint32_t row = 0; row < kRows; ++row) {
    nonzero.at[row % 4] = warp.ballot([&](std::uint32_t lane) {
      const Column& column = columns[lane];
      return column.draw.of_row(row) < threshold_of(column.g[row], k);
    });
    negative.at[row % 4] = nonzero.at[row % 4] & warp.ballot([&](std::uint32_t lane) {
      return sign_of(columns[lane].g[row]);
    });
    if (row % 4 != 3) continue;
    std::byte* const place = planes + row / 4 * sizeof(FourWords);
    warp.each([&](std::uint32_t lane) {
      if (lane != 0) return;
      store_words(place, nonzero);
      store_words(place + kPlaneBlockBytes / 2, negative);
    });
  }
}

/// Of two ballots on 16 elements each of two halves, the word of 32 elements of one half.
STERNA_DEVICE std::uint32_t word_of_half(std::uint32_t even, std::uint32_t odd,
                                         std::uint32_t half) {
#ifdef __CUDA_ARCH__
  return __byte_perm(even, odd, half == 0 ? 0x5410U : 0x7632U);
#else
  return half == 0 ? (even & 0xFFFFU) | odd << 16 : even >> 16 | (odd & 0xFFFF0000U);
#endif
}

/// A chunk to be ternarized and measured in one pass.
struct ChunkPass {
  const float* values;
  std::uint32_t count;
  BlockDraw draw;  ///< of its first block
  float scaler;
  float k;
  std::byte* planes;
};

/// Ternarizes and measures pair `pair` (0 to 7) of the chunk's blocks of 4,096: what measure_pair
/// returns, with the elements above the scaler counted besides.
template <bool kSums, class Warp, class Put>
STERNA_DEVICE PairMeasured ternarize_pair(const Warp& warp, const ChunkPass& chunk,
                                          std::uint32_t pair, Put put) {
  constexpr std::uint32_t kSteps = kPlaneBlock / kHalfWarp;  // elements of a lane in a block
  struct Lane {
    float g[kSteps];
    ColumnDraw draw[2];  // of the columns l and l + 16
  };
  typename Warp::template Each<Lane> lanes;
  typename Warp::template Each<LaneMeasured> measured;
  warp.each([&](std::uint32_t lane) { measured[lane] = LaneMeasured{}; });
  const auto begin = 2 * pair * static_cast<std::uint32_t>(kSigmaBlock);  // of the first half
  for (std::uint32_t at = 0; at < kSigmaBlock && begin + at < chunk.count; at += kPlaneBlock) {
    warp.each([&](std::uint32_t lane) {
      Lane& own = lanes[lane];
      const std::uint32_t start = half_warp_start(pair, lane) + at;
      if (start + (kSteps - 1) * kHalfWarp < chunk.count) {
        STERNA_UNROLL
        for (std::uint32_t m = 0; m < kSteps; ++m) {
          own.g[m] = chunk.values[start + m * kHalfWarp];
        }
      } else {
        STERNA_UNROLL
        for (std::uint32_t m = 0; m < kSteps; ++m) {
          const std::uint32_t i = start + m * kHalfWarp;
          own.g[m] = i < chunk.count ? chunk.values[i] : 0.0F;
        }
      }
      BlockDraw draw = chunk.draw;
      draw.counter0 += start / kPlaneBlock * kDrawsPerBlock;
      own.draw[0] = draw_column(draw, lane % kHalfWarp, Stream::ternary);
      own.draw[1] = draw_column(draw, lane % kHalfWarp + kHalfWarp, Stream::ternary);
      STERNA_UNROLL
      for (std::uint32_t m = 0; m < kSteps; ++m) {
        measure_element<kSums>(own.g[m], measured[lane]);
        measured[lane].saturated += fabsf(own.g[m]) > chunk.scaler ? 1 : 0;
      }
    });
    const auto nonzero_of = [&](std::uint32_t m) {
      return warp.ballot([&](std::uint32_t lane) {
        const Lane& own = lanes[lane];
        return own.draw[m % 2].of_row(m / 2) < threshold_of(own.g[m], chunk.k);
      });
    };
    const auto negative_of = [&](std::uint32_t m) {
      return warp.ballot([&](std::uint32_t lane) { return sign_of(lanes[lane].g[m]); });
    };
    typename Warp::template Each<FourWords> nonzero;
    typename Warp::template Each<FourWords> negative;
    STERNA_UNROLL
    for (std::uint32_t row = 0; row < kRows; ++row) {
      const std::uint32_t even = nonzero_of(2 * row);
      const std::uint32_t odd = nonzero_of(2 * row + 1);
      const std::uint32_t even_sign = negative_of(2 * row);
      const std::uint32_t odd_sign = negative_of(2 * row + 1);
      warp.each([&](std::uint32_t lane) {
        const std::uint32_t half = lane / kHalfWarp;
        const std::uint32_t word = word_of_half(even, odd, half);
        nonzero[lane].at[row % 4] = word;
        negative[lane].at[row % 4] = word & word_of_half(even_sign, odd_sign, half);
        const std::uint32_t start = half_warp_start(pair, lane) + at;
        if (row % 4 != 3 || lane % kHalfWarp != 0 || start >= chunk.count) return;
        std::byte* const place =
            chunk.planes + start / kPlaneBlock * kPlaneBlockBytes + row / 4 * sizeof(FourWords);
        store_words(place, nonzero[lane]);
        store_words(place + kPlaneBlockBytes / 2, negative[lane]);
      });
    }
  }
  return add_halves<kSums>(warp, measured, put);
}

/// A trit's value: `scaler` times it.
STERNA_DEVICE float value_of(std::uint32_t nonzero, std::uint32_t negative, std::uint32_t lane,
                             float scaler) {
  if ((nonzero >> lane & 1U) == 0) return 0.0F;
  return (negative >> lane & 1U) != 0 ? -scaler : scaler;
}

/// Takes what the trits of a block stand for from the residual that they were made of.
template <class Warp>
STERNA_DEVICE void keep_error_of_block(const Warp& warp, const std::byte* planes,
                                       std::uint32_t count, float scaler, float* residual) {
  for (std::uint32_t four = 0; four < kRows / 4; ++four) {
    const FourWords nonzero = load_words(planes + four * sizeof(FourWords));
    const FourWords negative = load_words(planes + kPlaneBlockBytes / 2 + four * sizeof(FourWords));
    warp.each([&](std::uint32_t lane) {
      STERNA_UNROLL
      for (std::uint32_t r = 0; r < 4; ++r) {
        const std::uint32_t i = (4 * four + r) * kWarpLanes + lane;
        if (i < count) residual[i] -= value_of(nonzero.at[r], negative.at[r], lane, scaler);
      }
    });
  }
}

}  // namespace sterna::kernels
