// The arithmetic of layer_launch.h, written once for nvcc and for the host's compiler: what one
// thread of a device does. Logarithms and exponentials are those of whoever computes them; all else
// has the same bits everywhere.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/isa/warp.h"
#include "kernels/layers/layer_launch.h"
#include "kernels/layers/norms_device.h"
#include "kernels/layers/windows_device.h"
#include "kernels/random/philox_device.h"

namespace sterna::kernels {

/// Elements (i, j) to (i, j + kColumns - 1) of a product.
template <std::uint32_t kColumns>
STERNA_DEVICE void product_elements(const ProductLaunch& launch, std::size_t i, std::size_t j) {
  const float* a = launch.a.data + i * launch.a.row;
  const float* b = launch.b.data + j * launch.b.column;
  float totals[kColumns] = {};
  for (std::size_t first = 0; first < launch.depth; first += kProductBlock) {
    const std::size_t end =
        first + kProductBlock < launch.depth ? first + kProductBlock : launch.depth;
    float sums[kColumns] = {};
    for (std::size_t k = first; k < end; ++k) {
      const float left = a[k * launch.a.column];
      STERNA_UNROLL
      for (std::uint32_t c = 0; c < kColumns; ++c) {
        sums[c] += left * b[k * launch.b.row + c * launch.b.column];
      }
    }
    STERNA_UNROLL
    for (std::uint32_t c = 0; c < kColumns; ++c) totals[c] += sums[c];
  }
  const std::size_t out_row = launch.out_row != 0 ? launch.out_row : launch.columns;
  STERNA_UNROLL
  for (std::uint32_t c = 0; c < kColumns; ++c) {
    const float bias = launch.bias != nullptr ? launch.bias[j + c] : 0;
    launch.out[i * out_row + j + c] = totals[c] + bias;
  }
}

STERNA_DEVICE void pass_element(const ElementLaunch& launch, std::size_t i) {
  switch (launch.pass) {
    case ElementPass::clear:
      launch.out[i] = 0;
      return;
    case ElementPass::add:
      launch.out[i] = launch.a[i] + launch.b[i];
      return;
    case ElementPass::subtract:
      launch.out[i] = launch.a[i] - launch.b[i];
      return;
    case ElementPass::scale:
      launch.out[i] = launch.a[i] * launch.factor;
      return;
    case ElementPass::divide:
      launch.out[i] = launch.a[i] / launch.factor;
      return;
    case ElementPass::relu:
      launch.out[i] = launch.a[i] > 0 ? launch.a[i] : 0;
      return;
    case ElementPass::relu_gradient:
      launch.out[i] = launch.a[i] > 0 ? launch.b[i] : 0;
      return;
    case ElementPass::sigmoid:
      launch.out[i] = 1 / (1 + std::exp(-launch.a[i]));
      return;
    case ElementPass::sigmoid_gradient:
      launch.out[i] = launch.b[i] * launch.a[i] * (1 - launch.a[i]);
      return;
  }
}

/// One of dropout_columns(launch).
STERNA_DEVICE void dropout_column(const DropoutLaunch& launch, std::size_t i) {
  const std::uint64_t block = launch.first / kDropoutBlock + i / kDrawsPerBlock;
  const auto column = static_cast<std::uint32_t>(i % kDrawsPerBlock);
  const ColumnDraw draw = draw_column({static_cast<std::uint32_t>(block * kDrawsPerBlock),
                                       launch.step, launch.rank_layer, launch.seed},
                                      column, Stream::dropout);
  STERNA_UNROLL
  for (std::uint32_t row = 0; row < kDropoutBlock / kDrawsPerBlock; ++row) {
    const std::uint64_t of_batch =
        block * kDropoutBlock + std::uint64_t{row} * kDrawsPerBlock + column;
    const std::uint64_t at = of_batch - launch.first;  // wraps before the first, and is none
    if (at >= launch.count) continue;
    launch.out[at] = draw.of_row(row) < launch.limit ? launch.x[at] * launch.factor : 0.0F;
  }
}

/// Element `at` of all runs.
STERNA_DEVICE void run_element(const RunLaunch& launch, std::size_t at) {
  const Runs& runs = launch.runs;
  const std::size_t element = at % runs.length;
  at /= runs.length;
  const std::size_t column = at % runs.columns;
  at /= runs.columns;
  const std::size_t row = at % runs.rows;
  const std::size_t image = at / runs.rows;
  const auto place = [&](const Runs::Place& of) {
    return of.first + image * of.image + row * of.row + column * of.column + element;
  };
  launch.to[place(runs.to)] = launch.from[place(runs.from)];
}

/// Byte i of all images.
STERNA_DEVICE void pixel_element(const PixelLaunch& launch, std::size_t i) {
  const float* levels = launch.levels + i / launch.image * 2 * launch.channels;
  const std::size_t channel = i % launch.image % launch.channels;
  const float value = static_cast<float>(launch.pixels[i]) / 255.0F;
  launch.out[i] = (value - levels[channel]) * levels[launch.channels + channel];
}

/// One row's gradient, and what it adds to the loss.
STERNA_DEVICE void loss_row(const LossLaunch& launch, std::size_t row) {
  const float* z = launch.logits + row * launch.classes;
  float* dz = launch.gradient + row * launch.classes;
  const double share = launch.weight / static_cast<double>(launch.rows);
  const double even = launch.smoothing / static_cast<double>(launch.classes);
  const std::size_t label = launch.labels[row];
  float largest = z[0];
  for (std::size_t k = 1; k < launch.classes; ++k) {
    if (largest < z[k]) largest = z[k];
  }
  double sum = 0;
  double all = 0;
  for (std::size_t k = 0; k < launch.classes; ++k) {
    const double value = double{z[k]} - double{largest};
    sum += std::exp(value);
    all += value;
  }
  for (std::size_t k = 0; k < launch.classes; ++k) {
    const double target = k == label ? 1.0 - launch.smoothing + even : even;
    dz[k] = static_cast<float>((std::exp(double{z[k]} - double{largest}) / sum - target) * share);
  }
  double lost = std::log(sum) - (1.0 - launch.smoothing) * (double{z[label]} - double{largest});
  if (even > 0) lost -= even * all;
  launch.lost[row] = lost;
}

/// After all rows.
STERNA_DEVICE void mean_loss(const LossLaunch& launch) {
  double sum = 0;
  for (std::size_t row = 0; row < launch.rows; ++row) sum += launch.lost[row];
  *launch.loss = static_cast<float>(sum * (launch.weight / static_cast<double>(launch.rows)));
}

/// Lane `lane` of those of all blocks.
STERNA_DEVICE void decay_lane(const DecayLaunch& launch, std::size_t lane) {
  const std::size_t first = lane / kDecayLanes * kDecayBlock;
  const std::size_t end = first + kDecayBlock < launch.count ? first + kDecayBlock : launch.count;
  float sum = 0;
  for (std::size_t i = first + lane % kDecayLanes; i < end; i += kDecayLanes) {
    const float weight = launch.weights[i];
    launch.gradient[i] += launch.decay * weight;
    sum += weight * weight;
  }
  launch.squares[lane] = sum;
}

/// After all lanes.
STERNA_DEVICE void add_decayed(const DecayLaunch& launch) {
  double sum = 0;
  for (std::size_t lane = 0; lane < decay_lanes(launch.count); ++lane) {
    sum += double{launch.squares[lane]};
  }
  *launch.total += sum;
}

/// Lane `lane` of those of all blocks.
STERNA_DEVICE void square_lane(const SquaresLaunch& launch, std::size_t lane) {
  const std::size_t first = lane / kSquaresLanes * kSquaresBlock;
  const std::size_t end =
      first + kSquaresBlock < launch.count ? first + kSquaresBlock : launch.count;
  double sum = 0;
  for (std::size_t i = first + lane % kSquaresLanes; i < end; i += kSquaresLanes) {
    sum += double{launch.values[i]} * double{launch.values[i]};
  }
  launch.lanes[lane] = sum;
}

/// After all lanes: the first of a block gets the block's sum.
STERNA_DEVICE void square_block(const SquaresLaunch& launch, std::size_t block) {
  double* const lanes = launch.lanes + block * kSquaresLanes;
  double sum = 0;
  for (std::size_t lane = 0; lane < kSquaresLanes; ++lane) sum += lanes[lane];
  lanes[0] = sum;
}

/// After all blocks.
STERNA_DEVICE void add_squares(const SquaresLaunch& launch) {
  double sum = 0;
  const std::size_t lanes = square_lanes(launch.count);
  for (std::size_t lane = 0; lane < lanes; lane += kSquaresLanes) sum += launch.lanes[lane];
  *launch.sum = sum;
}

}  // namespace sterna::kernels
