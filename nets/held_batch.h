// A batch that several passes of a net take part by part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nets/backend/memory.h"
#include "nets/tensor/pixels.h"

namespace sterna::nets {

/// A copy of a step's images, as they came, and of their labels. Its memory grows to that of the
/// largest batch and is used again.
class HeldBatch {
 public:
  void hold(std::span<const float> images, std::span<const std::uint16_t> labels);
  void hold(const PixelImages& images, std::span<const std::uint16_t> labels);

  /// Writes the values of `count` images from `first` on, of `channels` channels each, which fill
  /// `out`.
  void write(std::size_t first, std::size_t count, std::size_t channels, Memory& memory,
             Tensor& out) const;
  std::span<const std::uint16_t> labels(std::size_t first, std::size_t count) const {
    return std::span(labels_).subspan(first, count);
  }

 private:
  std::vector<float> values_;  // or
  std::vector<std::uint8_t> pixels_;
  std::vector<float> levels_;
  std::vector<std::uint16_t> labels_;
};

}  // namespace sterna::nets
