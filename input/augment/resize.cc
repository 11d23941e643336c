#include "input/augment/resize.h"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <vector>

#include "input/augment/resize_rows.h"

namespace sterna::input {

namespace {

void start_plainly(const TwoRows& rows, std::size_t count, float* out) {
  start_rows(rows, count, out);
}
void add_plainly(const TwoRows& rows, std::size_t count, float* out) { add_rows(rows, count, out); }
void round_plainly(const float* values, std::size_t count, std::uint8_t* out) {
  round_values(values, count, out);
}

/// Row y of the new picture, as wide as `part` still.
void weigh_rows(const Picture& part, const Taps& taps, std::size_t y, const RowKernels& kernels,
                float* out) {
  const std::size_t stride = std::size_t{part.shape.columns} * part.shape.channels;
  const std::uint8_t* row = part.pixels.data() + taps.starts[y] * stride;
  const float* weights = &taps.weights[y * taps.width];
  for (std::uint32_t t = 0; t < taps.width; t += 2) {
    const bool pair = t + 1 < taps.width;
    const std::uint8_t* upper = row + t * stride;
    const TwoRows rows{upper, pair ? upper + stride : upper, weights[t],
                       pair ? weights[t + 1] : 0.0F};
    (t == 0 ? kernels.start : kernels.add)(rows, stride, out);
  }
}

/// A pixel of three channels and one number beside it: SSE's and NEON's width, in plain C++.
using Pixel4 = float __attribute__((vector_size(16)));

Pixel4 load_pixel(const float* values) {
  Pixel4 pixel;
  std::memcpy(&pixel, values, sizeof pixel);
  return pixel;
}

/// With so many taps, or as many as there are (0). Reads one number beyond the row, writes one
/// beyond `out`.
template <std::uint32_t Width>
void weigh_colours(const float* row, const Taps& taps, float* out) {
  const std::uint32_t width = Width == 0 ? taps.width : Width;
  const float* weight = taps.weights.data();
  for (const std::uint32_t start : taps.starts) {
    const float* from = row + std::size_t{start} * 3;
    Pixel4 sum = load_pixel(from) * weight[0];
    for (std::uint32_t t = 1; t < width; ++t) {
      sum += load_pixel(from + std::size_t{t} * 3) * weight[t];
    }
    std::memcpy(out, &sum, sizeof sum);
    weight += width;
    out += 3;
  }
}

/// Unrolled for up to seven taps, the triangle's down to a third: half their time.
auto weigh_colours_of(std::uint32_t width) {
  constexpr std::array kUnrolled{weigh_colours<0>, weigh_colours<1>, weigh_colours<2>,
                                 weigh_colours<3>, weigh_colours<4>, weigh_colours<5>,
                                 weigh_colours<6>, weigh_colours<7>};
  return kUnrolled[width < kUnrolled.size() ? width : 0];
}

void weigh_grey(const float* row, const Taps& taps, float* out) {
  const float* weight = taps.weights.data();
  for (const std::uint32_t start : taps.starts) {
    float sum = row[start] * weight[0];
    for (std::uint32_t t = 1; t < taps.width; ++t) sum += row[start + t] * weight[t];
    *out++ = sum;
    weight += taps.width;
  }
}

}  // namespace

extern constexpr RowKernels kRowKernels{start_plainly, add_plainly, round_plainly};

void resize(const Picture& part, const Taps& rows, const Taps& columns,
            std::span<std::uint8_t> pixels, kernels::Isa isa) {
  const std::size_t channels = part.shape.channels;
  assert(part.shape.rows == rows.end - rows.begin);
  assert(part.shape.columns == columns.end - columns.begin);
  assert(pixels.size() == rows.starts.size() * columns.starts.size() * channels);
  const RowKernels& kernels = isa == kernels::Isa::scalar ? kRowKernels : kRowKernelsAvx2;
  const std::size_t stride = columns.starts.size() * channels;
  const auto along = channels == 3 ? weigh_colours_of(columns.width) : weigh_grey;
  std::vector<float> wide(part.shape.columns * channels + 1);
  std::vector<float> narrow(stride + 1);
  for (std::size_t y = 0; y < rows.starts.size(); ++y) {
    weigh_rows(part, rows, y, kernels, wide.data());
    along(wide.data(), columns, narrow.data());
    kernels.round(narrow.data(), stride, &pixels[y * stride]);
  }
}

}  // namespace sterna::input
