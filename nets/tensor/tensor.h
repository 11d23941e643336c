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

/// Always 64-byte aligned, so that results do not depend on where a buffer happened to lie. Owns
/// its memory, zero-filled, or is bound to somebody else's.
class Tensor {
 public:
  explicit Tensor(Shape shape, Layout layout = Layout::row_major);
  /// Without memory until bind().
  static Tensor unbound(Shape shape, Layout layout = Layout::row_major);
  Tensor(Tensor&&) = default;
  Tensor& operator=(Tensor&&) = default;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor() = default;

  /// To memory for size() elements, 64-byte aligned, that outlives the tensor.
  void bind(float* memory) { data_ = memory; }
  /// To memory of its own, if it is unbound.
  void allocate();

  const Shape& shape() const { return shape_; }
  Layout layout() const { return layout_; }
  std::size_t size() const { return count_; }
  float* data() { return data_; }
  const float* data() const { return data_; }
  std::span<float> values() { return {data(), count_}; }
  std::span<const float> values() const { return {data(), count_}; }

 private:
  Tensor(Shape shape, Layout layout, std::size_t owned);
  Shape shape_;
  Layout layout_;
  std::size_t count_;
  Buffer buffer_;
  float* data_;
};

}  // namespace sterna::nets
