#include "nets/tensor/pixels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/sums/bf16.h"
#include "nets/tensor/elementwise.h"

namespace sterna::nets {
namespace {

/// Two images of `size` bytes, and levels that differ by image and channel.
struct Pair {
  Pair(std::size_t size, std::size_t channels) : pixels(2 * size) {
    for (std::size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<std::uint8_t>(i * 37 % 256);
    for (std::size_t i = 0; i < 4 * channels; ++i)
      levels.push_back(0.125F + 0.3F * static_cast<float>(i));
  }
  std::vector<std::uint8_t> pixels;
  std::vector<float> levels;
};

TEST(Pixels, AreTheirDistanceFromTheCenterScaled) {
  for (const std::size_t channels : {1U, 2U, 3U, 4U}) {
    const std::size_t size = 53 * channels;  // no multiple of what is done at once
    const Pair images(size, channels);
    std::vector<float> values(2 * size);
    to_values({images.pixels, images.levels}, 2, channels, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float* levels = images.levels.data() + i / size * 2 * channels;
      const std::size_t channel = i % channels;
      const float expected = (static_cast<float>(images.pixels[i]) / 255.0F - levels[channel]) *
                             levels[channels + channel];
      EXPECT_EQ(values[i], expected) << channels << " channels, value " << i;
    }
  }
}

TEST(Pixels, AreRoundedOnceToBf16) {
  const std::size_t size = 3 * (kElementsAtOnce + 5);  // of each image more than is done at once
  const Pair images(size, 3);
  std::vector<float> values(2 * size), rounded(2 * size + 1);
  to_values({images.pixels, images.levels}, 2, 3, values);
  Tensor out({2 * size + 1}, Layout::row_major, Element::bf16);
  to_values({images.pixels, images.levels}, 2, 3, out);
  read(out, 0, rounded);
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(rounded[i], kernels::from_bf16(kernels::to_bf16(values[i]))) << i;
  EXPECT_EQ(rounded.back(), 0) << "behind the images";
}

TEST(Pixels, OfMnistAreMinusOneToOne) {
  const std::vector<std::uint8_t> pixels{0, 51, 255};
  const std::vector<float> levels{0.5F, 2};
  std::vector<float> values(3);
  to_values({pixels, levels}, 1, 1, values);
  EXPECT_EQ(values[0], -1);
  EXPECT_FLOAT_EQ(values[1], -0.6F);
  EXPECT_EQ(values[2], 1);
}

}  // namespace
}  // namespace sterna::nets
