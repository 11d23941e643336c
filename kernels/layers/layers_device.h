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
#include "kernels/layers/rounding_device.h"
#include "kernels/layers/windows_device.h"
#include "kernels/random/philox_device.h"

namespace sterna::kernels {

/// Elements (i, j) to (i, j + kColumns - 1) of a product, whose operands begin at `a` and `b`.
template <std::uint32_t kColumns, class Number>
STERNA_DEVICE void product_elements_of(const ProductLaunch& launch, const Number* a,
                                       const Number* b, std::size_t i, std::size_t j) {
  a += i * launch.a.row;
  b += j * launch.b.column;
  float totals[kColumns] = {};
  for (std::size_t first = 0; first < launch.depth; first += kProductBlock) {
    const std::size_t end =
        first + kProductBlock < launch.depth ? first + kProductBlock : launch.depth;
    float sums[kColumns] = {};
    for (std::size_t k = first; k < end; ++k) {
      const float left = number_of(a[k * launch.a.column]);
      STERNA_UNROLL
      for (std::uint32_t c = 0; c < kColumns; ++c) {
        sums[c] += left * number_of(b[k * launch.b.row + c * launch.b.column]);
      }
    }
    STERNA_UNROLL
    for (std::uint32_t c = 0; c < kColumns; ++c) totals[c] += sums[c];
  }
  const std::size_t out_row = launch.out_row != 0 ? launch.out_row : launch.columns;
  STERNA_UNROLL
  for (std::uint32_t c = 0; c < kColumns; ++c) {
    const float bias = launch.bias != nullptr ? launch.bias[j + c] : 0;
    put_number(launch.out, i * out_row + j + c, totals[c] + bias);
  }
}

template <std::uint32_t kColumns>
STERNA_DEVICE void product_elements(const ProductLaunch& launch, std::size_t i, std::size_t j) {
  const void* const a = launch.a.data.at;
  const void* const b = launch.b.data.at;
  if (launch.a.data.bf16s) {
    return product_elements_of<kColumns>(launch, static_cast<const std::uint16_t*>(a),
                                         static_cast<const std::uint16_t*>(b), i, j);
  }
  product_elements_of<kColumns>(launch, static_cast<const float*>(a), static_cast<const float*>(b),
                                i, j);
}

/// What a pass makes of an element of `a`, one of `b`, and what is there.
STERNA_DEVICE float element_of(ElementPass pass, float a, float b, float out, float factor) {
  switch (pass) {
    case ElementPass::clear:
      break;
    case ElementPass::add:
      return a + b;
    case ElementPass::add_and_rectify: {
      const float sum = a + b;
      return sum <= 0 ? 0 : sum;
    }
    case ElementPass::add_gated:
      return a > 0 ? out + b : 0;
    case ElementPass::subtract:
      return a - b;
    case ElementPass::scale:
      return a * factor;
    case ElementPass::divide:
      return a / factor;
    case ElementPass::move:
      return a - factor * (a - b);
    case ElementPass::relu:
      return a <= 0 ? 0 : a;
    case ElementPass::relu_gradient:
      return a > 0 ? b : 0;
    case ElementPass::sigmoid:
      return 1 / (1 + std::exp(-a));
    case ElementPass::sigmoid_gradient:
      return b * a * (1 - a);
  }
  return 0;
}

/// `kCount` elements, or quads of them, `step` elements apart from `first` on.
template <std::uint32_t kCount, std::uint32_t kWide = 1>
STERNA_DEVICE void pass_elements_of(const ElementLaunch& launch, std::size_t first,
                                    std::size_t step) {
  float a[kCount][kWide] = {};
  float b[kCount][kWide] = {};
  float out[kCount][kWide] = {};
  const bool adds_to_it = launch.pass == ElementPass::add_gated;
  STERNA_UNROLL
  for (std::uint32_t i = 0; i < kCount; ++i) {
    if (launch.a.at != nullptr) read_numbers<kWide>(launch.a, first + i * step, a[i]);
    if (launch.b.at != nullptr) read_numbers<kWide>(launch.b, first + i * step, b[i]);
    if (adds_to_it) read_numbers<kWide>(launch.out, first + i * step, out[i]);
  }
  STERNA_UNROLL
  for (std::uint32_t i = 0; i < kCount; ++i) {
    STERNA_UNROLL
    for (std::uint32_t c = 0; c < kWide; ++c) {
      a[i][c] = element_of(launch.pass, a[i][c], b[i][c], out[i][c], launch.factor);
    }
    put_numbers<kWide>(launch.out, first + i * step, a[i]);
  }
}

STERNA_DEVICE void pass_element(const ElementLaunch& launch, std::size_t i) {
  pass_elements_of<1>(launch, i, 1);
}

/// The largest of the lanes' numbers; within each(), and called by every lane.
template <class Warp>
STERNA_DEVICE float largest_lane(const typename Warp::template Each<float>& values) {
  float most = Warp::of_lane(values, 0);
  STERNA_UNROLL
  for (std::uint32_t l = 1; l < kWarpLanes; ++l) {
    const float value = Warp::of_lane(values, l);
    if (most < value) most = value;
  }
  return most;
}

/// One of dropout_columns(launch).
STERNA_DEVICE void dropout_column(const DropoutLaunch& launch, std::size_t i) {
  const DropoutDraw of = *launch.draw;
  const std::uint64_t block = of.first / kDropoutBlock + i / kDrawsPerBlock;
  const auto column = static_cast<std::uint32_t>(i % kDrawsPerBlock);
  const ColumnDraw draw = draw_column({static_cast<std::uint32_t>(block * kDrawsPerBlock), of.step,
                                       of.rank << 16 | of.layer, of.seed},
                                      column, Stream::dropout);
  STERNA_UNROLL
  for (std::uint32_t row = 0; row < kDropoutBlock / kDrawsPerBlock; ++row) {
    const std::uint64_t of_batch =
        block * kDropoutBlock + std::uint64_t{row} * kDrawsPerBlock + column;
    const std::uint64_t at = of_batch - of.first;  // wraps before the first, and is none
    if (at >= launch.count) continue;
    const bool kept = draw.of_row(row) < launch.limit;
    put_number(launch.out, at, kept ? number_at(launch.x, at) * launch.factor : 0.0F);
  }
}

/// `Number` is what `at` fits into, as of place_by().
template <std::uint32_t kWide, class Number>
STERNA_DEVICE void copy_run_by(const RunLaunch& launch, Number at) {
  const Runs& runs = launch.runs;
  const auto length = static_cast<Number>(runs.length / kWide);
  const auto columns = static_cast<Number>(runs.columns);
  const auto rows = static_cast<Number>(runs.rows);
  const std::size_t element = std::size_t{at % length} * kWide;
  at /= length;
  const std::size_t column = at % columns;
  at /= columns;
  const std::size_t row = at % rows;
  const std::size_t image = at / rows;
  const auto place = [&](const Runs::Place& of) {
    return of.first + image * of.image + row * of.row + column * of.column + element;
  };
  float numbers[kWide];
  read_numbers<kWide>(launch.from, place(runs.from), numbers);
  put_numbers<kWide>(launch.to, place(runs.to), numbers);
}

/// Element `at` of all runs, or kQuad of them from there on, which all runs are made of.
template <std::uint32_t kWide = 1>
STERNA_DEVICE void copy_run(const RunLaunch& launch, std::size_t at) {
  if (launch.runs.elements() >> 32U == 0) {
    return copy_run_by<kWide>(launch, static_cast<std::uint32_t>(at));
  }
  copy_run_by<kWide>(launch, at);
}

/// Byte i of all images.
STERNA_DEVICE void pixel_element(const PixelLaunch& launch, std::size_t i) {
  const float* levels = launch.levels + i / launch.image * 2 * launch.channels;
  const std::size_t channel = i % launch.image % launch.channels;
  const float value = static_cast<float>(launch.pixels[i]) / 255.0F;
  put_number(launch.out, i, (value - levels[channel]) * levels[launch.channels + channel]);
}

/// One row's gradient, and what it adds to the loss. A lane has each 32nd class.
template <class Warp>
STERNA_DEVICE void loss_row(const Warp& warp, const LossLaunch& launch, std::size_t row) {
  const std::size_t first = row * launch.classes;
  const auto logit = [&](std::size_t k) { return number_at(launch.logits, first + k); };
  const double share = launch.weight / static_cast<double>(launch.rows);
  const double even = launch.smoothing / static_cast<double>(launch.classes);
  const std::size_t label = launch.labels[row];
  typename Warp::template Each<float> largest;
  typename Warp::template Each<double> sum;
  typename Warp::template Each<double> all;
  warp.each([&](std::uint32_t lane) {
    float own = lane < launch.classes ? logit(lane) : logit(0);
    for (std::size_t k = lane; k < launch.classes; k += kWarpLanes) {
      if (own < logit(k)) own = logit(k);
    }
    largest[lane] = own;
  });
  warp.each([&](std::uint32_t lane) {
    const float most = largest_lane<Warp>(largest);
    double exponentials = 0;
    double values = 0;
    for (std::size_t k = lane; k < launch.classes; k += kWarpLanes) {
      const double value = double{logit(k)} - double{most};
      exponentials += std::exp(value);
      values += value;
    }
    sum[lane] = exponentials;
    all[lane] = values;
  });
  warp.each([&](std::uint32_t lane) {
    const float most = largest_lane<Warp>(largest);
    double exponentials = 0;
    double values = 0;
    STERNA_UNROLL
    for (std::uint32_t l = 0; l < kWarpLanes; ++l) {
      exponentials += Warp::of_lane(sum, l);
      values += Warp::of_lane(all, l);
    }
    for (std::size_t k = lane; k < launch.classes; k += kWarpLanes) {
      const double target = k == label ? 1.0 - launch.smoothing + even : even;
      const double likely = std::exp(double{logit(k)} - double{most}) / exponentials;
      put_number(launch.gradient, first + k, static_cast<float>((likely - target) * share));
    }
    if (lane != 0) return;
    double lost =
        std::log(exponentials) - (1.0 - launch.smoothing) * (double{logit(label)} - double{most});
    if (even > 0) lost -= even * values;
    launch.lost[row] = lost;
  });
}

/// The sum of load(0) to load(count - 1) in their order. The lanes load together, so that loads are
/// under way while earlier numbers are added up.
template <class Warp, class Load>
STERNA_DEVICE double sum_of_all(const Warp& warp, std::size_t count, Load load) {
  constexpr std::size_t kTogether = 4;  // loads of a lane that are under way at once
  double total = 0;
  for (std::size_t first = 0; first < count; first += kTogether * kWarpLanes) {
    typename Warp::template Each<double> values[kTogether];
    warp.each([&](std::uint32_t lane) {
      STERNA_UNROLL
      for (std::size_t i = 0; i < kTogether; ++i) {
        const std::size_t at = first + i * kWarpLanes + lane;
        values[i][lane] = at < count ? load(at) : 0.0;  // which changes no sum but that of -0
      }
    });
    warp.each([&](std::uint32_t lane) {
      double sum = total;
      STERNA_UNROLL
      for (std::size_t i = 0; i < kTogether; ++i) {
        STERNA_UNROLL
        for (std::uint32_t l = 0; l < kWarpLanes; ++l) sum += Warp::of_lane(values[i], l);
      }
      if (lane + 1 == kWarpLanes || Warp::kLanesApart) total = sum;
    });
  }
  return total;
}

/// After all rows.
template <class Warp>
STERNA_DEVICE void mean_loss(const Warp& warp, const LossLaunch& launch) {
  const double sum =
      sum_of_all(warp, launch.rows, [&](std::size_t row) { return launch.lost[row]; });
  warp.each([&](std::uint32_t lane) {
    if (lane != 0) return;
    *launch.loss = static_cast<float>(sum * (launch.weight / static_cast<double>(launch.rows)));
  });
}

STERNA_DEVICE double error_of(const SquaredErrorLaunch& launch, std::size_t i) {
  return double{number_at(launch.values, i)} - double{launch.target};
}

STERNA_DEVICE void error_gradient(const SquaredErrorLaunch& launch, std::size_t i) {
  const double share = launch.weight / static_cast<double>(launch.count);
  put_number(launch.gradient, i, static_cast<float>(2 * error_of(launch, i) * share));
}

template <class Warp>
STERNA_DEVICE void mean_squared_error(const Warp& warp, const SquaredErrorLaunch& launch) {
  const double sum = sum_of_all(warp, launch.count, [&](std::size_t i) {
    const double error = error_of(launch, i);
    return error * error;
  });
  warp.each([&](std::uint32_t lane) {
    if (lane != 0) return;
    *launch.loss = static_cast<float>(sum * (launch.weight / static_cast<double>(launch.count)));
  });
}

/// After all blocks.
template <class Warp>
STERNA_DEVICE void add_decayed(const Warp& warp, const DecayLaunch& launch) {
  const double sum = sum_of_all(warp, square_blocks(launch.count),
                                [&](std::size_t i) { return launch.blocks[i]; });
  warp.each([&](std::uint32_t lane) {
    if (lane == 0) *launch.total += sum;
  });
}

/// After all blocks.
template <class Warp>
STERNA_DEVICE void add_squares(const Warp& warp, const SquaresLaunch& launch) {
  const double sum = sum_of_all(warp, square_blocks(launch.count),
                                [&](std::size_t i) { return launch.blocks[i]; });
  warp.each([&](std::uint32_t lane) {
    if (lane == 0) *launch.sum = sum;
  });
}

}  // namespace sterna::kernels
