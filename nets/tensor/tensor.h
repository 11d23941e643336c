// A dense fp32 tensor in host memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/base/bytes.h"

namespace sterna::nets {

using Shape = std::vector<std::size_t>;

/// Number of elements of a shape (1 for the empty one).
std::size_t element_count(const Shape& shape);

/// How elements lie in memory. Shapes are logical: an image batch is {batch, channels, height,
/// width} in both. `channels_last` stores it as batch, height, width, channels.
enum class Layout { row_major, channels_last };

/// Owns its memory: zero-filled, and always 64-byte aligned, so that results do not depend on
/// where a buffer happened to lie.
class Tensor {
 public:
  explicit Tensor(Shape shape, Layout layout = Layout::row_major);

  const Shape& shape() const { return shape_; }
  Layout layout() const { return layout_; }
  std::size_t size() const { return count_; }
  float* data() { return reinterpret_cast<float*>(buffer_.data()); }
  const float* data() const { return reinterpret_cast<const float*>(buffer_.data()); }
  std::span<float> values() { return {data(), count_}; }
  std::span<const float> values() const { return {data(), count_}; }

 private:
  Shape shape_;
  Layout layout_;
  std::size_t count_;
  Buffer buffer_;
};

}  // namespace sterna::nets
