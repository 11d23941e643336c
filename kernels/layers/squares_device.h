// The arithmetic of sums of squares (DecayLaunch, SquaresLaunch), written once for nvcc and for the
// host's compiler: what one thread of a device does. kSquareThreads of them take a block of
// elements: first each brings some, then the first kSquaresLanes add up a lane each, then one of
// them adds up the lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa/warp.h"
#include "kernels/layers/layer_launch.h"

namespace sterna::kernels {

inline constexpr std::uint32_t kSquareThreads = 256;

/// Elements [first, first + count) of a launch.
struct SquareBlock {
  std::size_t first = 0;
  std::size_t count = 0;

  STERNA_DEVICE SquareBlock(std::size_t elements, std::size_t number)
      : first(number * kSquaresBlock) {
    const std::size_t left = elements - first;
    count = left < kSquaresBlock ? left : kSquaresBlock;
  }
};

/// A thread's part of what a block's threads bring: use(element of the block, load(element of the
/// launch)) for each. Of a whole block all loads are under way before anything is used.
template <class Load, class Use>
STERNA_DEVICE void bring_part(const SquareBlock& block, std::uint32_t thread, Load load, Use use) {
  constexpr std::size_t kEach = kSquaresBlock / kSquareThreads;
  if (block.count < kSquaresBlock) {
    for (std::size_t i = thread; i < block.count; i += kSquareThreads) {
      use(i, load(block.first + i));
    }
    return;
  }
  decltype(load(block.first)) loaded[kEach];
  STERNA_UNROLL
  for (std::size_t k = 0; k < kEach; ++k) {
    loaded[k] = load(block.first + thread + k * kSquareThreads);
  }
  STERNA_UNROLL
  for (std::size_t k = 0; k < kEach; ++k) use(thread + k * kSquareThreads, loaded[k]);
}

STERNA_DEVICE void bring_squares(const SquaresLaunch& launch, const SquareBlock& block,
                                 std::uint32_t thread, float* values) {
  bring_part(
      block, thread, [&](std::size_t i) { return launch.values[i]; },
      [&](std::size_t place, float value) { values[place] = value; });
}

/// And adds the decay to the gradient.
STERNA_DEVICE void bring_squares(const DecayLaunch& launch, const SquareBlock& block,
                                 std::uint32_t thread, float* values) {
  struct Both {
    float weight;
    float gradient;
  };
  bring_part(
      block, thread,
      [&](std::size_t i) {
        return Both{launch.weights[i], launch.gradient[i]};
      },
      [&](std::size_t place, const Both& both) {
        launch.gradient[block.first + place] = both.gradient + launch.decay * both.weight;
        values[place] = both.weight;
      });
}

/// After all of a block's threads have brought their `values`.
template <class Lane>
STERNA_DEVICE Lane sum_of_lane(const SquareBlock& block, std::uint32_t lane, const float* values) {
  Lane sum = 0;
  STERNA_UNROLL_BY(16)
  for (std::size_t i = lane; i < block.count; i += kSquaresLanes) {
    sum += Lane{values[i]} * Lane{values[i]};
  }
  return sum;
}

/// After all lanes of block `number`.
template <class Launch>
STERNA_DEVICE void sum_lanes(const Launch& launch, std::size_t number,
                             const typename Launch::Lane* lanes) {
  double sum = 0;
  STERNA_UNROLL
  for (std::size_t lane = 0; lane < kSquaresLanes; ++lane) sum += double{lanes[lane]};
  launch.blocks[number] = sum;
}

}  // namespace sterna::kernels
