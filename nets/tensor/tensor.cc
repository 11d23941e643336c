#include "nets/tensor/tensor.h"

#include <utility>

#include "runtime/base/bytes.h"

namespace sterna::nets {

std::size_t element_count(const Shape& shape) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) count *= extent;
  return count;
}

Tensor::Tensor(Shape shape, Layout layout, Element element, WithoutMemory /*without*/)
    : shape_(std::move(shape)), layout_(layout), element_(element), count_(element_count(shape_)) {}

Tensor::Tensor(Shape shape, Layout layout, Element element)
    : Tensor(std::move(shape), layout, element, WithoutMemory{}) {
  allocate();
}

Tensor Tensor::unbound(Shape shape, Layout layout, Element element) {
  return {std::move(shape), layout, element, WithoutMemory{}};
}

void Tensor::allocate() {
  if (memory_ != nullptr) return;
  const auto buffer = std::make_shared<Buffer>(bytes());
  bind(std::shared_ptr<std::byte>(buffer, buffer->data()));
}

}  // namespace sterna::nets
