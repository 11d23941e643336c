#include "input/augment/colour.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <vector>

#include "input/augment/colour_blocks.h"

namespace sterna::input {

namespace {

void load_plainly(const std::uint8_t* pixels, const Affine& affine, ColourBlock& block) {
  load_block(pixels, affine, block);
}
void turn_plainly(float saturation, float turn, ColourBlock& block) {
  turn_block(saturation, turn, block);
}
void store_plainly(const ColourBlock& block, const Affine& affine, std::uint8_t* pixels) {
  store_block(block, affine, pixels);
}

constexpr Affine kSame{{1, 1, 1}, {0, 0, 0}};
constexpr std::size_t kBlockBytes = 3 * kColourBlock;

/// Of each channel's bytes.
template <std::size_t Channels>
std::array<double, Channels> means(std::span<const std::uint8_t> pixels) {
  std::array<std::uint64_t, Channels> sums{};
  for (std::size_t i = 0; i < pixels.size(); i += Channels) {
    for (std::size_t c = 0; c < Channels; ++c) sums[c] += pixels[i + c];
  }
  std::array<double, Channels> result{};
  const double count = static_cast<double>(pixels.size()) / Channels;
  for (std::size_t c = 0; c < Channels; ++c) result[c] = static_cast<double>(sums[c]) / count;
  return result;
}

/// (x - mean) * contrast + mean as one product and one sum.
float contrast_shift(double mean, float contrast) {
  return static_cast<float>(mean * (1 - static_cast<double>(contrast)));
}

/// The blocks of a picture; the last one is filled up with black.
class Blocks {
 public:
  explicit Blocks(std::span<std::uint8_t> pixels) : pixels_(pixels) {}
  std::size_t count() const { return (pixels_.size() + kBlockBytes - 1) / kBlockBytes; }
  /// How many pixels block `i` has.
  std::size_t size(std::size_t i) const { return part(i).size() / 3; }

  void load(std::size_t i, const Affine& affine, const ColourKernels& kernels, ColourBlock& block) {
    const std::span<std::uint8_t> from = part(i);
    if (from.size() == kBlockBytes) return kernels.load(from.data(), affine, block);
    std::array<std::uint8_t, kBlockBytes> filled{};
    std::ranges::copy(from, filled.begin());
    kernels.load(filled.data(), affine, block);
  }

  void store(std::size_t i, const Affine& affine, const ColourKernels& kernels,
             const ColourBlock& block) {
    const std::span<std::uint8_t> to = part(i);
    if (to.size() == kBlockBytes) return kernels.store(block, affine, to.data());
    std::array<std::uint8_t, kBlockBytes> filled;
    kernels.store(block, affine, filled.data());
    std::copy_n(filled.begin(), to.size(), to.begin());
  }

 private:
  std::span<std::uint8_t> part(std::size_t i) const {
    const std::size_t first = i * kBlockBytes;
    return pixels_.subspan(first, std::min(kBlockBytes, pixels_.size() - first));
  }
  std::span<std::uint8_t> pixels_;
};

void contrast_then_turn(std::span<std::uint8_t> pixels, const ColourChange& change,
                        const ColourKernels& kernels) {
  const std::array<double, 3> mean = means<3>(pixels);
  Affine affine{};
  for (std::size_t c = 0; c < 3; ++c) {
    affine.scale[c] = change.contrast;
    affine.shift[c] = change.brightness + contrast_shift(mean[c] / 255, change.contrast);
  }
  Blocks blocks(pixels);
  ColourBlock block;
  for (std::size_t i = 0; i < blocks.count(); ++i) {
    blocks.load(i, affine, kernels, block);
    kernels.turn(change.saturation, 6 * change.hue, block);
    blocks.store(i, kSame, kernels, block);
  }
}

/// Four sums side by side, which are added in this order whatever the instruction set.
double sum_of(const float* values, std::size_t count) {
  std::array<double, 4> sums{};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += values[i + lane];
  }
  for (; i < count; ++i) sums[0] += values[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void turn_then_contrast(std::span<std::uint8_t> pixels, const ColourChange& change,
                        const ColourKernels& kernels) {
  Affine affine = kSame;
  std::ranges::fill(affine.shift, change.brightness);
  Blocks blocks(pixels);
  std::vector<ColourBlock> changed(blocks.count());
  std::array<double, 3> sums{};
  for (std::size_t i = 0; i < blocks.count(); ++i) {
    blocks.load(i, affine, kernels, changed[i]);
    kernels.turn(change.saturation, 6 * change.hue, changed[i]);
    for (std::size_t c = 0; c < 3; ++c) sums[c] += sum_of(changed[i].planes[c], blocks.size(i));
  }
  for (std::size_t c = 0; c < 3; ++c) {
    const double mean = sums[c] / (static_cast<double>(pixels.size()) / 3);
    affine.scale[c] = change.contrast;
    affine.shift[c] = contrast_shift(mean, change.contrast);
  }
  for (std::size_t i = 0; i < blocks.count(); ++i) blocks.store(i, affine, kernels, changed[i]);
}

/// One value for each byte that there is.
void change_grey(std::span<std::uint8_t> pixels, const ColourChange& change) {
  const double mean = means<1>(pixels)[0] / 255;
  const float shift = change.brightness + contrast_shift(mean, change.contrast);
  const float scale = change.contrast / 255.0F;
  for (std::uint8_t& pixel : pixels) {
    pixel = nearest_byte((static_cast<float>(pixel) * scale + shift) * 255.0F);
  }
}

}  // namespace

extern constexpr ColourKernels kColourKernels{load_plainly, turn_plainly, store_plainly};

void change_colours(std::span<std::uint8_t> pixels, std::uint32_t channels,
                    const ColourChange& change, kernels::Isa isa) {
  assert((channels == 1 || channels == 3) && pixels.size() % channels == 0);
  const ColourKernels& kernels = isa == kernels::Isa::scalar ? kColourKernels : kColourKernelsAvx2;
  if (channels == 1) return change_grey(pixels, change);
  if (change.contrast_last) return turn_then_contrast(pixels, change, kernels);
  contrast_then_turn(pixels, change, kernels);
}

}  // namespace sterna::input
