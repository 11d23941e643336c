// How a device adds up each channel's elements over the pixels of a batch: two sums at once, in
// fp64. Images lie channels last. Plain data that host and device read alike.
//
// A channel's pixels are cut into blocks, which one thread each adds up. A tile is what a block of
// threads takes (or four, one behind the other: QuadTiles): neighbouring channels, so that it reads
// runs of memory, and as many blocks of each as there are threads for. The tiles' sums, a row for
// each channel, are added up by a warp. The order of all of this follows from the shape alone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sterna::kernels {

/// Read and written at once.
struct alignas(16) TwoSums {
  double one;
  double other;
};

/// Pixels and channels, and room for what is summed.
struct ChannelSums {
  std::size_t pixels = 0;  ///< of all images
  std::size_t channels = 0;
  TwoSums* sums = nullptr;  ///< channel_sums(pixels, channels) of them
};

/// Threads of a tile.
inline constexpr std::uint32_t kTileThreads = 256;

/// Pixels of a block: the fewer there are in all, the shorter, so that a device has enough to do at
/// once.
constexpr std::size_t sum_block(std::size_t pixels, std::size_t channels) {
  constexpr std::size_t kThreads = 262'144;
  std::size_t block = 16;
  while (block < 256 && block * kThreads < pixels * channels) block *= 2;
  return block;
}

/// How a tile's threads are spread: thread t has channel t mod `channels` and block t / `channels`
/// of it; the last few have none where `channels` is no power of two.
struct TileShape {
  std::uint32_t channels = 1;
  std::uint32_t blocks = 1;
};
inline constexpr std::uint32_t kSumRun = 32;  // channels, which a warp reads at once
constexpr TileShape tile_shape(std::size_t channels) {
  constexpr std::uint32_t kMost = kTileThreads / 2;
  const bool cut = channels % kSumRun == 0 || channels > kMost;
  const std::uint32_t wide = cut ? kSumRun : static_cast<std::uint32_t>(channels);
  return {wide, kTileThreads / wide};
}

/// Tiles side by side that have all channels, and one behind the other that have all blocks.
constexpr std::uint32_t tiles_across(std::size_t channels) {
  const std::uint32_t wide = tile_shape(channels).channels;
  return (static_cast<std::uint32_t>(channels) + wide - 1) / wide;
}
constexpr std::uint32_t tiles_down(std::size_t pixels, std::size_t channels) {
  const std::size_t pixels_of_tile = tile_shape(channels).blocks * sum_block(pixels, channels);
  return static_cast<std::uint32_t>((pixels + pixels_of_tile - 1) / pixels_of_tile);
}
constexpr std::uint32_t tiles_of(const ChannelSums& of) {
  return tiles_across(of.channels) * tiles_down(of.pixels, of.channels);
}

/// Those of each channel's tiles, side by side, and behind all of them the channels' own.
constexpr std::size_t channel_sums(std::size_t pixels, std::size_t channels) {
  return channels * (tiles_down(pixels, channels) + std::size_t{1});
}

}  // namespace sterna::kernels
