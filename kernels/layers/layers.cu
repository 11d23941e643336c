// What a net's layers compute, on CUDA. Plain: each thread makes an element, a row or a block by
// itself, so that the order of every sum is the one that layers_device.h writes down.
#include <algorithm>
#include <initializer_list>

#include "kernels/isa/launch_cuda.h"
#include "kernels/layers/layer_launch.h"
#include "kernels/layers/layers_device.h"

namespace sterna::kernels {
namespace {

constexpr std::uint32_t kThreads = 256;

__device__ std::size_t index_of_thread() {
  return std::size_t{blockIdx.x} * kThreads + threadIdx.x;
}

__global__ void __launch_bounds__(kThreads) make_product(const ProductLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.rows * launch.columns)
    product_elements<1>(launch, i / launch.columns, i % launch.columns);
}

__global__ void __launch_bounds__(kThreads) pass_elements(const ElementLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.count) pass_element(launch, i);
}

__global__ void __launch_bounds__(kThreads) drop_columns(const DropoutLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < dropout_columns(launch)) dropout_column(launch, i);
}

__global__ void __launch_bounds__(kThreads) read_pixels(const PixelLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.image * launch.images) pixel_element(launch, i);
}

__global__ void __launch_bounds__(kThreads) lose_rows(const LossLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.rows) loss_row(launch, i);
}

__global__ void take_mean_loss(const LossLaunch launch) { mean_loss(launch); }

__global__ void __launch_bounds__(kThreads) decay_lanes_of(const DecayLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < decay_lanes(launch.count)) decay_lane(launch, i);
}

__global__ void take_decayed(const DecayLaunch launch) { add_decayed(launch); }

__global__ void __launch_bounds__(kThreads) square_lanes_of(const SquaresLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < square_lanes(launch.count)) square_lane(launch, i);
}

__global__ void __launch_bounds__(kThreads) square_blocks(const SquaresLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < square_lanes(launch.count) / kSquaresLanes) square_block(launch, i);
}

__global__ void __launch_bounds__(kThreads) take_squares(const SquaresLaunch launch) {
  if (index_of_thread() == 0) add_squares(launch);
}

__global__ void __launch_bounds__(kThreads) pass_windows(const WindowLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < window_elements(launch)) window_element(launch, i);
}

__global__ void __launch_bounds__(kThreads) transpose(const TransposeLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.count * launch.rows * launch.columns) transpose_element(launch, i);
}

__global__ void __launch_bounds__(kThreads) copy_runs(const RunLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.runs.elements()) run_element(launch, i);
}

__global__ void __launch_bounds__(kThreads) norm_locally(const LocalNormLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.norm.count) normalize_locally(launch, i);
}

__global__ void __launch_bounds__(kThreads) take_local_parts(const LocalNormGradientLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.norm.count) local_part(launch, i);
}

__global__ void __launch_bounds__(kThreads)
    take_local_gradients(const LocalNormGradientLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.norm.count) local_gradient(launch, i);
}

__global__ void __launch_bounds__(kThreads) sum_moments(const MomentsLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < channel_blocks(launch.sums)) moment_block(launch, i);
}

__global__ void __launch_bounds__(kThreads) fold_moments(const MomentsLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.sums.channels) take_moments(launch, i);
}

__global__ void __launch_bounds__(kThreads) norm_channels(const ChannelNormLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.count) normalize_channel(launch, i);
}

__global__ void __launch_bounds__(kThreads)
    sum_norm_gradients(const ChannelNormGradientLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < channel_blocks(launch.sums)) norm_gradient_block(launch, i);
}

__global__ void __launch_bounds__(kThreads)
    fold_norm_gradients(const ChannelNormGradientLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.sums.channels) take_norm_gradients(launch, i);
}

__global__ void __launch_bounds__(kThreads)
    take_norm_gradients_of_x(const ChannelNormGradientLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.sums.pixels * launch.sums.channels) norm_gradient(launch, i);
}

template <class Launch>
int launch_for(void (*kernel)(Launch), std::size_t threads, const Launch& launch,
               CUstream_st* stream) {
  if (threads == 0) return cudaSuccess;
  const auto blocks = static_cast<std::uint32_t>((threads + kThreads - 1) / kThreads);
  return launch_kernel(kernel, blocks, kThreads, launch, stream);
}

/// Kernels, each after the one before, with as many threads.
template <class Launch>
struct Threads {
  void (*kernel)(Launch);
  std::size_t count;
};

template <class Launch>
int launch_all(std::initializer_list<Threads<Launch>> all, const Launch& launch,
               CUstream_st* stream) {
  for (const Threads<Launch>& threads : all) {
    const int failed = launch_for(threads.kernel, threads.count, launch, stream);
    if (failed != cudaSuccess) return failed;
  }
  return cudaSuccess;
}

int run(const ProductLaunch& launch, CUstream_st* stream) {
  return launch_for(make_product, launch.rows * launch.columns, launch, stream);
}

int run(const ElementLaunch& launch, CUstream_st* stream) {
  return launch_for(pass_elements, launch.count, launch, stream);
}

int run(const DropoutLaunch& launch, CUstream_st* stream) {
  return launch_for(drop_columns, dropout_columns(launch), launch, stream);
}

int run(const PixelLaunch& launch, CUstream_st* stream) {
  return launch_for(read_pixels, launch.image * launch.images, launch, stream);
}

int run(const LossLaunch& launch, CUstream_st* stream) {
  if (const int failed = launch_for(lose_rows, launch.rows, launch, stream);
      failed != cudaSuccess) {
    return failed;
  }
  return launch_kernel(take_mean_loss, 1, 1, launch, stream);
}

int run(const DecayLaunch& launch, CUstream_st* stream) {
  const std::size_t lanes = decay_lanes(launch.count);
  if (const int failed = launch_for(decay_lanes_of, lanes, launch, stream); failed != cudaSuccess) {
    return failed;
  }
  return launch_kernel(take_decayed, 1, 1, launch, stream);
}

int run(const SquaresLaunch& launch, CUstream_st* stream) {
  const std::size_t lanes = square_lanes(launch.count);
  return launch_all<SquaresLaunch>(
      {{square_lanes_of, lanes}, {square_blocks, lanes / kSquaresLanes}, {take_squares, 1}}, launch,
      stream);
}

int run(const WindowLaunch& launch, CUstream_st* stream) {
  const Windows& w = launch.windows;
  // At least as many as any pass has elements.
  const std::size_t outputs = std::size_t{w.images} * w.out_rows * w.out_columns * w.channels;
  const std::size_t pixels = std::size_t{w.images} * w.rows * w.columns * w.channels;
  const std::size_t parts = launch.pass == WindowPass::unfold
                                ? outputs * w.kernel_rows * w.kernel_columns
                                : std::max(outputs, pixels);
  return launch_for(pass_windows, parts, launch, stream);
}

int run(const TransposeLaunch& launch, CUstream_st* stream) {
  return launch_for(transpose, launch.count * launch.rows * launch.columns, launch, stream);
}

int run(const RunLaunch& launch, CUstream_st* stream) {
  return launch_for(copy_runs, launch.runs.elements(), launch, stream);
}

int run(const LocalNormLaunch& launch, CUstream_st* stream) {
  return launch_for(norm_locally, launch.norm.count, launch, stream);
}

int run(const LocalNormGradientLaunch& launch, CUstream_st* stream) {
  const std::size_t count = launch.norm.count;
  return launch_all<LocalNormGradientLaunch>(
      {{take_local_parts, count}, {take_local_gradients, count}}, launch, stream);
}

int run(const MomentsLaunch& launch, CUstream_st* stream) {
  return launch_all<MomentsLaunch>(
      {{sum_moments, channel_blocks(launch.sums)}, {fold_moments, launch.sums.channels}}, launch,
      stream);
}

int run(const ChannelNormLaunch& launch, CUstream_st* stream) {
  return launch_for(norm_channels, launch.count, launch, stream);
}

int run(const ChannelNormGradientLaunch& launch, CUstream_st* stream) {
  const ChannelSums& sums = launch.sums;
  return launch_all<ChannelNormGradientLaunch>(
      {{sum_norm_gradients, channel_blocks(sums)},
       {fold_norm_gradients, sums.channels},
       {take_norm_gradients_of_x, sums.pixels * sums.channels}},
      launch, stream);
}

}  // namespace

int cuda_layer(const LayerLaunch& launch, CUstream_st* stream) {
  return std::visit([&](const auto& one) { return run(one, stream); }, launch);
}

}  // namespace sterna::kernels
