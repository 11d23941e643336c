#include "nets/tensor/elementwise.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
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
  std::array<float, kElementsAtOnce> one, other;
  for (std::size_t i = 0; i < out.size(); i += kElementsAtOnce) {
    const std::size_t count = std::min(kElementsAtOnce, out.size() - i);
    const std::span<float> sum = std::span(one).first(count);
    read(a, i, sum);
    read(b, i, std::span(other).first(count));
    std::transform(sum.begin(), sum.end(), other.begin(), sum.begin(), std::plus<>());
    write(sum, out, i);
  }
}

}  // namespace sterna::nets
