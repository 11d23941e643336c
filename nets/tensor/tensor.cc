#include "nets/tensor/tensor.h"

#include <utility>

namespace sterna::nets {

std::size_t element_count(const Shape& shape) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) count *= extent;
  return count;
}

Tensor::Tensor(Shape shape, Layout layout, std::size_t owned)
    : shape_(std::move(shape)),
      layout_(layout),
      count_(element_count(shape_)),
      buffer_(owned * sizeof(float)),
      data_(nullptr) {}

Tensor::Tensor(Shape shape, Layout layout) : Tensor(std::move(shape), layout, 0) { allocate(); }

Tensor Tensor::unbound(Shape shape, Layout layout) { return {std::move(shape), layout, 0}; }

void Tensor::allocate() {
  if (data_ != nullptr) return;
  buffer_ = Buffer(count_ * sizeof(float));
  data_ = buffer_.as<float>().data();
}

}  // namespace sterna::nets
