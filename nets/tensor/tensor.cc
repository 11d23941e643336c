#include "nets/tensor/tensor.h"

#include <utility>

namespace sterna::nets {

std::size_t element_count(const Shape& shape) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) count *= extent;
  return count;
}

Tensor::Tensor(Shape shape, Layout layout)
    : shape_(std::move(shape)),
      layout_(layout),
      count_(element_count(shape_)),
      buffer_(count_ * sizeof(float)) {}

}  // namespace sterna::nets
