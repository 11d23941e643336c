// A dense tensor of fp32 or bf16, in the host's memory or in a device's.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "nets/tensor/element.h"

namespace sterna::nets {

using Shape = std::vector<std::size_t>;

/// Number of elements of a shape (1 for the empty one).
std::size_t element_count(const Shape& shape);

/// How elements lie in memory. Shapes are logical: an image batch is {batch, channels, height,
/// width} in both. `channels_last` stores it as batch, height, width, channels.
enum class Layout { row_major, channels_last };

/// Always 64-byte aligned, so that results do not depend on where a buffer happened to lie. Owns
/// its memory, zero-filled, or is bound to somebody else's. Where that is a device's, addresses and
/// spans of it are the device's, too: the host hands them on and never looks.
class Tensor {
 public:
  explicit Tensor(Shape shape, Layout layout = Layout::row_major, Element element = Element::fp32);
  /// Without memory until bind().
  static Tensor unbound(Shape shape, Layout layout = Layout::row_major,
                        Element element = Element::fp32);
  Tensor(Tensor&&) = default;
  Tensor& operator=(Tensor&&) = default;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor() = default;

  /// To memory for bytes() bytes, 64-byte aligned, that outlives the tensor.
  void bind(std::byte* memory) { memory_ = memory; }
  /// The same, to memory that it keeps.
  void bind(std::shared_ptr<std::byte> memory) {
    bind(memory.get());
    owner_ = std::move(memory);
  }
  /// To memory of its own in the host's, if it is unbound.
  void allocate();

  const Shape& shape() const { return shape_; }
  Layout layout() const { return layout_; }
  Element element() const { return element_; }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * bytes_of(element_); }
  std::byte* memory() { return memory_; }
  const std::byte* memory() const { return memory_; }

  /// Of fp32 only.
  float* data() { return as<float>(Element::fp32); }
  const float* data() const { return as<float>(Element::fp32); }
  std::span<float> values() { return {data(), count_}; }
  std::span<const float> values() const { return {data(), count_}; }
  /// Of bf16 only: their bits.
  std::uint16_t* bf16() { return as<std::uint16_t>(Element::bf16); }
  const std::uint16_t* bf16() const { return as<std::uint16_t>(Element::bf16); }

 private:
  struct WithoutMemory {};
  Tensor(Shape shape, Layout layout, Element element, WithoutMemory without);
  template <class Value>
  Value* as([[maybe_unused]] Element element) const {
    assert(element == element_);
    return reinterpret_cast<Value*>(memory_);
  }
  Shape shape_;
  Layout layout_;
  Element element_;
  std::size_t count_;
  std::shared_ptr<std::byte> owner_;  // of memory of its own
  std::byte* memory_ = nullptr;
};

}  // namespace sterna::nets
