// A data set in memory: images as bytes, labels as numbers, in the order of the file they came
// from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "input/pictures/picture.h"

namespace sterna::input {

/// `count` images of `rows` x `columns` x `channels` bytes, row-major, the channels of a pixel
/// beside each other, one after the other, and as many labels, each below `classes`. Plain data;
/// whoever holds it owns it.
struct Dataset {
  std::size_t count = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t channels = 1;
  std::size_t classes = 0;
  std::vector<std::uint8_t> images;
  std::vector<std::uint16_t> labels;
  std::string_view family = "mnist";  ///< how its images are prepared (augment/family.h)

  std::size_t image_size() const { return rows * columns * channels; }
  PictureShape shape() const {
    return {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns),
            static_cast<std::uint32_t>(channels)};
  }
  /// The bytes of image `index` (index < count).
  std::span<const std::uint8_t> image(std::size_t index) const {
    return std::span(images).subspan(index * image_size(), image_size());
  }
};

enum class Split { train, test };

/// Examples [first, end) of a data set.
struct ExampleRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::uint64_t count() const { return end - first; }
  bool contains(std::uint64_t example) const { return example >= first && example < end; }
  bool operator==(const ExampleRange&) const = default;
};

}  // namespace sterna::input
