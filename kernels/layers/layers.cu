// What a net's layers compute, on CUDA. Plain: each thread makes an element, a row or a block by
// itself, and only the sums of channels meet in a block of threads, so that the order of every sum
// is the one that layers_device.h writes down.
#include <algorithm>
#include <initializer_list>

#include "kernels/isa/launch_cuda.h"
#include "kernels/layers/layer_launch.h"
#include "kernels/layers/layers_device.h"

namespace sterna::kernels {
namespace {

constexpr std::uint32_t kThreads = 256;
/// Blocks of a multiprocessor that a kernel of many registers leaves room for: where the compiler
/// is told nothing it makes room for more, and spills.
constexpr std::uint32_t kFewBlocks = 4;

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

// What a kernel is compiled for, so that it does not ask at each element: the pass, and whether its
// numbers are bf16s.

template <bool kBf16s, class... All>
__device__ void know_all(All&... numbers) {
  ((numbers = known<kBf16s>(numbers)), ...);
}
template <bool kBf16s>
__device__ void know(ElementLaunch& launch) {
  know_all<kBf16s>(launch.a, launch.b, launch.out);
}
template <bool kBf16s>
__device__ void know(WindowLaunch& launch) {
  know_all<kBf16s>(launch.from, launch.to);
}
template <bool kBf16s>
__device__ void know(BiasLaunch& launch) {
  know_all<kBf16s>(launch.y);
}
template <bool kBf16s>
__device__ void know(ChannelSumLaunch& launch) {
  know_all<kBf16s>(launch.from);
}
template <bool kBf16s>
__device__ void know(MomentsLaunch& launch) {
  know_all<kBf16s>(launch.x);
}
template <bool kBf16s>
__device__ void know(ChannelNormLaunch& launch) {
  know_all<kBf16s>(launch.norm.x, launch.y);
}
template <bool kBf16s>
__device__ void know(ChannelNormGradientLaunch& launch) {
  know_all<kBf16s>(launch.norm.x, launch.dy, launch.dx);
}

template <ElementPass kPass, bool kBf16s>
__global__ void __launch_bounds__(kThreads) pass_elements(const ElementLaunch whole) {
  ElementLaunch launch = whole;
  launch.pass = kPass;
  know<kBf16s>(launch);
  for_neighbours(
      launch.count,
      [&](std::size_t first) { pass_elements_of<kElementsAtOnce>(launch, first, kThreads); },
      [&](std::size_t i) { pass_element(launch, i); });
}

using ElementKernel = void (*)(ElementLaunch);

template <bool kBf16s>
ElementKernel kernel_of(ElementPass pass) {
  switch (pass) {
    case ElementPass::clear:
      break;
    case ElementPass::add:
      return pass_elements<ElementPass::add, kBf16s>;
    case ElementPass::subtract:
      return pass_elements<ElementPass::subtract, kBf16s>;
    case ElementPass::scale:
      return pass_elements<ElementPass::scale, kBf16s>;
    case ElementPass::divide:
      return pass_elements<ElementPass::divide, kBf16s>;
    case ElementPass::move:
      return pass_elements<ElementPass::move, kBf16s>;
    case ElementPass::relu:
      return pass_elements<ElementPass::relu, kBf16s>;
    case ElementPass::relu_gradient:
      return pass_elements<ElementPass::relu_gradient, kBf16s>;
    case ElementPass::sigmoid:
      return pass_elements<ElementPass::sigmoid, kBf16s>;
    case ElementPass::sigmoid_gradient:
      return pass_elements<ElementPass::sigmoid_gradient, kBf16s>;
  }
  return pass_elements<ElementPass::clear, kBf16s>;
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

/// Of windows' pixels that are laid out or folded not both sides need be of one kind.
template <WindowPass kPass, bool kBf16s>
__device__ WindowLaunch known_windows(WindowLaunch launch) {
  launch.pass = kPass;
  if constexpr (kPass != WindowPass::unfold && kPass != WindowPass::fold) know<kBf16s>(launch);
  return launch;
}

template <WindowPass kPass, bool kBf16s>
__global__ void __launch_bounds__(kThreads, kFewBlocks) pass_windows(const WindowLaunch whole) {
  const WindowLaunch launch = known_windows<kPass, kBf16s>(whole);
  const std::size_t i = index_of_thread();
  if (i < window_elements(launch)) window_element(launch, i);
}

/// Where channels are a multiple of that.
template <WindowPass kPass, bool kBf16s>
__global__ void __launch_bounds__(kThreads) pass_window_channels(const WindowLaunch whole) {
  const WindowLaunch launch = known_windows<kPass, kBf16s>(whole);
  const std::size_t i = index_of_thread();
  if (i < window_elements(launch) / kChannelsAtOnce) window_channels<kChannelsAtOnce>(launch, i);
}

using WindowKernel = void (*)(WindowLaunch);

template <bool kBf16s>
WindowKernel channels_kernel_of(WindowPass pass) {
  switch (pass) {
    case WindowPass::fold:
      return pass_window_channels<WindowPass::fold, false>;
    case WindowPass::maximum:
      return pass_window_channels<WindowPass::maximum, kBf16s>;
    case WindowPass::maximum_back:
      return pass_window_channels<WindowPass::maximum_back, kBf16s>;
    case WindowPass::mean:
      return pass_window_channels<WindowPass::mean, kBf16s>;
    case WindowPass::unfold:
    case WindowPass::mean_back:  // has no registers for several
      break;
  }
  return nullptr;
}

template <bool kBf16s>
WindowKernel kernel_of(WindowPass pass) {
  switch (pass) {
    case WindowPass::unfold:
      break;
    case WindowPass::fold:
      return pass_windows<WindowPass::fold, false>;
    case WindowPass::maximum:
      return pass_windows<WindowPass::maximum, kBf16s>;
    case WindowPass::maximum_back:
      return pass_windows<WindowPass::maximum_back, kBf16s>;
    case WindowPass::mean:
      return pass_windows<WindowPass::mean, kBf16s>;
    case WindowPass::mean_back:
      return pass_windows<WindowPass::mean_back, kBf16s>;
  }
  return pass_windows<WindowPass::unfold, false>;
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

template <bool kBf16s>
__global__ void __launch_bounds__(kThreads) add_biases(const BiasLaunch whole) {
  BiasLaunch launch = whole;
  know<kBf16s>(launch);
  const std::size_t i = index_of_thread();
  if (i < pixel_threads(launch.pixels, launch.channels)) add_bias(launch, i);
}

/// Of whatever launch has such sums: a block of threads for each tile, and then a warp for each
/// channel.
template <bool kBf16s, class Launch>
__global__ void __launch_bounds__(kTileThreads, kFewBlocks) sum_tiles(const Launch whole) {
  __shared__ TwoSums blocks[kTileThreads];
  Launch launch = whole;
  know<kBf16s>(launch);
  const Tile tile(launch.sums, blockIdx.x);
  blocks[threadIdx.x] = sum_of_thread(launch, tile, threadIdx.x);
  __syncthreads();
  sum_tile(launch.sums, tile, threadIdx.x, blocks);
}

template <class Launch>
__global__ void __launch_bounds__(kThreads) take_channels(const Launch launch) {
  const std::size_t channel = index_of_thread() / kWarpLanes;
  if (channel >= launch.sums.channels) return;
  sum_channel(this_warp(), launch.sums, channel,
              [&](const TwoSums& sums) { take_sums(launch, channel, sums); });
}

template <bool kBf16s>
__global__ void __launch_bounds__(kThreads) norm_channels(const ChannelNormLaunch whole) {
  ChannelNormLaunch launch = whole;
  know<kBf16s>(launch);
  const std::size_t i = index_of_thread();
  if (i < pixel_threads(launch.pixels, launch.channels)) normalize_channel(launch, i);
}

template <bool kBf16s>
__global__ void __launch_bounds__(kThreads)
    take_norm_gradients_of_x(const ChannelNormGradientLaunch whole) {
  ChannelNormGradientLaunch launch = whole;
  know<kBf16s>(launch);
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
  const ElementKernel kernel =
      launch.out.bf16s ? kernel_of<true>(launch.pass) : kernel_of<false>(launch.pass);
  return launch_for(kernel, element_threads(launch.count), launch, stream);
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
  const bool bf16s = launch.to.bf16s;
  const WindowKernel together =
      bf16s ? channels_kernel_of<true>(launch.pass) : channels_kernel_of<false>(launch.pass);
  if (together != nullptr && w.channels % kChannelsAtOnce == 0) {
    return launch_for(together, parts / kChannelsAtOnce, launch, stream);
  }
  const WindowKernel kernel = bf16s ? kernel_of<true>(launch.pass) : kernel_of<false>(launch.pass);
  return launch_for(kernel, parts, launch, stream);
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
  return launch_for(launch.y.bf16s ? add_biases<true> : add_biases<false>,
                    pixel_threads(launch.pixels, launch.channels), launch, stream);
}

/// Of bf16s, or of fp32s.
template <class Launch>
int sum_channels(const Launch& launch, bool bf16s, CUstream_st* stream) {
  const ChannelSums& sums = launch.sums;
  const int failed = launch_kernel(bf16s ? sum_tiles<true, Launch> : sum_tiles<false, Launch>,
                                   tiles_of(sums), kTileThreads, launch, stream);
  if (failed != cudaSuccess) return failed;
  return launch_for(take_channels<Launch>, sums.channels * kWarpLanes, launch, stream);
}

int run(const ChannelSumLaunch& launch, CUstream_st* stream) {
  return sum_channels(launch, launch.from.bf16s, stream);
}

int run(const MomentsLaunch& launch, CUstream_st* stream) {
  return sum_channels(launch, launch.x.bf16s, stream);
}

int run(const ChannelNormLaunch& launch, CUstream_st* stream) {
  return launch_for(launch.y.bf16s ? norm_channels<true> : norm_channels<false>,
                    pixel_threads(launch.pixels, launch.channels), launch, stream);
}

int run(const ChannelNormGradientLaunch& launch, CUstream_st* stream) {
  const bool bf16s = launch.dx.bf16s;
  if (const int failed = sum_channels(launch, bf16s, stream); failed != cudaSuccess) return failed;
  return launch_for(bf16s ? take_norm_gradients_of_x<true> : take_norm_gradients_of_x<false>,
                    pixel_threads(launch.sums.pixels, launch.sums.channels), launch, stream);
}

}  // namespace

int cuda_layer(const LayerLaunch& launch, CUstream_st* stream) {
  return std::visit([&](const auto& one) { return run(one, stream); }, launch);
}

}  // namespace sterna::kernels
