#include "nets/tensor/pixels.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "nets/tensor/elementwise.h"

namespace sterna::nets {
namespace {

/// A multiple of 1, 2, 3 and 4 channels and of a vector's lanes: so many bytes have the same levels
/// again.
constexpr std::size_t kPeriod = 48;
static_assert(kElementsAtOnce % kPeriod == 0);

void convert(std::span<const std::uint8_t> pixels, std::span<const float> levels,
             std::size_t channels, float* out) {
  std::array<float, kPeriod> center;
  std::array<float, kPeriod> scale;
  for (std::size_t i = 0; i < kPeriod; ++i) {
    center[i] = levels[i % channels];
    scale[i] = levels[channels + i % channels];
  }
  std::size_t at = 0;
  for (; at + kPeriod <= pixels.size(); at += kPeriod) {
    for (std::size_t i = 0; i < kPeriod; ++i) {
      out[at + i] = (static_cast<float>(pixels[at + i]) / 255.0F - center[i]) * scale[i];
    }
  }
  for (std::size_t i = 0; at + i < pixels.size(); ++i) {
    out[at + i] = (static_cast<float>(pixels[at + i]) / 255.0F - center[i]) * scale[i];
  }
}

}  // namespace

void to_values(const PixelImages& images, std::size_t count, std::size_t channels,
               std::span<float> out) {
  assert(channels > 0 && kPeriod % channels == 0);
  assert(count > 0 && images.levels.size() == 2 * channels * count);
  assert(out.size() == images.pixels.size() && out.size() % count == 0);
  const std::size_t size = out.size() / count;
  for (std::size_t i = 0; i < count; ++i) {
    convert(images.pixels.subspan(i * size, size),
            images.levels.subspan(i * 2 * channels, 2 * channels), channels, out.data() + i * size);
  }
}

void to_values(const PixelImages& images, std::size_t count, std::size_t channels, Tensor& out) {
  const std::size_t size = images.pixels.size();
  if (out.element() == Element::fp32) {
    return to_values(images, count, channels, out.values().first(size));
  }
  std::array<float, kElementsAtOnce> values;
  const std::size_t each = size / count;
  for (std::size_t image = 0; image < count; ++image) {
    for (std::size_t i = 0; i < each; i += kElementsAtOnce) {
      const std::span<float> some = std::span(values).first(std::min(kElementsAtOnce, each - i));
      to_values({images.pixels.subspan(image * each + i, some.size()),
                 images.levels.subspan(image * 2 * channels, 2 * channels)},
                1, channels, some);
      write(some, out, image * each + i);
    }
  }
}

}  // namespace sterna::nets
