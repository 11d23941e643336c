// The arithmetic of windows over images (layer_launch.h), written once for nvcc and for the host's
// compiler: what one thread of a device does.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa/warp.h"
#include "kernels/layers/layer_launch.h"
#include "kernels/layers/rounding_device.h"

namespace sterna::kernels {

/// Elements of what a pass writes.
STERNA_DEVICE std::size_t window_elements(const WindowLaunch& launch) {
  const Windows& w = launch.windows;
  const std::size_t outputs = std::size_t{w.images} * w.out_rows * w.out_columns * w.channels;
  switch (launch.pass) {
    case WindowPass::unfold:
      return outputs * w.kernel_rows * w.kernel_columns;
    case WindowPass::maximum:
    case WindowPass::mean:
      return outputs;
    case WindowPass::fold:
    case WindowPass::maximum_back:
    case WindowPass::mean_back:
      break;
  }
  return std::size_t{w.images} * w.rows * w.columns * w.channels;
}

/// A place in images or windows that lie channels last.
struct Place {
  std::uint32_t image;
  std::uint32_t row;
  std::uint32_t column;
  std::uint32_t channel;
};

/// `Number` is what i fits into: a device divides short ones several times as fast.
template <class Number>
STERNA_DEVICE Place place_by(Number i, std::uint32_t rows, std::uint32_t columns,
                             std::uint32_t channels) {
  Place at{};
  at.channel = static_cast<std::uint32_t>(i % channels);
  i /= channels;
  at.column = static_cast<std::uint32_t>(i % columns);
  i /= columns;
  at.row = static_cast<std::uint32_t>(i % rows);
  at.image = static_cast<std::uint32_t>(i / rows);
  return at;
}

STERNA_DEVICE Place place_of(std::size_t i, std::uint32_t rows, std::uint32_t columns,
                             std::uint32_t channels) {
  if (i >> 32U == 0) return place_by(static_cast<std::uint32_t>(i), rows, columns, channels);
  return place_by(i, rows, columns, channels);
}

/// The element of an image under pixel (i, j) of a window; where that is padding, no element.
STERNA_DEVICE bool under_window(const Windows& w, const Place& window, std::uint32_t i,
                                std::uint32_t j, std::size_t& element) {
  const std::uint32_t row = window.row * w.stride + i - w.rows_before;  // wraps above the image
  const std::uint32_t column = window.column * w.stride + j - w.columns_before;
  if (row >= w.rows || column >= w.columns) return false;
  element = ((std::size_t{window.image} * w.rows + row) * w.columns + column) * w.channels +
            window.channel;
  return true;
}

/// The windows, in one direction, that cover a pixel: [first, end). `at` counts the padding.
struct Covering {
  std::uint32_t first;
  std::uint32_t end;
};
STERNA_DEVICE Covering covering(std::uint32_t at, std::uint32_t kernel, std::uint32_t stride,
                                std::uint32_t windows) {
  const std::uint32_t end = at / stride + 1;
  return {at < kernel ? 0 : (at - kernel) / stride + 1, end < windows ? end : windows};
}

/// A window over a pixel of an image: its output element, its row and column among the windows, and
/// which of its pixels that is.
struct Over {
  std::size_t output;
  std::uint32_t row;
  std::uint32_t column;
  std::uint32_t i;
  std::uint32_t j;
};

/// Calls visit(Over) for each window over a pixel, in the order of the windows.
template <class Visit>
STERNA_DEVICE void for_windows_over(const Windows& w, const Place& pixel, Visit visit) {
  const std::uint32_t row = pixel.row + w.rows_before;
  const std::uint32_t column = pixel.column + w.columns_before;
  const Covering down = covering(row, w.kernel_rows, w.stride, w.out_rows);
  const Covering across = covering(column, w.kernel_columns, w.stride, w.out_columns);
  for (std::uint32_t r = down.first; r < down.end; ++r) {
    for (std::uint32_t s = across.first; s < across.end; ++s) {
      const std::size_t window = (std::size_t{pixel.image} * w.out_rows + r) * w.out_columns + s;
      visit(Over{window * w.channels + pixel.channel, r, s, row - r * w.stride,
                 column - s * w.stride});
    }
  }
}

/// How many of a window's pixels, from pixel `first` of its image on, are no padding; `first`
/// counts the padding.
STERNA_DEVICE std::uint32_t pixels_of(std::uint32_t first, std::uint32_t kernel,
                                      std::uint32_t before, std::uint32_t extent) {
  const std::uint32_t begin = first > before ? first : before;
  const std::uint32_t end = first + kernel < before + extent ? first + kernel : before + extent;
  return end - begin;
}

/// Of how many pixels a window's mean is.
STERNA_DEVICE float pixels_of_mean(const WindowLaunch& launch, std::uint32_t row,
                                   std::uint32_t column) {
  const Windows& w = launch.windows;
  const std::uint32_t pixels =
      launch.counts_padding
          ? w.kernel_rows * w.kernel_columns
          : pixels_of(row * w.stride, w.kernel_rows, w.rows_before, w.rows) *
                pixels_of(column * w.stride, w.kernel_columns, w.columns_before, w.columns);
  return static_cast<float>(pixels);
}

/// Pixel (image, row, column) of what a pass writes, in channels c, c + `step`, ...: so many at
/// once, all of which have the same windows.
template <std::uint32_t kChannels>
STERNA_DEVICE void window_channels(const WindowLaunch& launch, std::size_t at) {
  const Windows& w = launch.windows;
  const std::uint32_t kernel = w.kernel_rows * w.kernel_columns;
  const std::uint32_t step = w.channels / kChannels;
  const bool of_windows = launch.pass == WindowPass::maximum || launch.pass == WindowPass::mean;
  const Place place = of_windows ? place_of(at, w.out_rows, w.out_columns, step)
                                 : place_of(at, w.rows, w.columns, step);
  const std::size_t pixel = at / step * w.channels + place.channel;  // where it is written
  float made[kChannels] = {};
  std::uint32_t winners[kChannels];
  switch (launch.pass) {
    case WindowPass::unfold:
      return;  // is made of single elements
    case WindowPass::fold:
      for_windows_over(w, place, [&](const Over& window) {
        const std::size_t part =
            window.output * kernel + std::size_t{window.i} * w.kernel_columns + window.j;
        STERNA_UNROLL
        for (std::size_t c = 0; c < kChannels; ++c) {
          made[c] += number_at(launch.from, part + c * step * kernel);
        }
      });
      break;
    case WindowPass::maximum: {
      STERNA_UNROLL
      for (std::size_t c = 0; c < kChannels; ++c) winners[c] = kernel;
      std::uint32_t part = 0;
      for (std::uint32_t i = 0; i < w.kernel_rows; ++i) {
        for (std::uint32_t j = 0; j < w.kernel_columns; ++j, ++part) {
          std::size_t element = 0;
          if (!under_window(w, place, i, j, element)) continue;
          STERNA_UNROLL
          for (std::size_t c = 0; c < kChannels; ++c) {
            const float value = number_at(launch.from, element + c * step);
            const bool wins = value > made[c] || value != value;  // a NaN, or nobody sees it
            if (winners[c] != kernel && !wins) continue;
            made[c] = value;
            winners[c] = part;
          }
        }
      }
      if (launch.winners == nullptr) break;
      STERNA_UNROLL
      for (std::size_t c = 0; c < kChannels; ++c) launch.winners[pixel + c * step] = winners[c];
      break;
    }
    case WindowPass::maximum_back:
      for_windows_over(w, place, [&](const Over& window) {
        const std::uint32_t part = window.i * w.kernel_columns + window.j;
        STERNA_UNROLL
        for (std::size_t c = 0; c < kChannels; ++c) {
          if (launch.winners[window.output + c * step] == part) {
            made[c] += number_at(launch.from, window.output + c * step);
          }
        }
      });
      break;
    case WindowPass::mean: {
      for (std::uint32_t i = 0; i < w.kernel_rows; ++i) {
        for (std::uint32_t j = 0; j < w.kernel_columns; ++j) {
          std::size_t element = 0;
          if (!under_window(w, place, i, j, element)) continue;
          STERNA_UNROLL
          for (std::size_t c = 0; c < kChannels; ++c) {
            made[c] += number_at(launch.from, element + c * step);
          }
        }
      }
      const float pixels = pixels_of_mean(launch, place.row, place.column);
      STERNA_UNROLL
      for (std::size_t c = 0; c < kChannels; ++c) made[c] /= pixels;
      break;
    }
    case WindowPass::mean_back:
      for_windows_over(w, place, [&](const Over& window) {
        const float pixels = pixels_of_mean(launch, window.row, window.column);
        STERNA_UNROLL
        for (std::size_t c = 0; c < kChannels; ++c) {
          made[c] += number_at(launch.from, window.output + c * step) / pixels;
        }
      });
      break;
  }
  STERNA_UNROLL
  for (std::size_t c = 0; c < kChannels; ++c) put_number(launch.to, pixel + c * step, made[c]);
}

/// Element `at` of all windows' pixels.
STERNA_DEVICE void unfold_element(const WindowLaunch& launch, std::size_t at) {
  const Windows& w = launch.windows;
  const std::uint32_t kernel = w.kernel_rows * w.kernel_columns;
  const std::size_t pixel = at / kernel;
  const auto part = static_cast<std::uint32_t>(at - pixel * kernel);
  const Place window = place_of(pixel, w.out_rows, w.out_columns, w.channels);
  std::size_t element = 0;
  const bool there =
      under_window(w, window, part / w.kernel_columns, part % w.kernel_columns, element);
  put_number(launch.to, at, there ? number_at(launch.from, element) : 0);
}

STERNA_DEVICE void window_element(const WindowLaunch& launch, std::size_t at) {
  if (launch.pass == WindowPass::unfold) return unfold_element(launch, at);
  window_channels<1>(launch, at);
}

/// Element `at` of what is read.
STERNA_DEVICE void transpose_element(const TransposeLaunch& launch, std::size_t at) {
  const std::size_t size = launch.rows * launch.columns;
  const std::size_t i = at % size / launch.columns;
  const std::size_t j = at % launch.columns;
  put_number(launch.to, at - at % size + j * launch.rows + i, number_at(launch.from, at));
}

}  // namespace sterna::kernels
