// What a net's layers compute, on CUDA. Plain: each thread makes an element, a row or a block by
// itself, and only the sums of channels meet in a block of threads, so that the order of every sum
// is the one that layers_device.h writes down.
#include <algorithm>
#include <initializer_list>

#include "kernels/isa/launch_cuda.h"
#include "kernels/layers/layer_launch.h"
#include "kernels/layers/layers_device.h"
#include "kernels/layers/squares_device.h"

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

/// What a thread takes at once: elements, or quads of them, more of which would take registers that
/// other threads need.
constexpr std::uint32_t at_once(std::uint32_t wide) { return wide == 1 ? 4 : 2; }

/// A block of threads takes neighbours of `count`, each thread each 256th of them: calls
/// several(its first of kAtOnce), or one(each) where there are no more so many.
template <std::uint32_t kAtOnce, class Several, class One>
__device__ void for_neighbours(std::size_t count, Several several, One one) {
  const std::size_t first = std::size_t{blockIdx.x} * kThreads * kAtOnce + threadIdx.x;
  if (first + (kAtOnce - 1) * kThreads < count) return several(first);
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

/// Elements one by one, or in quads; what is behind the last quad is the first threads'.
template <ElementPass kPass, bool kBf16s, std::uint32_t kWide>
__global__ void __launch_bounds__(kThreads) pass_elements(const ElementLaunch whole) {
  ElementLaunch launch = whole;
  launch.pass = kPass;
  know<kBf16s>(launch);
  const std::size_t groups = launch.count / kWide;
  for_neighbours<at_once(kWide)>(
      groups,
      [&](std::size_t first) {
        pass_elements_of<at_once(kWide), kWide>(launch, first * kWide, kThreads * kWide);
      },
      [&](std::size_t i) { pass_elements_of<1, kWide>(launch, i * kWide, kWide); });
  if (index_of_thread() < launch.count % kWide) {
    pass_element(launch, groups * kWide + index_of_thread());
  }
}

using ElementKernel = void (*)(ElementLaunch);

template <bool kBf16s, std::uint32_t kWide>
ElementKernel kernel_of(ElementPass pass) {
  switch (pass) {
    case ElementPass::clear:
      break;
    case ElementPass::add:
      return pass_elements<ElementPass::add, kBf16s, kWide>;
    case ElementPass::add_and_rectify:
      return pass_elements<ElementPass::add_and_rectify, kBf16s, kWide>;
    case ElementPass::add_gated:
      return pass_elements<ElementPass::add_gated, kBf16s, kWide>;
    case ElementPass::subtract:
      return pass_elements<ElementPass::subtract, kBf16s, kWide>;
    case ElementPass::scale:
      return pass_elements<ElementPass::scale, kBf16s, kWide>;
    case ElementPass::divide:
      return pass_elements<ElementPass::divide, kBf16s, kWide>;
    case ElementPass::move:
      return pass_elements<ElementPass::move, kBf16s, kWide>;
    case ElementPass::relu:
      return pass_elements<ElementPass::relu, kBf16s, kWide>;
    case ElementPass::relu_gradient:
      return pass_elements<ElementPass::relu_gradient, kBf16s, kWide>;
    case ElementPass::sigmoid:
      return pass_elements<ElementPass::sigmoid, kBf16s, kWide>;
    case ElementPass::sigmoid_gradient:
      return pass_elements<ElementPass::sigmoid_gradient, kBf16s, kWide>;
  }
  return pass_elements<ElementPass::clear, kBf16s, kWide>;
}

__global__ void __launch_bounds__(kThreads) round_numbers(const RoundLaunch launch) {
  for_neighbours<at_once(1)>(
      launch.count, [&](std::size_t first) { round_elements<at_once(1)>(launch, first, kThreads); },
      [&](std::size_t i) { round_elements<1>(launch, i, 1); });
}

__global__ void __launch_bounds__(kThreads) widen_numbers(const WidenLaunch launch) {
  for_neighbours<at_once(1)>(
      launch.count, [&](std::size_t first) { widen_elements<at_once(1)>(launch, first, kThreads); },
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

/// A block of threads for each block of elements.
template <class Launch>
__global__ void __launch_bounds__(kSquareThreads) sum_squares(const Launch launch) {
  using Lane = typename Launch::Lane;
  __shared__ float values[kSquaresBlock];
  __shared__ Lane lanes[kSquaresLanes];
  const SquareBlock block(launch.count, blockIdx.x);
  bring_squares(launch, block, threadIdx.x, values);
  __syncthreads();
  if (threadIdx.x < kSquaresLanes) {
    lanes[threadIdx.x] = sum_of_lane<Lane>(block, threadIdx.x, values);
  }
  __syncthreads();
  if (threadIdx.x == 0) sum_lanes(launch, blockIdx.x, lanes);
}

__global__ void take_decayed(const DecayLaunch launch) { add_decayed(this_warp(), launch); }

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
__global__ void __launch_bounds__(kThreads, kFewBlocks)
    pass_window_channels(const WindowLaunch whole) {
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
    case WindowPass::mean_back:
      return pass_window_channels<WindowPass::mean_back, kBf16s>;
    case WindowPass::unfold:
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

template <std::uint32_t kWide>
__global__ void __launch_bounds__(kThreads) copy_runs(const RunLaunch launch) {
  const std::size_t i = index_of_thread();
  if (i < launch.runs.elements() / kWide) copy_run<kWide>(launch, i);
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

template <bool kBf16s, std::uint32_t kWide>
__global__ void __launch_bounds__(kThreads, kFewBlocks) add_biases(const BiasLaunch whole) {
  BiasLaunch launch = whole;
  know<kBf16s>(launch);
  const std::size_t i = index_of_thread();
  if (i < pixel_threads(launch.pixels, launch.channels, kWide)) add_bias<kWide>(launch, i);
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

/// The same by QuadTiles.
template <bool kBf16s, class Launch>
__global__ void __launch_bounds__(kTileThreads, 2) sum_quad_tiles(const Launch whole) {
  __shared__ TwoSums blocks[kTileThreads * kQuad];
  Launch launch = whole;
  know<kBf16s>(launch);
  const QuadTiles tiles(launch.sums, blockIdx.x);
  tiles.sum(launch, threadIdx.x, blocks);
  __syncthreads();
  tiles.sum_tiles(launch.sums, threadIdx.x, blocks);
}

template <class Launch>
__global__ void __launch_bounds__(kThreads) take_channels(const Launch launch) {
  const std::size_t channel = index_of_thread() / kWarpLanes;
  if (channel >= launch.sums.channels) return;
  sum_channel(this_warp(), launch.sums, channel,
              [&](const TwoSums& sums) { take_sums(launch, channel, sums); });
}

template <bool kBf16s, std::uint32_t kWide>
__global__ void __launch_bounds__(kThreads, kFewBlocks)
    norm_channels(const ChannelNormLaunch whole) {
  ChannelNormLaunch launch = whole;
  know<kBf16s>(launch);
  const std::size_t i = index_of_thread();
  if (i < pixel_threads(launch.pixels, launch.channels, kWide)) normalize_channel<kWide>(launch, i);
}

template <bool kBf16s, std::uint32_t kWide>
__global__ void __launch_bounds__(kThreads, kWide == 1 ? kFewBlocks : kFewBlocks - 1)
    take_norm_gradients_of_x(const ChannelNormGradientLaunch whole) {
  ChannelNormGradientLaunch launch = whole;
  know<kBf16s>(launch);
  const std::size_t i = index_of_thread();
  if (i < pixel_threads(launch.sums.pixels, launch.sums.channels, kWide)) {
    norm_gradient<kWide>(launch, i);
  }
}

/// Whether all of these, of images with so many channels, may be read in quads of channels.
bool lie_in_quads(std::initializer_list<Numbers> numbers, std::size_t channels) {
  return channels % kQuad == 0 &&
         std::all_of(numbers.begin(), numbers.end(),
                     [](const Numbers& one) { return one.lie_in_quads(); });
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

/// Of a kernel that takes several elements at once, or quads of them.
std::size_t element_threads(std::size_t count, std::uint32_t wide = 1) {
  const std::size_t groups = (count + wide - 1) / wide;
  return (groups + at_once(wide) - 1) / at_once(wide);
}

int run(const ElementLaunch& launch, CUstream_st* stream) {
  const bool bf16s = launch.out.bf16s;
  const bool quads =
      launch.a.lie_in_quads() && launch.b.lie_in_quads() && launch.out.lie_in_quads();
  const ElementKernel kernel =
      quads ? (bf16s ? kernel_of<true, kQuad>(launch.pass) : kernel_of<false, kQuad>(launch.pass))
            : (bf16s ? kernel_of<true, 1>(launch.pass) : kernel_of<false, 1>(launch.pass));
  return launch_for(kernel, element_threads(launch.count, quads ? kQuad : 1), launch, stream);
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

/// And then `take`s what the blocks have come to.
template <class Launch>
int sum_all_squares(void (*take)(Launch), const Launch& launch, CUstream_st* stream) {
  const auto blocks = static_cast<std::uint32_t>(square_blocks(launch.count));
  const int failed =
      blocks == 0 ? int{cudaSuccess}
                  : launch_kernel(sum_squares<Launch>, blocks, kSquareThreads, launch, stream);
  if (failed != cudaSuccess) return failed;
  return launch_kernel(take, 1, kWarpLanes, launch, stream);
}

int run(const DecayLaunch& launch, CUstream_st* stream) {
  return sum_all_squares(take_decayed, launch, stream);
}

int run(const SquaresLaunch& launch, CUstream_st* stream) {
  return sum_all_squares(take_squares, launch, stream);
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

/// Whether all runs begin at quads and are made of them, on both sides, of one kind.
bool runs_are_quads(const RunLaunch& launch) {
  const auto in_quads = [](const Runs::Place& of) {
    return (of.first | of.image | of.row | of.column) % kQuad == 0;
  };
  const Runs& runs = launch.runs;
  return launch.from.bf16s == launch.to.bf16s && runs.length % kQuad == 0 && in_quads(runs.from) &&
         in_quads(runs.to) && launch.from.lie_in_quads() && launch.to.lie_in_quads();
}

int run(const RunLaunch& launch, CUstream_st* stream) {
  const bool quads = runs_are_quads(launch);
  return launch_for(quads ? copy_runs<kQuad> : copy_runs<1>,
                    launch.runs.elements() / (quads ? kQuad : 1), launch, stream);
}

int run(const LocalNormLaunch& launch, CUstream_st* stream) {
  return launch_for(norm_locally, launch.norm.count, launch, stream);
}

int run(const LocalNormGradientLaunch& launch, CUstream_st* stream) {
  const std::size_t count = launch.norm.count;
  return launch_all<LocalNormGradientLaunch>(
      {{take_local_parts, count}, {take_local_gradients, count}}, launch, stream);
}

/// Which of a kernel's four is for these numbers.
template <class Launch>
struct Kernels {
  void (*fp32s)(Launch);
  void (*bf16s)(Launch);
  void (*quads_of_fp32s)(Launch);
  void (*quads_of_bf16s)(Launch);
};

/// Passes over pixels of so many channels, in quads of them where all of `numbers` lie so.
template <class Launch>
int pass_pixels_of(const Kernels<Launch>& kernels, const Launch& launch,
                   std::initializer_list<Numbers> numbers, std::size_t pixels, std::size_t channels,
                   CUstream_st* stream) {
  const bool quads = lie_in_quads(numbers, channels);
  const bool bf16s = numbers.begin()->bf16s;
  void (*const kernel)(Launch) = quads ? (bf16s ? kernels.quads_of_bf16s : kernels.quads_of_fp32s)
                                       : (bf16s ? kernels.bf16s : kernels.fp32s);
  return launch_for(kernel, pixel_threads(pixels, channels, quads ? kQuad : 1), launch, stream);
}

int run(const BiasLaunch& launch, CUstream_st* stream) {
  return pass_pixels_of<BiasLaunch>({add_biases<false, 1>, add_biases<true, 1>,
                                     add_biases<false, kQuad>, add_biases<true, kQuad>},
                                    launch, {launch.y}, launch.pixels, launch.channels, stream);
}

/// About as many as cards have multiprocessors: of fewer blocks some would have nothing to do.
constexpr std::uint32_t kManyBlocks = 128;

/// Of `numbers`, all of them bf16s or fp32s.
template <class Launch>
int sum_channels(const Launch& launch, std::initializer_list<Numbers> numbers,
                 CUstream_st* stream) {
  const ChannelSums& sums = launch.sums;
  const bool bf16s = numbers.begin()->bf16s;
  int failed = cudaSuccess;
  const std::uint32_t down = tiles_down(sums.pixels, sums.channels);
  const std::uint32_t fours = tiles_across(sums.channels) * ((down + kQuad - 1) / kQuad);
  if (fours >= kManyBlocks && sums.channels % kSumRun == 0 &&
      lie_in_quads(numbers, sums.channels)) {
    failed = launch_kernel(bf16s ? sum_quad_tiles<true, Launch> : sum_quad_tiles<false, Launch>,
                           fours, kTileThreads, launch, stream);
  } else {
    failed = launch_kernel(bf16s ? sum_tiles<true, Launch> : sum_tiles<false, Launch>,
                           tiles_of(sums), kTileThreads, launch, stream);
  }
  if (failed != cudaSuccess) return failed;
  return launch_for(take_channels<Launch>, sums.channels * kWarpLanes, launch, stream);
}

int run(const ChannelSumLaunch& launch, CUstream_st* stream) {
  return sum_channels(launch, {launch.from}, stream);
}

int run(const MomentsLaunch& launch, CUstream_st* stream) {
  return sum_channels(launch, {launch.x}, stream);
}

int run(const ChannelNormLaunch& launch, CUstream_st* stream) {
  return pass_pixels_of<ChannelNormLaunch>(
      {norm_channels<false, 1>, norm_channels<true, 1>, norm_channels<false, kQuad>,
       norm_channels<true, kQuad>},
      launch, {launch.y, launch.norm.x}, launch.pixels, launch.channels, stream);
}

int run(const ChannelNormGradientLaunch& launch, CUstream_st* stream) {
  const int failed = sum_channels(launch, {launch.dy, launch.norm.x}, stream);
  if (failed != cudaSuccess) return failed;
  return pass_pixels_of<ChannelNormGradientLaunch>(
      {take_norm_gradients_of_x<false, 1>, take_norm_gradients_of_x<true, 1>,
       take_norm_gradients_of_x<false, kQuad>, take_norm_gradients_of_x<true, kQuad>},
      launch, {launch.dx, launch.dy, launch.norm.x}, launch.sums.pixels, launch.sums.channels,
      stream);
}

}  // namespace

int cuda_layer(const LayerLaunch& launch, CUstream_st* stream) {
  return std::visit([&](const auto& one) { return run(one, stream); }, launch);
}

}  // namespace sterna::kernels
