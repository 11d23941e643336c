// A data set in memory: images as bytes, labels as numbers, in the order of the file they came
// from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sterna::input {

/// `count` images of `rows` x `columns` x `channels` bytes, row-major, one after the other, and as
/// many labels, each below `classes`. Plain data; whoever holds it owns it.
struct Dataset {
  std::size_t count = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t channels = 1;
  std::size_t classes = 0;
  std::vector<std::uint8_t> images;
  std::vector<std::uint16_t> labels;

  std::size_t image_size() const { return rows * columns * channels; }
  /// The bytes of image `index` (index < count).
  std::span<const std::uint8_t> image(std::size_t index) const {
    return std::span(images).subspan(index * image_size(), image_size());
  }
};

enum class Split { train, test };

}  // namespace sterna::input
