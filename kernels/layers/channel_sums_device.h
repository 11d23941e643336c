// The arithmetic of channel_sums.h, written once for nvcc and for the host's compiler: what one
// thread, or one warp, of a device does. All of it has the same bits everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa/warp.h"
#include "kernels/layers/channel_sums.h"
#include "kernels/layers/numbers.h"

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

/// What a thread adds up, of kWide neighbouring channels from `channel` on: add(load(element), c,
/// sums of channel c) for each pixel of block `block`, in their order; loads are under way
/// together.
template <std::uint32_t kWide, class Load, class Add>
STERNA_DEVICE void sum_of_block(const ChannelSums& sums, std::size_t block, std::size_t channel,
                                TwoSums (&found)[kWide], Load load, Add add) {
  constexpr std::uint32_t kTogether = kWide == 1 ? 8 : 4;
  const std::size_t size = sum_block(sums.pixels, sums.channels);
  std::size_t pixel = block * size;
  const std::size_t end = pixel + size < sums.pixels ? pixel + size : sums.pixels;
  for (; pixel + kTogether <= end; pixel += kTogether) {
    decltype(load(channel)) values[kTogether];
    STERNA_UNROLL
    for (std::uint32_t i = 0; i < kTogether; ++i) {
      values[i] = load((pixel + i) * sums.channels + channel);
    }
    STERNA_UNROLL
    for (std::uint32_t i = 0; i < kTogether; ++i) {
      STERNA_UNROLL
      for (std::uint32_t c = 0; c < kWide; ++c) add(values[i], c, found[c]);
    }
  }
  for (; pixel < end; ++pixel) {
    const auto value = load(pixel * sums.channels + channel);
    STERNA_UNROLL
    for (std::uint32_t c = 0; c < kWide; ++c) add(value, c, found[c]);
  }
}

/// What a tile's thread adds up of whatever launch has such sums.
template <class Launch>
STERNA_DEVICE TwoSums sum_of_thread(const Launch& launch, const Tile& tile, std::uint32_t thread) {
  const std::uint32_t column = thread % tile.shape.channels;
  const std::uint32_t row = thread / tile.shape.channels;
  TwoSums found[1] = {{0, 0}};
  if (row < tile.shape.blocks && column < tile.channels) {
    sum_block_of(launch, std::size_t{tile.down} * tile.shape.blocks + row,
                 tile.first_channel + column, found);
  }
  return found[0];
}

/// Where the sums of a channel's tiles begin.
STERNA_DEVICE TwoSums* tiles_of_channel(const ChannelSums& sums, std::size_t channel) {
  return sums.sums + channel * tiles_down(sums.pixels, sums.channels);
}

/// Where a channel's own sums lie.
STERNA_DEVICE TwoSums* sums_of_channel(const ChannelSums& sums, std::size_t channel) {
  return tiles_of_channel(sums, sums.channels) + channel;
}

/// A channel of a tile, whose blocks' sums lie `wide` apart from `blocks` on.
STERNA_DEVICE void sum_tile(const ChannelSums& sums, std::uint32_t tile_down, std::size_t channel,
                            const TwoSums* blocks, std::size_t wide, std::uint32_t rows) {
  TwoSums all{0, 0};
  for (std::uint32_t row = 0; row < rows; ++row) {
    const TwoSums& block = blocks[row * wide];
    all.one += block.one;
    all.other += block.other;
  }
  tiles_of_channel(sums, channel)[tile_down] = all;
}

/// After all threads of a tile, whose sums `blocks` has: its first ones add up a channel each.
STERNA_DEVICE void sum_tile(const ChannelSums& sums, const Tile& tile, std::uint32_t thread,
                            const TwoSums* blocks) {
  if (thread >= tile.channels) return;
  sum_tile(sums, tile.down, tile.first_channel + thread, blocks + thread, tile.shape.channels,
           tile.shape.blocks);
}

/// Where a tile is as wide as kSumRun, kQuad of them one behind the other are what a block of
/// threads takes at once, each thread a block of kQuad channels: the sums are the same.
struct QuadTiles {
  static constexpr std::uint32_t kQuads = kSumRun / kQuad;  ///< across
  static constexpr std::uint32_t kRows = kTileThreads / kQuads;
  static constexpr std::uint32_t kRowsOfTile = kTileThreads / kSumRun;
  std::uint32_t down = 0;  ///< so many times kQuad tiles lie before
  std::size_t first_channel = 0;

  STERNA_DEVICE QuadTiles(const ChannelSums& sums, std::uint32_t number) {
    const std::uint32_t across = tiles_across(sums.channels);
    down = number / across;
    first_channel = std::size_t{number % across} * kSumRun;
  }
  /// What a thread adds up, into its kQuad places of `blocks`, kTileThreads * kQuad in all.
  template <class Launch>
  STERNA_DEVICE void sum(const Launch& launch, std::uint32_t thread, TwoSums* blocks) const {
    const std::uint32_t row = thread / kQuads;
    const std::uint32_t column = thread % kQuads * kQuad;
    TwoSums found[kQuad] = {};
    sum_block_of(launch, std::size_t{down} * kRows + row, first_channel + column, found);
    STERNA_UNROLL
    for (std::uint32_t c = 0; c < kQuad; ++c) blocks[row * kSumRun + column + c] = found[c];
  }
  /// After all threads.
  STERNA_DEVICE void sum_tiles(const ChannelSums& sums, std::uint32_t thread,
                               const TwoSums* blocks) const {
    const std::uint32_t tile = thread / kSumRun;
    const std::uint32_t tile_down = down * kQuad + tile;
    const std::size_t row = std::size_t{tile} * kRowsOfTile;
    if (tile >= kQuad || tile_down >= tiles_down(sums.pixels, sums.channels)) return;
    const std::uint32_t column = thread % kSumRun;
    sum_tile(sums, tile_down, first_channel + column, blocks + row * kSumRun + column, kSumRun,
             kRowsOfTile);
  }
};

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
