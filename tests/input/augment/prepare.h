// A prepared picture with the memory it lies in, and pictures to prepare.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "input/augment/family.h"

namespace sterna::input {

/// The picture of tests/reference/preprocess.py.
inline Picture textured(std::uint32_t rows, std::uint32_t columns, std::uint32_t channels) {
  Picture picture{{rows, columns, channels}, {}};
  for (std::uint32_t y = 0; y < rows; ++y) {
    for (std::uint32_t x = 0; x < columns; ++x) {
      for (std::uint32_t c = 0; c < channels; ++c) {
        const std::uint32_t value = 3 * y + 5 * x * (c + 1) + x * y / 7 + 40 * c;
        picture.pixels.push_back(static_cast<std::uint8_t>(value % 256));
      }
    }
  }
  return picture;
}

inline EncodedPicture as_stored(const Picture& picture) {
  return {Coding::pixels, picture.pixels, picture.shape};
}

struct PreparedPicture {
  std::vector<std::uint8_t> pixels;
  std::vector<float> center;
  std::vector<float> scale;
  bool operator==(const PreparedPicture&) const = default;

  explicit PreparedPicture(const PictureShape& shape)
      : pixels(shape.bytes(), 77), center(shape.channels), scale(shape.channels) {}
  Prepared into() { return {pixels, center, scale}; }
  /// What the net sees.
  float value(std::size_t i) const {
    const std::size_t c = i % center.size();
    return (static_cast<float>(pixels[i]) / 255.0F - center[c]) * scale[c];
  }
};

inline FamilyOptions options_for(const PictureShape& shape) {
  FamilyOptions options;
  options.shape = shape;
  options.mean = {0.485F, 0.456F, 0.406F};
  options.deviation = {0.229F, 0.224F, 0.225F};
  return options;
}

inline PreparedPicture trained(std::string_view family, const EncodedPicture& picture,
                               const PictureShape& shape, Draws draws,
                               std::span<const Box> boxes = {}) {
  PreparedPicture prepared(shape);
  const auto result =
      find_family(family)->train(picture, boxes, draws, options_for(shape), prepared.into());
  EXPECT_TRUE(result.ok()) << result.error().message;
  return prepared;
}

inline PreparedPicture evaluated(std::string_view family, const EncodedPicture& picture,
                                 const PictureShape& shape) {
  PreparedPicture prepared(shape);
  const auto result = find_family(family)->evaluate(picture, options_for(shape), prepared.into());
  EXPECT_TRUE(result.ok()) << result.error().message;
  return prepared;
}

}  // namespace sterna::input
