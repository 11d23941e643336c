// What layers do to each element of tensors themselves, whatever those are stored as. bf16 is
// computed with in fp32, and each result rounded once to the nearest, ties to even.
#pragma once

#include <cstddef>
#include <span>

#include "nets/tensor/tensor.h"

namespace sterna::nets {

/// So many elements at a time pass through fp32 on a stack.
constexpr std::size_t kElementsAtOnce = 3072;

/// Fills `out` with the elements from `first` on, in the order of memory.
void read(const Tensor& from, std::size_t first, std::span<float> out);
/// Writes the elements from `first` on, in the order of memory.
void write(std::span<const float> values, Tensor& to, std::size_t first);

/// From one tensor to another of as many such elements; nothing to do where both lie in one place.
void copy(const Tensor& from, Tensor& to);
/// Zeros.
void clear(Tensor& to);
/// out = a + b, of as many elements of one kind; `out` may be `a`.
void add(const Tensor& a, const Tensor& b, Tensor& out);

}  // namespace sterna::nets
