#include "layer_case.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/random/dropout.h"
#include "same_bits.h"
#include "tests/kernels/gradients.h"
#include "there.h"

namespace sterna::kernels {
namespace {

/// A product of that depth, whose rows lie apart from each other.
Result<void> products_of(There& there, std::size_t depth) {
  constexpr std::size_t kRows = 5, kColumns = 67, kOutRow = 70;
  const Floats a = gaussian(kRows * depth, 1, 1), b = gaussian(depth * kColumns, 1, 2);
  const Floats bias = gaussian(kColumns, 1, 3);
  STERNA_ASSIGN(const auto a_there, there.bring(a));
  STERNA_ASSIGN(const auto b_there, there.bring(b));
  STERNA_ASSIGN(const auto bias_there, there.bring(bias));
  for (const bool turned : {false, true}) {  // b lies column by column
    const std::size_t out_row = turned ? kColumns : kOutRow;
    Floats expected(kRows * out_row, 7);
    STERNA_ASSIGN(const auto out, there.bring(expected));
    const MatrixView second =
        turned ? MatrixView{b_there.data(), 1, depth} : MatrixView{b_there.data(), kColumns, 1};
    STERNA_TRY(there.run(ProductLaunch{.a = {a_there.data(), depth, 1},
                                       .b = second,
                                       .bias = turned ? nullptr : bias_there.data(),
                                       .out = out.data(),
                                       .rows = kRows,
                                       .columns = kColumns,
                                       .depth = depth,
                                       .out_row = turned ? 0 : kOutRow}));
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t j = 0; j < kColumns; ++j) {
        float total = 0;
        for (std::size_t first = 0; first < depth; first += 512) {
          float sum = 0;
          for (std::size_t k = first; k < std::min(depth, first + 512); ++k) {
            const float product = a[i * depth + k] * b[turned ? j * depth + k : k * kColumns + j];
            sum += product;
          }
          total += sum;
        }
        expected[i * out_row + j] = turned ? total : total + bias[j];
      }
    }
    STERNA_ASSIGN(const Floats found, there.fetch(out));
    STERNA_TRY(same_floats(found, expected, "a product"));
  }
  return {};
}

Result<void> products(There& there) {
  for (const std::size_t depth : {19UL, 512UL, 1030UL}) STERNA_TRY(products_of(there, depth));
  return {};
}

Result<void> elements(There& there) {
  using enum ElementPass;
  const Floats a = gaussian(1001, 1, 4), b = gaussian(1001, 1, 5);
  STERNA_ASSIGN(const auto a_there, there.bring(a));
  STERNA_ASSIGN(const auto b_there, there.bring(b));
  constexpr float kFactor = 0.3F;
  for (const ElementPass pass : {clear, add, add_and_rectify, add_gated, subtract, scale, divide,
                                 move, relu, relu_gradient}) {
    STERNA_ASSIGN(const auto out, there.bring(Floats(a.size(), 7)));
    STERNA_TRY(there.run(
        ElementLaunch{pass, a_there.data(), b_there.data(), out.data(), a.size(), kFactor}));
    Floats expected;
    for (std::size_t i = 0; i < a.size(); ++i) {
      expected.push_back(pass == clear             ? 0
                         : pass == add             ? a[i] + b[i]
                         : pass == add_and_rectify ? std::max(a[i] + b[i], 0.0F)
                         : pass == add_gated       ? (a[i] > 0 ? 7 + b[i] : 0)
                         : pass == subtract        ? a[i] - b[i]
                         : pass == scale           ? a[i] * kFactor
                         : pass == divide          ? a[i] / kFactor
                         : pass == move            ? a[i] - kFactor * (a[i] - b[i])
                         : pass == relu            ? std::max(a[i], 0.0F)
                         : a[i] > 0                ? b[i]
                                                   : 0);
    }
    STERNA_ASSIGN(const Floats found, there.fetch(out));
    STERNA_TRY(same_floats(found, expected, "pass " + std::to_string(static_cast<int>(pass))));
  }
  return {};
}

/// Of what is no number a sum's relu makes none.
Result<void> sums_of_nan(There& there) {
  const Floats a{std::numeric_limits<float>::quiet_NaN(), -1}, b{1, 0.5F};
  STERNA_ASSIGN(const auto a_there, there.bring(a));
  STERNA_ASSIGN(const auto b_there, there.bring(b));
  STERNA_TRY(there.run(ElementLaunch{.pass = ElementPass::add_and_rectify,
                                     .a = a_there.data(),
                                     .b = b_there.data(),
                                     .out = b_there.data(),
                                     .count = a.size()}));
  STERNA_ASSIGN(const Floats found, there.fetch(b_there));
  if (std::isnan(found[0]) && found[1] == 0) return {};
  return Error{Errc::internal,
               fmt::format("a rectified sum of NaN is {}, of -0.5 {}", found[0], found[1])};
}

Result<void> squares(There& there) {
  for (const std::size_t count : {1UL, 17UL, 4096UL, 4097UL, 70'001UL}) {
    const Floats values = gaussian(count, 0.3F, 40 + count);
    STERNA_ASSIGN(const auto values_there, there.bring(values));
    STERNA_ASSIGN(const auto blocks, there.bring(std::vector<double>(square_blocks(count))));
    STERNA_ASSIGN(const auto sum, there.bring(std::vector<double>(1)));
    STERNA_TRY(there.run(SquaresLaunch{values_there.data(), blocks.data(), sum.data(), count}));
    STERNA_ASSIGN(const auto found, there.fetch(sum));
    const double expected = sum_of_squares(values);
    if (found.front() == expected) continue;
    return Error{Errc::internal, fmt::format("the squares of {} elements are {}, not {}", count,
                                             found.front(), expected)};
  }
  return {};
}

Result<void> sigmoids(There& there) {
  const Floats a = gaussian(700, 3, 15), b = gaussian(700, 1, 16);
  STERNA_ASSIGN(const auto y, there.bring(a));
  STERNA_ASSIGN(const auto dy, there.bring(b));
  const std::size_t count = a.size();
  STERNA_TRY(there.run(ElementLaunch{ElementPass::sigmoid, y.data(), nullptr, y.data(), count}));
  STERNA_TRY(there.run(
      ElementLaunch{ElementPass::sigmoid_gradient, y.data(), dy.data(), dy.data(), count}));
  STERNA_ASSIGN(const Floats found, there.fetch(y));
  STERNA_ASSIGN(const Floats gradient, there.fetch(dy));
  for (std::size_t i = 0; i < count; ++i) {
    const double expected = 1 / (1 + std::exp(-double{a[i]}));
    const double by_a = double{b[i]} * expected * (1 - expected);
    if (std::abs(double{found[i]} - expected) < 1e-6 &&
        std::abs(double{gradient[i]} - by_a) < 1e-6) {
      continue;
    }
    return Error{Errc::internal, fmt::format("the sigmoid of {} is {}, its gradient of {} {}", a[i],
                                             found[i], b[i], gradient[i])};
  }
  return {};
}

Result<void> dropouts(There& there) {
  for (const std::uint64_t first : {0UL, 512UL, 700UL, 1023UL}) {
    for (const std::size_t count : {1UL, 513UL, 3000UL}) {
      const Floats x = gaussian(count, 1, 17);
      const DropoutDraw draw{
          .seed = 0x1234567890, .step = 5, .rank = 3, .layer = 2, .first = first};
      constexpr float kKeep = 0.6F;
      Floats expected(count);
      dropout(x, kKeep, draw, expected);
      STERNA_ASSIGN(const auto there_x, there.bring(x));
      STERNA_ASSIGN(const auto there_draw, there.bring(std::vector{draw}));
      STERNA_TRY(there.run(DropoutLaunch{.x = there_x.data(),
                                         .out = there_x.data(),
                                         .count = count,
                                         .draw = there_draw.data(),
                                         .limit = dropout_limit(kKeep),
                                         .factor = 1 / kKeep}));
      STERNA_ASSIGN(const Floats found, there.fetch(there_x));
      STERNA_TRY(same_floats(found, expected, "what dropout keeps"));
    }
  }
  return {};
}

Result<void> runs(There& there) {
  const Runs what{.images = 2,
                  .rows = 3,
                  .columns = 4,
                  .length = 5,
                  .from = {.first = 2, .image = 100, .row = 30, .column = 6},
                  .to = {.first = 1, .image = 70, .row = 21, .column = 5}};
  const Floats x = gaussian(200, 1, 18);
  Floats expected(200, 7);
  for (std::size_t i = 0; i < what.elements(); ++i) {
    const std::size_t element = i % 5, column = i / 5 % 4, row = i / 20 % 3, image = i / 60;
    expected[1 + image * 70 + row * 21 + column * 5 + element] =
        x[2 + image * 100 + row * 30 + column * 6 + element];
  }
  STERNA_ASSIGN(const auto from, there.bring(x));
  STERNA_ASSIGN(const auto to, there.bring(Floats(200, 7)));
  STERNA_TRY(there.run(RunLaunch{from.data(), to.data(), what}));
  STERNA_ASSIGN(const Floats found, there.fetch(to));
  return same_floats(found, expected, "runs");
}

Result<void> pixels(There& there) {
  constexpr std::size_t kChannels = 3, kImage = 15 * kChannels, kImages = 7;
  std::vector<std::uint8_t> bytes(kImage * kImages);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 37);
  const Floats levels = gaussian(2 * kChannels * kImages, 1, 6);
  STERNA_ASSIGN(const auto bytes_there, there.bring(bytes));
  STERNA_ASSIGN(const auto levels_there, there.bring(levels));
  STERNA_ASSIGN(const auto out, there.bring(Floats(bytes.size())));
  STERNA_TRY(there.run(PixelLaunch{bytes_there.data(), levels_there.data(), out.data(), kImage,
                                   kChannels, kImages}));
  Floats expected;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const float* of_image = levels.data() + i / kImage * 2 * kChannels;
    const float centred = static_cast<float>(bytes[i]) / 255.0F - of_image[i % kChannels];
    expected.push_back(centred * of_image[kChannels + i % kChannels]);
  }
  STERNA_ASSIGN(const Floats found, there.fetch(out));
  return same_floats(found, expected, "pixels");
}

Result<void> loss(There& there) {
  constexpr std::size_t kRows = 9, kClasses = 11;
  const Floats logits = gaussian(kRows * kClasses, 3, 7);
  const std::vector<std::uint16_t> labels{0, 10, 3, 3, 5, 1, 2, 9, 8};
  STERNA_ASSIGN(const auto logits_there, there.bring(logits));
  STERNA_ASSIGN(const auto labels_there, there.bring(labels));
  for (const double smoothing : {0.0, 0.1}) {
    STERNA_ASSIGN(const auto gradient, there.bring(Floats(logits.size())));
    STERNA_ASSIGN(const auto lost, there.bring(std::vector<double>(kRows)));
    STERNA_ASSIGN(const auto mean, there.bring(Floats(1)));
    constexpr double kWeight = 0.4;
    STERNA_TRY(
        there.run(LossLaunch{logits_there.data(), labels_there.data(), gradient.data(), lost.data(),
                             mean.data(), kRows, kClasses, smoothing, kWeight}));
    STERNA_ASSIGN(const Floats found, there.fetch(gradient));
    STERNA_ASSIGN(const Floats found_mean, there.fetch(mean));
    double expected_mean = 0;
    double furthest = 0;
    for (std::size_t row = 0; row < kRows; ++row) {
      double sum = 0;
      for (std::size_t k = 0; k < kClasses; ++k)
        sum += std::exp(double{logits[row * kClasses + k]});
      for (std::size_t k = 0; k < kClasses; ++k) {
        const double p = std::exp(double{logits[row * kClasses + k]}) / sum;
        const double target =
            (k == labels[row] ? 1 - smoothing : 0.0) + smoothing / double{kClasses};
        expected_mean -= kWeight / double{kRows} * target * std::log(p);
        const double expected = kWeight / double{kRows} * (p - target);
        furthest = std::max(furthest, std::abs(double{found[row * kClasses + k]} - expected));
      }
    }
    const double off = std::abs(double{found_mean.front()} - expected_mean);
    if (furthest < 1e-8 && off < 1e-6) continue;
    return Error{Errc::internal,
                 fmt::format("the loss is off by {}, a gradient by {}", off, furthest)};
  }
  return {};
}

Result<void> squared_errors(There& there) {
  for (const std::size_t count : {1UL, 31UL, 128UL, 1001UL}) {
    const Floats values = gaussian(count, 40, 60 + count);
    STERNA_ASSIGN(const auto values_there, there.bring(values));
    STERNA_ASSIGN(const auto gradient, there.bring(Floats(count)));
    STERNA_ASSIGN(const auto mean, there.bring(Floats(1)));
    constexpr float kTarget = 99.9F;
    constexpr double kWeight = 0.4;
    STERNA_TRY(there.run(SquaredErrorLaunch{values_there.data(), gradient.data(), mean.data(),
                                            count, kTarget, kWeight}));
    const double share = kWeight / static_cast<double>(count);
    double sum = 0;
    Floats expected;
    for (const float value : values) {
      const double error = double{value} - double{kTarget};
      expected.push_back(static_cast<float>(2 * error * share));
      const double square = error * error;
      sum += square;
    }
    expected.push_back(static_cast<float>(sum * share));
    STERNA_ASSIGN(Floats found, there.fetch(gradient));
    STERNA_ASSIGN(const Floats found_mean, there.fetch(mean));
    found.push_back(found_mean.front());
    STERNA_TRY(same_floats(found, expected, "squared errors"));
  }
  return {};
}

Result<void> decay(There& there) {
  for (const std::size_t count : {1UL, 17UL, 4096UL, 9001UL}) {
    const Floats w = gaussian(count, 1, 8);
    Floats expected = gaussian(count, 1, 9);
    STERNA_ASSIGN(const auto w_there, there.bring(w));
    STERNA_ASSIGN(const auto gradient, there.bring(expected));
    STERNA_ASSIGN(const auto blocks, there.bring(std::vector<double>(square_blocks(count))));
    STERNA_ASSIGN(const auto total, there.bring(std::vector<double>{0.5}));
    constexpr float kDecay = 0.01F;
    STERNA_TRY(there.run(
        DecayLaunch{w_there.data(), gradient.data(), blocks.data(), total.data(), count, kDecay}));
    double sum = 0.5;
    double squared = 0;
    for (std::size_t first = 0; first < count; first += 4096) {
      Floats lanes(16);
      for (std::size_t i = first; i < std::min(count, first + 4096); ++i) {
        const float added = kDecay * w[i];
        expected[i] += added;
        const float square = w[i] * w[i];
        lanes[(i - first) % 16] += square;
      }
      double block = 0;
      for (const float lane : lanes) block += double{lane};
      squared += block;
    }
    sum += squared;
    STERNA_ASSIGN(const Floats found, there.fetch(gradient));
    STERNA_TRY(same_floats(found, expected, "a decayed gradient"));
    STERNA_ASSIGN(const std::vector<double> found_sum, there.fetch(total));
    STERNA_TRY(same_number(found_sum.front(), sum, "the sum of squares"));
  }
  return {};
}

struct Image {
  std::uint32_t images, rows, columns, channels;
  std::size_t size() const { return std::size_t{images} * rows * columns * channels; }
  std::size_t at(std::uint32_t n, std::uint32_t r, std::uint32_t s, std::uint32_t c) const {
    return ((std::size_t{n} * rows + r) * columns + s) * channels + c;
  }
};

/// Calls visit(output, its place among the images, i, j, pixel) of each pixel (i, j) of each window
/// that is no padding.
template <class Visit>
void for_windows(const Windows& w, Visit visit) {
  const Image x{w.images, w.rows, w.columns, w.channels};
  const Image y{w.images, w.out_rows, w.out_columns, w.channels};
  for (std::uint32_t n = 0; n < w.images; ++n) {
    for (std::uint32_t r = 0; r < w.out_rows; ++r) {
      for (std::uint32_t s = 0; s < w.out_columns; ++s) {
        for (std::uint32_t c = 0; c < w.channels; ++c) {
          for (std::uint32_t i = 0; i < w.kernel_rows; ++i) {
            for (std::uint32_t j = 0; j < w.kernel_columns; ++j) {
              const auto a = std::int64_t{r} * w.stride + i - w.rows_before;
              const auto b = std::int64_t{s} * w.stride + j - w.columns_before;
              if (a < 0 || b < 0 || a >= w.rows || b >= w.columns) continue;
              visit(y.at(n, r, s, c), i * w.kernel_columns + j,
                    x.at(n, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), c));
            }
          }
        }
      }
    }
  }
}

Result<void> windows_of(There& there, const Windows& w) {
  const std::size_t pixels = std::size_t{w.images} * w.rows * w.columns * w.channels;
  const std::size_t outputs = std::size_t{w.images} * w.out_rows * w.out_columns * w.channels;
  const std::size_t kernel = std::size_t{w.kernel_rows} * w.kernel_columns;
  const Floats x = gaussian(pixels, 1, 11), parts = gaussian(outputs * kernel, 1, 12);
  const Floats dy = gaussian(outputs, 1, 13);
  Floats unfolded(outputs * kernel), folded(pixels), largest(outputs, -1e30F), back(pixels);
  std::vector<std::size_t> winner(outputs);
  for_windows(w, [&](std::size_t output, std::size_t part, std::size_t pixel) {
    unfolded[output * kernel + part] = x[pixel];
    if (x[pixel] > largest[output]) {
      largest[output] = x[pixel];
      winner[output] = pixel;
    }
  });
  STERNA_ASSIGN(const auto x_there, there.bring(x));
  STERNA_ASSIGN(const auto parts_there, there.bring(parts));
  STERNA_ASSIGN(const auto dy_there, there.bring(dy));
  STERNA_ASSIGN(const auto winners, there.bring(std::vector<std::uint32_t>(outputs)));
  const auto run = [&](WindowPass pass, const float* from, std::size_t size) -> Result<Floats> {
    STERNA_ASSIGN(const auto to, there.bring(Floats(size, 7)));
    STERNA_TRY(there.run(WindowLaunch{pass, w, from, to.data(), winners.data()}));
    return there.fetch(to);
  };
  STERNA_ASSIGN(const Floats unfolded_there,
                run(WindowPass::unfold, x_there.data(), unfolded.size()));
  STERNA_TRY(same_floats(unfolded_there, unfolded, "windows laid side by side"));
  STERNA_ASSIGN(const Floats largest_there,
                run(WindowPass::maximum, x_there.data(), largest.size()));
  STERNA_TRY(same_floats(largest_there, largest, "windows' maxima"));
  std::vector<double> sums(pixels), back_sums(pixels);
  for_windows(w, [&](std::size_t output, std::size_t part, std::size_t pixel) {
    sums[pixel] += double{parts[output * kernel + part]};
    if (winner[output] == pixel) back_sums[pixel] += double{dy[output]};
  });
  STERNA_ASSIGN(const Floats folded_there, run(WindowPass::fold, parts_there.data(), pixels));
  STERNA_ASSIGN(const Floats back_there, run(WindowPass::maximum_back, dy_there.data(), pixels));
  for (std::size_t i = 0; i < pixels; ++i) {
    if (std::abs(double{folded_there[i]} - sums[i]) < 1e-5 &&
        std::abs(double{back_there[i]} - back_sums[i]) < 1e-5) {
      continue;
    }
    return Error{Errc::internal,
                 fmt::format("pixel {} of {} gets {} and {} of its windows, not {} "
                             "and {}",
                             i, pixels, folded_there[i], back_there[i], sums[i], back_sums[i])};
  }
  return {};
}

/// The means of windows, and what of their gradients a pixel gets.
Result<void> means_of(There& there, const Windows& w, bool counts_padding) {
  const std::size_t pixels = std::size_t{w.images} * w.rows * w.columns * w.channels;
  const std::size_t outputs = std::size_t{w.images} * w.out_rows * w.out_columns * w.channels;
  const Floats x = gaussian(pixels, 1, 19), dy = gaussian(outputs, 1, 20);
  std::vector<double> count(outputs), mean(outputs), back(pixels);
  for_windows(w, [&](std::size_t output, std::size_t, std::size_t) { ++count[output]; });
  const auto kernel = static_cast<double>(w.kernel_rows * w.kernel_columns);
  for (double& one : count) one = counts_padding ? kernel : one;
  for_windows(w, [&](std::size_t output, std::size_t, std::size_t pixel) {
    mean[output] += double{x[pixel]} / count[output];
    back[pixel] += double{dy[output]} / count[output];
  });
  const auto holds = [&](WindowPass pass, const Floats& from,
                         const std::vector<double>& expected) -> Result<void> {
    STERNA_ASSIGN(const auto from_there, there.bring(from));
    STERNA_ASSIGN(const auto to, there.bring(Floats(expected.size(), 7)));
    STERNA_TRY(
        there.run(WindowLaunch{pass, w, from_there.data(), to.data(), nullptr, counts_padding}));
    STERNA_ASSIGN(const Floats found, there.fetch(to));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (std::abs(double{found[i]} - expected[i]) < 1e-5) continue;
      return Error{Errc::internal, fmt::format("pass {} over windows: element {} is {}, not {}",
                                               static_cast<int>(pass), i, found[i], expected[i])};
    }
    return {};
  };
  STERNA_TRY(holds(WindowPass::mean, x, mean));
  return holds(WindowPass::mean_back, dy, back);
}

Result<void> windows(There& there) {
  for (const bool counts_padding : {false, true}) {
    STERNA_TRY(means_of(there, {2, 7, 6, 3, 7, 6, 5, 5, 1, 2, 2}, counts_padding));
    STERNA_TRY(means_of(there, {1, 7, 7, 2, 4, 4, 3, 3, 2, 1, 1}, counts_padding));
    STERNA_TRY(means_of(there, {2, 4, 5, 9, 1, 1, 4, 5, 1, 0, 0}, counts_padding));  // all of it
  }
  STERNA_TRY(windows_of(there, {2, 7, 6, 3, 7, 6, 5, 5, 1, 2, 2}));  // as large as the image
  STERNA_TRY(windows_of(there, {2, 8, 6, 5, 4, 3, 2, 2, 2, 0, 0}));  // side by side
  STERNA_TRY(windows_of(there, {1, 7, 7, 2, 4, 4, 3, 3, 2, 1, 1}));  // one over the other
  return windows_of(there, {1, 9, 11, 1, 3, 3, 3, 4, 3, 0, 1});
}

Result<void> transposes(There& there) {
  constexpr std::size_t kCount = 3, kRows = 5, kColumns = 13;
  const Floats x = gaussian(kCount * kRows * kColumns, 1, 14);
  STERNA_ASSIGN(const auto x_there, there.bring(x));
  STERNA_ASSIGN(const auto to, there.bring(Floats(x.size())));
  STERNA_TRY(there.run(TransposeLaunch{x_there.data(), to.data(), kCount, kRows, kColumns}));
  Floats expected(x.size());
  for (std::size_t n = 0; n < kCount; ++n) {
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t j = 0; j < kColumns; ++j) {
        expected[(n * kColumns + j) * kRows + i] = x[(n * kRows + i) * kColumns + j];
      }
    }
  }
  STERNA_ASSIGN(const Floats found, there.fetch(to));
  return same_floats(found, expected, "transposed matrices");
}

}  // namespace

Result<void> computes_layers_like_the_cpu(Device& device) {
  STERNA_ASSIGN(There there, There::make(device));
  STERNA_TRY(products(there));
  STERNA_TRY(elements(there));
  STERNA_TRY(sums_of_nan(there));
  STERNA_TRY(sigmoids(there));
  STERNA_TRY(squares(there));
  STERNA_TRY(dropouts(there));
  STERNA_TRY(runs(there));
  STERNA_TRY(pixels(there));
  STERNA_TRY(loss(there));
  STERNA_TRY(squared_errors(there));
  STERNA_TRY(windows(there));
  STERNA_TRY(transposes(there));
  return decay(there);
}

}  // namespace sterna::kernels
