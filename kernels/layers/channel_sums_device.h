// The arithmetic of channel_sums.h, written once for nvcc and for the host's compiler: what one
// thread, or one warp, of a device does. All of it has the same bits everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa/warp.h"
#include "kernels/layers/channel_sums.h"

namespace sterna::kernels {

/// One of a batch's tiles.
struct Tile {
  TileShape shape;
  std::uint32_t down = 0;  ///< so many lie before it
  std::size_t first_channel = 0;
  std::size_t channels = 0;  ///< from there on, which are no more than `shape` has

  STERNA_DEVICE Tile(const ChannelSums& sums, std::uint32_t tile)
      : shape(tile_shape(sums.channels)) {
    const std::uint32_t across = tiles_across(sums.channels);
    down = tile / across;
    first_channel = std::size_t{tile % across} * shape.channels;
    const std::size_t left = sums.channels - first_channel;
    channels = left < shape.channels ? left : shape.channels;
  }
};

/// What a tile's thread adds up: add(load(element), sums) for each pixel of its block, in their
/// order; loads are under way together.
template <class Load, class Add>
STERNA_DEVICE TwoSums sum_of_block(const ChannelSums& sums, const Tile& tile, std::uint32_t thread,
                                   Load load, Add add) {
  constexpr std::uint32_t kTogether = 8;
  const std::uint32_t column = thread % tile.shape.channels;
  const std::uint32_t row = thread / tile.shape.channels;
  TwoSums found{0, 0};
  if (row >= tile.shape.blocks || column >= tile.channels) return found;
  const std::size_t size = sum_block(sums.pixels, sums.channels);
  std::size_t pixel = (std::size_t{tile.down} * tile.shape.blocks + row) * size;
  const std::size_t end = pixel + size < sums.pixels ? pixel + size : sums.pixels;
  const std::size_t channel = tile.first_channel + column;
  for (; pixel + kTogether <= end; pixel += kTogether) {
    decltype(load(channel)) values[kTogether];
    STERNA_UNROLL
    for (std::uint32_t i = 0; i < kTogether; ++i) {
      values[i] = load((pixel + i) * sums.channels + channel);
    }
    STERNA_UNROLL
    for (std::uint32_t i = 0; i < kTogether; ++i) add(values[i], found);
  }
  for (; pixel < end; ++pixel) add(load(pixel * sums.channels + channel), found);
  return found;
}

/// Where the sums of a channel's tiles begin.
STERNA_DEVICE TwoSums* tiles_of_channel(const ChannelSums& sums, std::size_t channel) {
  return sums.sums + channel * tiles_down(sums.pixels, sums.channels);
}

/// Where a channel's own sums lie.
STERNA_DEVICE TwoSums* sums_of_channel(const ChannelSums& sums, std::size_t channel) {
  return tiles_of_channel(sums, sums.channels) + channel;
}

/// After all threads of a tile, whose sums `blocks` has: its first ones add up a channel each.
STERNA_DEVICE void sum_tile(const ChannelSums& sums, const Tile& tile, std::uint32_t thread,
                            const TwoSums* blocks) {
  if (thread >= tile.channels) return;
  TwoSums all{0, 0};
  for (std::uint32_t row = 0; row < tile.shape.blocks; ++row) {
    const TwoSums& block = blocks[row * tile.shape.channels + thread];
    all.one += block.one;
    all.other += block.other;
  }
  tiles_of_channel(sums, tile.first_channel + thread)[tile.down] = all;
}

/// After all tiles: take(sums) of a channel, once. Lane l adds up the tiles that are l mod 32, and
/// then half of the lanes what the other half has, and so on.
template <class Warp, class Take>
STERNA_DEVICE void sum_channel(const Warp& warp, const ChannelSums& sums, std::size_t channel,
                               Take take) {
  constexpr std::uint32_t kTogether = 8;  // loads of a lane that are under way at once
  const std::uint32_t tiles = tiles_down(sums.pixels, sums.channels);
  const TwoSums* const of = tiles_of_channel(sums, channel);
  typename Warp::template Each<double> one;
  typename Warp::template Each<double> other;
  warp.each([&](std::uint32_t lane) {
    TwoSums all{0, 0};
    for (std::uint32_t first = lane; first < tiles; first += kTogether * kWarpLanes) {
      TwoSums parts[kTogether];
      STERNA_UNROLL
      for (std::uint32_t i = 0; i < kTogether; ++i) {
        const std::uint32_t tile = first + i * kWarpLanes;
        parts[i] = tile < tiles ? of[tile] : TwoSums{0, 0};
      }
      STERNA_UNROLL
      for (std::uint32_t i = 0; i < kTogether; ++i) {
        all.one += parts[i].one;
        all.other += parts[i].other;
      }
    }
    one[lane] = all.one;
    other[lane] = all.other;
  });
  STERNA_UNROLL
  for (std::uint32_t half = kWarpLanes / 2; half > 0; half /= 2) {
    const auto ones = one;
    const auto others = other;
    warp.each([&](std::uint32_t lane) {
      const std::uint32_t from = (lane + half) % kWarpLanes;
      one[lane] = ones[lane] + Warp::of_lane(ones, from);
      other[lane] = others[lane] + Warp::of_lane(others, from);
    });
  }
  warp.each([&](std::uint32_t lane) {
    if (lane == 0) take(TwoSums{one[lane], other[lane]});
  });
}

}  // namespace sterna::kernels
