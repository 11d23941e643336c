// cifar (TernGrad's cifar10 pipeline): a random crop, flip, brightness, contrast, and each picture
// to mean 0 and deviation 1; in evaluation its middle, standardized.
//
// All after the crop is affine per channel. With the channels' means m_c over the crop, their mean
// m and the contrast k, a pixel v (0 to 1) of channel c becomes
//   k (v - m_c) + m_c + brightness,
// whose mean over the picture is m + brightness and whose variance is
//   s^2 = k^2 mean_c(variance of c) + mean_c((m_c - m)^2),
// so that the net sees (v - center_c) * scale with
//   center_c = (m - (1 - k) m_c) / k,   scale = k / max(s, 1 / sqrt(number of values)).
// Brightness cancels: nothing is clamped before the mean is subtracted.
#include <algorithm>
#include <array>
#include <cmath>

#include "input/augment/cut.h"
#include "input/augment/family.h"
#include "input/augment/family_parts.h"
#include "input/pictures/decode.h"

namespace sterna::input {

namespace {

constexpr float kLeastContrast = 0.2F;
constexpr float kMostContrast = 1.8F;

PictureShape cifar_shape(const PictureShape& data) { return square_of(24, data); }

/// Of one channel of a crop, in units of a byte.
struct Sums {
  std::uint64_t values = 0;
  std::uint64_t squares = 0;
};

template <std::size_t Channels>
std::array<Sums, 3> sums_of(std::span<const std::uint8_t> pixels) {
  constexpr std::size_t kChunk = 4096 * Channels;  // whose squares fit 32 bits
  std::array<Sums, 3> sums{};
  for (std::size_t first = 0; first < pixels.size(); first += kChunk) {
    const std::size_t end = std::min(first + kChunk, pixels.size());
    std::array<std::uint32_t, Channels> values{};
    std::array<std::uint32_t, Channels> squares{};
    for (std::size_t i = first; i < end; i += Channels) {
      for (std::size_t c = 0; c < Channels; ++c) {
        const std::uint32_t value = pixels[i + c];
        values[c] += value;
        squares[c] += value * value;
      }
    }
    for (std::size_t c = 0; c < Channels; ++c) {
      sums[c].values += values[c];
      sums[c].squares += squares[c];
    }
  }
  return sums;
}

/// Sets center and scale: in double, from whole numbers, each rounded once.
void standardize_picture(float contrast, const PictureShape& shape, const Prepared& into) {
  const std::uint32_t channels = shape.channels;
  const auto sums = channels == 1 ? sums_of<1>(into.pixels) : sums_of<3>(into.pixels);
  const double count = static_cast<double>(shape.rows) * shape.columns;
  std::array<double, 3> means{};
  double mean = 0;
  for (std::uint32_t c = 0; c < channels; ++c) {
    means[c] = static_cast<double>(sums[c].values) / (count * 255);
    mean += means[c] / channels;
  }
  const double k = contrast;
  double variance = 0;
  for (std::uint32_t c = 0; c < channels; ++c) {
    const double within =
        static_cast<double>(sums[c].squares) / (count * 255 * 255) - means[c] * means[c];
    const double between = means[c] - mean;
    variance += (k * k * std::max(within, 0.0) + between * between) / channels;
  }
  const double deviation = std::max(std::sqrt(variance), 1 / std::sqrt(count * channels));
  for (std::uint32_t c = 0; c < channels; ++c) {
    into.center[c] = static_cast<float>((mean - (1 - k) * means[c]) / k);
    into.scale[c] = static_cast<float>(k / deviation);
  }
}

Result<void> train_cifar(const EncodedPicture& picture, std::span<const Box> /*boxes*/,
                         Draws& draws, const FamilyOptions& options, const Prepared& into) {
  const PictureShape& shape = options.shape;
  STERNA_ASSIGN(const PictureShape from, shape_of(picture, options.most_pixels));
  const Segment rows = window(from.rows, shape.rows, draws.below(places(from.rows, shape.rows)));
  const Segment columns =
      window(from.columns, shape.columns, draws.below(places(from.columns, shape.columns)));
  const bool flip = draws.coin();
  draws.word();  // brightness
  const float contrast = draws.uniform(kLeastContrast, kMostContrast);
  STERNA_TRY(cut(picture, {rows, columns, flip}, shape, options.most_pixels, into.pixels));
  standardize_picture(contrast, shape, into);
  return {};
}

Result<void> evaluate_cifar(const EncodedPicture& picture, const FamilyOptions& options,
                            const Prepared& into) {
  const PictureShape& shape = options.shape;
  STERNA_ASSIGN(const PictureShape from, shape_of(picture, options.most_pixels));
  STERNA_TRY(cut(
      picture, {central_window(from.rows, shape.rows), central_window(from.columns, shape.columns)},
      shape, options.most_pixels, into.pixels));
  standardize_picture(1, shape, into);
  return {};
}

}  // namespace

extern constexpr Family kCifarFamily{"cifar", cifar_shape, train_cifar, evaluate_cifar, true};

}  // namespace sterna::input
