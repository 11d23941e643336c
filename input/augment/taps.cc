#include "input/augment/taps.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>

namespace sterna::input {

namespace {

/// The taps of one new pixel: weights[t] is source pixel first + t's, which may lie outside.
struct Pixel {
  std::int64_t first = 0;
  std::vector<double> weights;
};

/// Keys' kernel with TF1's a, at a distance of 0 to 1 and of 1 to 2 pixels.
double cubic_near(double x) { return ((-0.75 + 2) * x - (-0.75 + 3)) * x * x + 1; }
double cubic_far(double x) { return ((-0.75 * x + 3.75) * x - 6) * x + 3; }

/// Around x * from / to, as a whole and a rest in exact integers.
void neighbours(Filter filter, const Axis& axis, std::uint64_t x, Pixel& pixel) {
  const std::uint64_t position = x * axis.from;
  const auto whole = static_cast<std::int64_t>(position / axis.to);
  const double rest = static_cast<double>(position % axis.to) / axis.to;
  if (filter == Filter::nearest) {
    pixel.first = whole;
    pixel.weights = {1};
  } else if (filter == Filter::bilinear) {
    pixel.first = whole;
    pixel.weights = {1 - rest, rest};
  } else {
    const double near = std::nearbyint(rest * 1024) / 1024;
    pixel.first = whole - 1;
    pixel.weights = {cubic_far(1 + near), cubic_near(near), cubic_near(1 - near),
                     cubic_far(2 - near)};
  }
}

/// New pixel x covers [x * from, (x + 1) * from), source pixel i [i * to, (i + 1) * to).
void covered(const Axis& axis, std::uint64_t x, Pixel& pixel) {
  const std::uint64_t begin = x * axis.from;
  const std::uint64_t end = begin + axis.from;
  pixel.first = static_cast<std::int64_t>(begin / axis.to);
  pixel.weights.clear();
  for (std::uint64_t i = begin / axis.to; i * axis.to < end; ++i) {
    const std::uint64_t shared = std::min(end, (i + 1) * axis.to) - std::max(begin, i * axis.to);
    pixel.weights.push_back(static_cast<double>(shared) / axis.from);
  }
}

void triangle(const Axis& axis, std::uint64_t x, Pixel& pixel) {
  const double step = static_cast<double>(axis.from) / axis.to;
  const double reach = std::max(step, 1.0);
  const double center = (static_cast<double>(x) + 0.5) * step;
  const double begin = std::max(std::floor(center - reach + 0.5), 0.0);
  const double end = std::min(std::floor(center + reach + 0.5), static_cast<double>(axis.from));
  pixel.first = static_cast<std::int64_t>(begin);
  pixel.weights.clear();
  double sum = 0;
  for (double i = begin; i < end; ++i) {
    pixel.weights.push_back(std::max(1 - std::abs((i + 0.5 - center) / reach), 0.0));
    sum += pixel.weights.back();
  }
  for (double& weight : pixel.weights) weight /= sum;
}

void make_pixel(Filter filter, const Axis& axis, std::uint64_t x, Pixel& pixel) {
  if (filter == Filter::area) {
    covered(axis, x, pixel);
  } else if (filter == Filter::triangle) {
    triangle(axis, x, pixel);
  } else {
    neighbours(filter, axis, x, pixel);
  }
}

std::uint32_t inside(std::int64_t position, std::uint32_t from) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(position, 0, from - 1));
}

}  // namespace

Taps make_taps(Filter filter, const Axis& axis) {
  assert(axis.from > 0 && axis.count > 0 && axis.first + axis.count <= axis.to);
  Taps taps;
  taps.begin = axis.from;
  // Twice over the pixels: the weights of all of them would take thrice the memory of the taps.
  Pixel pixel;
  for (std::uint32_t i = 0; i < axis.count; ++i) {
    make_pixel(filter, axis, std::uint64_t{axis.first} + i, pixel);
    const std::int64_t last = pixel.first + static_cast<std::int64_t>(pixel.weights.size()) - 1;
    const std::uint32_t from = inside(pixel.first, axis.from);
    const std::uint32_t to = inside(last, axis.from);
    taps.begin = std::min(taps.begin, from);
    taps.end = std::max(taps.end, to + 1);
    taps.width = std::max(taps.width, to - from + 1);
  }
  taps.starts.resize(axis.count);
  taps.weights.resize(std::size_t{axis.count} * taps.width);
  std::vector<double> folded(taps.width);
  for (std::uint32_t i = 0; i < axis.count; ++i) {
    make_pixel(filter, axis, std::uint64_t{axis.first} + i, pixel);
    const std::uint32_t start = std::min(inside(pixel.first, axis.from), taps.end - taps.width);
    std::ranges::fill(folded, 0.0);
    for (std::size_t t = 0; t < pixel.weights.size(); ++t) {
      const std::int64_t position = pixel.first + static_cast<std::int64_t>(t);
      folded[inside(position, axis.from) - start] += pixel.weights[t];
    }
    taps.starts[i] = start - taps.begin;
    std::ranges::transform(folded, taps.weights.begin() + std::ptrdiff_t{i} * taps.width,
                           [](double weight) { return static_cast<float>(weight); });
  }
  return taps;
}

void reverse(Taps& taps) {
  std::ranges::reverse(taps.starts);
  std::ranges::reverse(taps.weights);  // of each pixel, too
  for (std::size_t i = 0; i < taps.starts.size(); ++i) {
    const auto first = taps.weights.begin() + static_cast<std::ptrdiff_t>(i * taps.width);
    std::reverse(first, first + taps.width);
  }
}

}  // namespace sterna::input
