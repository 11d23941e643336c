#include "nets/tensor/elementwise.h"

#include <algorithm>
#include <cassert>
#include <functional>

#include "kernels/sums/bf16.h"

namespace sterna::nets {

void read(const Tensor& from, std::size_t first, std::span<float> out) {
  assert(first + out.size() <= from.size());
  if (from.element() == Element::fp32) {
    std::copy_n(from.data() + first, out.size(), out.data());
  } else {
    kernels::decode_bf16(std::as_bytes(std::span(from.bf16() + first, out.size())), out,
                         kernels::best_isa());
  }
}

void write(std::span<const float> values, Tensor& to, std::size_t first) {
  assert(first + values.size() <= to.size());
  if (to.element() == Element::fp32) {
    std::copy_n(values.data(), values.size(), to.data() + first);
  } else {
    kernels::encode_bf16(values,
                         std::as_writable_bytes(std::span(to.bf16() + first, values.size())),
                         kernels::best_isa());
  }
}

void copy(const Tensor& from, Tensor& to) {
  assert(from.bytes() == to.bytes());
  if (from.memory() != to.memory()) std::copy_n(from.memory(), from.bytes(), to.memory());
}

void clear(Tensor& to) { std::fill_n(to.memory(), to.bytes(), std::byte{0}); }

void add(const Tensor& a, const Tensor& b, Tensor& out) {
  if (out.element() == Element::fp32) {
    std::transform(a.data(), a.data() + a.size(), b.data(), out.data(), std::plus<>());
    return;
  }
  kernels::add_bf16({a.bf16(), a.size()}, {b.bf16(), b.size()}, {out.bf16(), out.size()},
                    kernels::best_isa());
}

}  // namespace sterna::nets
