#include "kernels/device/host_layers.h"

#include "kernels/layers/layers_device.h"
#include "kernels/layers/squares_device.h"

namespace sterna::kernels {
namespace {

/// Several threads at once, whose elements lie beside each other: a vector's worth.
void run(const ProductLaunch& launch) {
  constexpr std::uint32_t kTogether = 16;
  for (std::size_t i = 0; i < launch.rows; ++i) {
    std::size_t j = 0;
    for (; j + kTogether <= launch.columns; j += kTogether) {
      product_elements<kTogether>(launch, i, j);
    }
    for (; j < launch.columns; ++j) product_elements<1>(launch, i, j);
  }
}

void run(const ElementLaunch& launch) {
  for (std::size_t i = 0; i < launch.count; ++i) pass_element(launch, i);
}

void run(const RoundLaunch& launch) {
  for (std::size_t i = 0; i < launch.count; ++i) round_elements<1>(launch, i, 1);
}

void run(const WidenLaunch& launch) {
  for (std::size_t i = 0; i < launch.count; ++i) widen_elements<1>(launch, i, 1);
}

void run(const PixelLaunch& launch) {
  for (std::size_t i = 0; i < launch.image * launch.images; ++i) pixel_element(launch, i);
}

void run(const LossLaunch& launch) {
  for (std::size_t row = 0; row < launch.rows; ++row) loss_row(HostWarp(), launch, row);
  mean_loss(HostWarp(), launch);
}

void run(const SquaredErrorLaunch& launch) {
  for (std::size_t i = 0; i < launch.count; ++i) error_gradient(launch, i);
  mean_squared_error(HostWarp(), launch);
}

template <class Launch>
void sum_squares(const Launch& launch) {
  float values[kSquaresBlock];
  typename Launch::Lane lanes[kSquaresLanes];
  for (std::size_t number = 0; number < square_blocks(launch.count); ++number) {
    const SquareBlock block(launch.count, number);
    for (std::uint32_t t = 0; t < kSquareThreads; ++t) bring_squares(launch, block, t, values);
    for (std::uint32_t lane = 0; lane < kSquaresLanes; ++lane) {
      lanes[lane] = sum_of_lane<typename Launch::Lane>(block, lane, values);
    }
    sum_lanes(launch, number, lanes);
  }
}

void run(const DecayLaunch& launch) {
  sum_squares(launch);
  add_decayed(HostWarp(), launch);
}

void run(const SquaresLaunch& launch) {
  sum_squares(launch);
  add_squares(HostWarp(), launch);
}

void run(const WindowLaunch& launch) {
  const std::size_t elements = window_elements(launch);
  for (std::size_t i = 0; i < elements; ++i) window_element(launch, i);
}

void run(const TransposeLaunch& launch) {
  const std::size_t elements = launch.count * launch.rows * launch.columns;
  for (std::size_t i = 0; i < elements; ++i) transpose_element(launch, i);
}

void run(const DropoutLaunch& launch) {
  for (std::size_t i = 0; i < dropout_columns(launch); ++i) dropout_column(launch, i);
}

void run(const RunLaunch& launch) {
  const std::size_t elements = launch.runs.elements();
  for (std::size_t i = 0; i < elements; ++i) copy_run(launch, i);
}

void run(const LocalNormLaunch& launch) {
  for (std::size_t i = 0; i < launch.norm.count; ++i) normalize_locally(launch, i);
}

void run(const LocalNormGradientLaunch& launch) {
  for (std::size_t i = 0; i < launch.norm.count; ++i) local_part(launch, i);
  for (std::size_t i = 0; i < launch.norm.count; ++i) local_gradient(launch, i);
}

/// Of whatever launch has such sums.
template <class Launch>
void sum_channels(const Launch& launch) {
  const ChannelSums& sums = launch.sums;
  TwoSums blocks[kTileThreads];
  for (std::uint32_t i = 0; i < tiles_of(sums); ++i) {
    const Tile tile(sums, i);
    for (std::uint32_t t = 0; t < kTileThreads; ++t) blocks[t] = sum_of_thread(launch, tile, t);
    for (std::uint32_t t = 0; t < kTileThreads; ++t) sum_tile(sums, tile, t, blocks);
  }
  for (std::size_t c = 0; c < sums.channels; ++c) {
    sum_channel(HostWarp(), sums, c, [&](const TwoSums& all) { take_sums(launch, c, all); });
  }
}

void run(const BiasLaunch& launch) {
  for (std::size_t i = 0; i < pixel_threads(launch.pixels, launch.channels); ++i) {
    add_bias(launch, i);
  }
}

void run(const ChannelSumLaunch& launch) { sum_channels(launch); }

void run(const MomentsLaunch& launch) { sum_channels(launch); }

void run(const ChannelNormLaunch& launch) {
  for (std::size_t i = 0; i < pixel_threads(launch.pixels, launch.channels); ++i) {
    normalize_channel(launch, i);
  }
}

void run(const ChannelNormGradientLaunch& launch) {
  sum_channels(launch);
  const ChannelSums& sums = launch.sums;
  for (std::size_t i = 0; i < pixel_threads(sums.pixels, sums.channels); ++i) {
    norm_gradient(launch, i);
  }
}

}  // namespace

void host_layer(const LayerLaunch& launch) {
  std::visit([](const auto& one) { run(one); }, launch);
}

}  // namespace sterna::kernels
