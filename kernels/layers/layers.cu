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

__device__ CudaWarp this_warp() { return CudaWarp(threadIdx.x % kWarpLanes); }

__device__ std::size_t index_of_thread() {
  return std::size_t{blockIdx.x} * kThreads + threadIdx.x;
}

__global__ void __launch_bounds__(kThreads) make_product(const ProductLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.rows * launch.columns)
    product_elements<1>(launch, i / launch.columns, i % launch.columns);
}

constexpr std::uint32_t kElementsAtOnce = 4;

/// A block of threads takes neighbouring elements, each thread each 256th of them: calls
/// several(its first), or one(each) where there are no more so many.
template <class Several, class One>
__device__ void for_neighbours(std::size_t count, Several several, One one) {
  const std::size_t first = std::size_t{blockIdx.x} * kThreads * kElementsAtOnce + threadIdx.x;
  if (first + (kElementsAtOnce - 1) * kThreads < count) return several(first);
  for (std::size_t i = first; i < count; i += kThreads) one(i);
}

template <ElementPass kPass>
__global__ void __launch_bounds__(kThreads) pass_elements(const ElementLaunch whole) {
  ElementLaunch launch = whole;
  launch.pass = kPass;
  for_neighbours(
      launch.count,
      [&](std::size_t first) { pass_elements_of<kElementsAtOnce>(launch, first, kThreads); },
      [&](std::size_t i) { pass_element(launch, i); });
}

using ElementKernel = void (*)(ElementLaunch);

ElementKernel kernel_of(ElementPass pass) {
  switch (pass) {
    case ElementPass::clear:
      break;
    case ElementPass::add:
      return pass_elements<ElementPass::add>;
    case ElementPass::subtract:
      return pass_elements<ElementPass::subtract>;
    case ElementPass::scale:
      return pass_elements<ElementPass::scale>;
    case ElementPass::divide:
      return pass_elements<ElementPass::divide>;
    case ElementPass::relu:
      return pass_elements<ElementPass::relu>;
    case ElementPass::relu_gradient:
      return pass_elements<ElementPass::relu_gradient>;
    case ElementPass::sigmoid:
      return pass_elements<ElementPass::sigmoid>;
    case ElementPass::sigmoid_gradient:
      return pass_elements<ElementPass::sigmoid_gradient>;
  }
  return pass_elements<ElementPass::clear>;
}

__global__ void __launch_bounds__(kThreads) round_numbers(const RoundLaunch launch) {
  for_neighbours(
      launch.count,
      [&](std::size_t first) { round_elements<kElementsAtOnce>(launch, first, kThreads); },
      [&](std::size_t i) { round_elements<1>(launch, i, 1); });
}

__global__ void __launch_bounds__(kThreads) widen_numbers(const WidenLaunch launch) {
  for_neighbours(
      launch.count,
      [&](std::size_t first) { widen_elements<kElementsAtOnce>(launch, first, kThreads); },
      [&](std::size_t i) { widen_elements<1>(launch, i, 1); });
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
  const std::size_t row = index_of_thread() / kWarpLanes;
  if (row < launch.rows) loss_row(this_warp(), launch, row);
}

__global__ void take_mean_loss(const LossLaunch launch) { mean_loss(this_warp(), launch); }

__global__ void __launch_bounds__(kThreads) take_error_gradients(const SquaredErrorLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.count) error_gradient(launch, i);
}

__global__ void take_mean_squared_error(const SquaredErrorLaunch launch) {
  mean_squared_error(this_warp(), launch);
}

__global__ void __launch_bounds__(kThreads) decay_lanes_of(const DecayLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < decay_lanes(launch.count)) decay_lane(launch, i);
}

__global__ void take_decayed(const DecayLaunch launch) { add_decayed(this_warp(), launch); }

__global__ void __launch_bounds__(kThreads) square_lanes_of(const SquaresLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < square_lanes(launch.count)) square_lane(launch, i);
}

__global__ void __launch_bounds__(kThreads) square_blocks(const SquaresLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < square_lanes(launch.count) / kSquaresLanes) square_block(launch, i);
}

__global__ void take_squares(const SquaresLaunch launch) { add_squares(this_warp(), launch); }

constexpr std::uint32_t kChannelsAtOnce = 4;

template <WindowPass kPass>
__global__ void __launch_bounds__(kThreads) pass_windows(const WindowLaunch whole) {
  WindowLaunch launch = whole;
  launch.pass = kPass;
  const std::size_t i = index_of_thread();
  if (i < window_elements(launch)) window_element(launch, i);
}

/// Where channels are a multiple of that.
template <WindowPass kPass>
__global__ void __launch_bounds__(kThreads) pass_window_channels(const WindowLaunch whole) {
  WindowLaunch launch = whole;
  launch.pass = kPass;
  const std::size_t i = index_of_thread();
  if (i < window_elements(launch) / kChannelsAtOnce) window_channels<kChannelsAtOnce>(launch, i);
}

using WindowKernel = void (*)(WindowLaunch);

WindowKernel channels_kernel_of(WindowPass pass) {
  switch (pass) {
    case WindowPass::fold:
      return pass_window_channels<WindowPass::fold>;
    case WindowPass::maximum:
      return pass_window_channels<WindowPass::maximum>;
    case WindowPass::maximum_back:
      return pass_window_channels<WindowPass::maximum_back>;
    case WindowPass::mean:
      return pass_window_channels<WindowPass::mean>;
    case WindowPass::unfold:
    case WindowPass::mean_back:  // has no registers for several
      break;
  }
  return nullptr;
}

WindowKernel kernel_of(WindowPass pass) {
  switch (pass) {
    case WindowPass::unfold:
      break;
    case WindowPass::fold:
      return pass_windows<WindowPass::fold>;
    case WindowPass::maximum:
      return pass_windows<WindowPass::maximum>;
    case WindowPass::maximum_back:
      return pass_windows<WindowPass::maximum_back>;
    case WindowPass::mean:
      return pass_windows<WindowPass::mean>;
    case WindowPass::mean_back:
      return pass_windows<WindowPass::mean_back>;
  }
  return pass_windows<WindowPass::unfold>;
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

__global__ void __launch_bounds__(kThreads) add_biases(const BiasLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < pixel_threads(launch.pixels, launch.channels)) add_bias(launch, i);
}

/// Of whatever launch has such sums.
template <class Launch>
__global__ void __launch_bounds__(kThreads) sum_groups_of(const Launch launch) {
  const std::size_t i = index_of_thread();
  if (i < channel_groups(launch.sums)) sum_group(launch.sums, i);
}

__global__ void __launch_bounds__(kThreads) sum_channels(const ChannelSumLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < channel_blocks(launch.sums)) channel_sum_block(launch, i);
}

__global__ void __launch_bounds__(kThreads) fold_channels(const ChannelSumLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.sums.channels) take_channel_sum(launch, i);
}

__global__ void __launch_bounds__(kThreads) sum_moments(const MomentsLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < channel_blocks(launch.sums)) moment_block_of(launch, i);
}

__global__ void __launch_bounds__(kThreads) fold_moments(const MomentsLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.sums.channels) take_moments(launch, i);
}

__global__ void __launch_bounds__(kThreads) norm_channels(const ChannelNormLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < pixel_threads(launch.pixels, launch.channels)) normalize_channel(launch, i);
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
  if (i < pixel_threads(launch.sums.pixels, launch.sums.channels)) norm_gradient(launch, i);
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

/// Of a kernel that takes several elements at once.
std::size_t element_threads(std::size_t count) {
  return (count + kElementsAtOnce - 1) / kElementsAtOnce;
}

int run(const ElementLaunch& launch, CUstream_st* stream) {
  return launch_for(kernel_of(launch.pass), element_threads(launch.count), launch, stream);
}

int run(const RoundLaunch& launch, CUstream_st* stream) {
  return launch_for(round_numbers, element_threads(launch.count), launch, stream);
}

int run(const WidenLaunch& launch, CUstream_st* stream) {
  return launch_for(widen_numbers, element_threads(launch.count), launch, stream);
}

int run(const DropoutLaunch& launch, CUstream_st* stream) {
  return launch_for(drop_columns, dropout_columns(launch), launch, stream);
}

int run(const PixelLaunch& launch, CUstream_st* stream) {
  return launch_for(read_pixels, launch.image * launch.images, launch, stream);
}

int run(const LossLaunch& launch, CUstream_st* stream) {
  if (const int failed = launch_for(lose_rows, launch.rows * kWarpLanes, launch, stream);
      failed != cudaSuccess) {
    return failed;
  }
  return launch_kernel(take_mean_loss, 1, kWarpLanes, launch, stream);
}

int run(const SquaredErrorLaunch& launch, CUstream_st* stream) {
  if (const int failed = launch_for(take_error_gradients, launch.count, launch, stream);
      failed != cudaSuccess) {
    return failed;
  }
  return launch_kernel(take_mean_squared_error, 1, kWarpLanes, launch, stream);
}

int run(const DecayLaunch& launch, CUstream_st* stream) {
  const std::size_t lanes = decay_lanes(launch.count);
  if (const int failed = launch_for(decay_lanes_of, lanes, launch, stream); failed != cudaSuccess) {
    return failed;
  }
  return launch_kernel(take_decayed, 1, kWarpLanes, launch, stream);
}

int run(const SquaresLaunch& launch, CUstream_st* stream) {
  const std::size_t lanes = square_lanes(launch.count);
  const int failed = launch_all<SquaresLaunch>(
      {{square_lanes_of, lanes}, {square_blocks, lanes / kSquaresLanes}}, launch, stream);
  if (failed != cudaSuccess) return failed;
  return launch_kernel(take_squares, 1, kWarpLanes, launch, stream);
}

int run(const WindowLaunch& launch, CUstream_st* stream) {
  const Windows& w = launch.windows;
  // At least as many as any pass has elements.
  const std::size_t outputs = std::size_t{w.images} * w.out_rows * w.out_columns * w.channels;
  const std::size_t pixels = std::size_t{w.images} * w.rows * w.columns * w.channels;
  const std::size_t parts = launch.pass == WindowPass::unfold
                                ? outputs * w.kernel_rows * w.kernel_columns
                                : std::max(outputs, pixels);
  const WindowKernel together = channels_kernel_of(launch.pass);
  if (together != nullptr && w.channels % kChannelsAtOnce == 0) {
    return launch_for(together, parts / kChannelsAtOnce, launch, stream);
  }
  return launch_for(kernel_of(launch.pass), parts, launch, stream);
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

int run(const BiasLaunch& launch, CUstream_st* stream) {
  return launch_for(add_biases, pixel_threads(launch.pixels, launch.channels), launch, stream);
}

int run(const ChannelSumLaunch& launch, CUstream_st* stream) {
  return launch_all<ChannelSumLaunch>(
      {{sum_channels, channel_blocks(launch.sums)},
       {sum_groups_of<ChannelSumLaunch>, channel_groups(launch.sums)},
       {fold_channels, launch.sums.channels}},
      launch, stream);
}

int run(const MomentsLaunch& launch, CUstream_st* stream) {
  return launch_all<MomentsLaunch>({{sum_moments, channel_blocks(launch.sums)},
                                    {sum_groups_of<MomentsLaunch>, channel_groups(launch.sums)},
                                    {fold_moments, launch.sums.channels}},
                                   launch, stream);
}

int run(const ChannelNormLaunch& launch, CUstream_st* stream) {
  return launch_for(norm_channels, pixel_threads(launch.pixels, launch.channels), launch, stream);
}

int run(const ChannelNormGradientLaunch& launch, CUstream_st* stream) {
  const ChannelSums& sums = launch.sums;
  return launch_all<ChannelNormGradientLaunch>(
      {{sum_norm_gradients, channel_blocks(sums)},
       {sum_groups_of<ChannelNormGradientLaunch>, channel_groups(sums)},
       {fold_norm_gradients, sums.channels},
       {take_norm_gradients_of_x, pixel_threads(sums.pixels, sums.channels)}},
      launch, stream);
}

}  // namespace

int cuda_layer(const LayerLaunch& launch, CUstream_st* stream) {
  return std::visit([&](const auto& one) { return run(one, stream); }, launch);
}

}  // namespace sterna::kernels
