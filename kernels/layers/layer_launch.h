// What a device is told to compute of a net's layers. Plain data that host and device read alike;
// all addresses are the device's, and all that is computed is fp32 unless a type says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "kernels/layers/norms_launch.h"
#include "kernels/layers/numbers.h"
#include "kernels/layers/runs.h"
#include "kernels/numbers/squares.h"
#include "kernels/random/dropout.h"
#include "kernels/random/philox.h"

struct CUstream_st;  // a cudaStream_t points to one

namespace sterna::kernels {

/// A matrix somewhere in memory: element (i, j) is number i * row + j * column. With a step of 0
/// one element stands for many.
struct MatrixView {
  Numbers data = nullptr;
  std::size_t row = 0;
  std::size_t column = 0;
};

/// So many of an element's products are added one after the other, each rounded, and then those
/// sums: one sum of a million has lost too much by its end.
inline constexpr std::size_t kProductBlock = 512;

/// out = a b, and where there is one the bias of each column; `out` is rows x columns, row-major.
/// Both operands are fp32s or both bf16s; what is added is fp32.
struct ProductLaunch {
  MatrixView a;
  MatrixView b;
  const float* bias = nullptr;  ///< null: none
  Numbers out = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t depth = 0;
  std::size_t out_row = 0;  ///< elements from one row of `out` to the next; 0: `columns`
};

enum class ElementPass : std::uint32_t {
  clear,             ///< out = 0
  add,               ///< out = a + b
  add_and_rectify,   ///< out = max(0, a + b); what is no number stays so
  add_gated,         ///< out = a > 0 ? out + b : 0
  subtract,          ///< out = a - b
  scale,             ///< out = a factor
  divide,            ///< out = a / factor
  move,              ///< out = a - factor (a - b): as a moving average does towards b
  relu,              ///< out = max(0, a); what is no number stays so
  relu_gradient,     ///< out = a > 0 ? b : 0
  sigmoid,           ///< out = 1 / (1 + e^-a)
  sigmoid_gradient,  ///< out = b a (1 - a)
};

/// The same of each element; `out` may be an operand. All are fp32s or all bf16s.
struct ElementLaunch {
  ElementPass pass = ElementPass::clear;
  Numbers a = nullptr;
  Numbers b = nullptr;
  Numbers out = nullptr;
  std::size_t count = 0;
  float factor = 0;
};

/// What kernels/random/dropout.h says, of elements [first, first + count) of the rank's batch.
struct DropoutLaunch {
  Numbers x = nullptr;
  Numbers out = nullptr;  ///< `x`, or apart from it
  std::size_t count = 0;
  /// In the device's memory, as a pass that is recorded once draws anew each time.
  const DropoutDraw* draw = nullptr;
  std::uint32_t limit = 0;  ///< of the words of what is kept
  float factor = 1;         ///< of what is kept
};

/// Elements whose draws are mapped together, as those of a block of trits are.
inline constexpr std::uint32_t kDropoutBlock = 512;

/// One for each column of 16 elements of the blocks that a launch may touch, wherever the draw says
/// that the first of them begins.
constexpr std::size_t dropout_columns(const DropoutLaunch& launch) {
  if (launch.count == 0) return 0;
  const std::size_t before = kDropoutBlock - 1;  // of a block, in front of the first element
  return ((before + launch.count - 1) / kDropoutBlock + 1) * kDrawsPerBlock;
}

/// Images as bytes become the numbers that they stand for, as nets::PixelImages says.
struct PixelLaunch {
  const std::uint8_t* pixels = nullptr;
  const float* levels = nullptr;
  Numbers out = nullptr;
  std::size_t image = 0;  ///< bytes of one
  std::size_t channels = 0;
  std::size_t images = 0;
};

/// The mean softmax cross-entropy of `rows` rows of logits and its gradient by them, as
/// nets::softmax_cross_entropy says, in fp64 within. `lost` has room for a number a row.
struct LossLaunch {
  Numbers logits = nullptr;
  const std::uint16_t* labels = nullptr;
  Numbers gradient = nullptr;
  double* lost = nullptr;
  float* loss = nullptr;  ///< gets the mean
  std::size_t rows = 0;
  std::size_t classes = 0;
  double smoothing = 0;
  double weight = 1;
};

/// The mean squared error of values against one target, and its gradient by them: the bits of
/// nets::squared_error.
struct SquaredErrorLaunch {
  Numbers values = nullptr;
  Numbers gradient = nullptr;
  float* loss = nullptr;  ///< gets the mean
  std::size_t count = 0;
  float target = 0;
  double weight = 1;
};

/// The blocks of `count` elements whose squares are added up (kernels/numbers/squares.h).
constexpr std::size_t square_blocks(std::size_t count) {
  return (count + kSquaresBlock - 1) / kSquaresBlock;
}

/// gradient += decay * weights, and the sum of the weights' squares is added to `total`: the bits
/// of nets::add_decay. `blocks` has room for square_blocks(count) numbers.
struct DecayLaunch {
  using Lane = float;  ///< in which a lane of a block is added up
  const float* weights = nullptr;
  float* gradient = nullptr;
  double* blocks = nullptr;
  double* total = nullptr;
  std::size_t count = 0;
  float decay = 0;
};

/// The sum of the elements' squares: the bits of kernels/numbers/squares.h. `blocks` has room for
/// square_blocks(count) numbers.
struct SquaresLaunch {
  using Lane = double;
  const float* values = nullptr;
  double* blocks = nullptr;
  double* sum = nullptr;  ///< gets it
  std::size_t count = 0;
};

/// Windows over images that lie channels last. Output pixel (r, s) is that of the window whose
/// first row is r * stride - rows_before, and so with columns; what lies outside of the image is
/// padding.
struct Windows {
  std::uint32_t images = 0;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint32_t channels = 0;
  std::uint32_t out_rows = 0;
  std::uint32_t out_columns = 0;
  std::uint32_t kernel_rows = 0;
  std::uint32_t kernel_columns = 0;
  std::uint32_t stride = 1;
  std::uint32_t rows_before = 0;
  std::uint32_t columns_before = 0;
  friend bool operator==(const Windows&, const Windows&) = default;
};

enum class WindowPass : std::uint32_t {
  unfold,   ///< to = each window's pixels, {windows, channels, kernel}; padding is 0
  fold,     ///< to = the sum of all windows' parts of each pixel: unfold's gradient
  maximum,  ///< to = each window's largest; `winners`: which pixel of the window, the first one
  maximum_back,  ///< to = the sum of the gradients of the windows whose winner a pixel is
  mean,          ///< to = each window's mean
  mean_back,     ///< to = the sum of a pixel's shares of the gradients of the windows over it
};

/// `from` and `to` are images, windows or pixels of windows, as the pass says.
struct WindowLaunch {
  WindowPass pass = WindowPass::unfold;
  Windows windows;
  Numbers from = nullptr;
  Numbers to = nullptr;
  std::uint32_t* winners = nullptr;  ///< of each output element
  bool counts_padding = false;       ///< a mean does, as zeros
};

/// Of `count` matrices of rows x columns: to(j, i) = from(i, j).
struct TransposeLaunch {
  Numbers from = nullptr;
  Numbers to = nullptr;
  std::size_t count = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
};

/// Copies runs from one place to another, apart from it.
struct RunLaunch {
  Numbers from = nullptr;
  Numbers to = nullptr;
  Runs runs;
};

/// Each element's nearest bf16, ties to even.
struct RoundLaunch {
  const float* from = nullptr;
  std::uint16_t* to = nullptr;
  std::size_t count = 0;
};

/// The fp32s that are the same numbers.
struct WidenLaunch {
  const std::uint16_t* from = nullptr;
  float* to = nullptr;
  std::size_t count = 0;
};

using LayerLaunch =
    std::variant<ProductLaunch, ElementLaunch, DropoutLaunch, PixelLaunch, LossLaunch,
                 SquaredErrorLaunch, DecayLaunch, SquaresLaunch, WindowLaunch, TransposeLaunch,
                 RunLaunch, RoundLaunch, WidenLaunch, LocalNormLaunch, LocalNormGradientLaunch,
                 BiasLaunch, ChannelSumLaunch, MomentsLaunch, ChannelNormLaunch,
                 ChannelNormGradientLaunch>;

/// Puts one on a stream of CUDA's (layers.cu) and returns a cudaError_t.
int cuda_layer(const LayerLaunch& launch, CUstream_st* stream);

}  // namespace sterna::kernels
