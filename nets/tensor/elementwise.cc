#include "nets/tensor/elementwise.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
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
  kernels::add_bf16({a.bf16(), a.size()}, {b.bf16(), b.size()}, {out.bf16(), out.size()},
                    kernels::best_isa());
}

namespace {

/// out = a + b of bf16s, each of which then(sum, index) replaces while it is at hand.
template <class Then>
void add_bf16_then(const Tensor& a, const Tensor& b, Tensor& out, Then then) {
  for (std::size_t first = 0; first < out.size(); first += kElementsAtOnce) {
    const std::size_t count = std::min(kElementsAtOnce, out.size() - first);
    std::uint16_t* const sums = out.bf16() + first;
    kernels::add_bf16({a.bf16() + first, count}, {b.bf16() + first, count}, {sums, count},
                      kernels::best_isa());
    for (std::size_t i = 0; i < count; ++i) sums[i] = then(sums[i], first + i);
  }
}

/// As integers bf16s above 0 are above 0, and so are NaNs that are not negative.
bool above_zero(std::uint16_t bits) { return static_cast<std::int16_t>(bits) > 0; }

}  // namespace

void add_and_rectify(const Tensor& a, const Tensor& b, Tensor& out) {
  if (out.element() == Element::fp32) {
    std::transform(a.data(), a.data() + a.size(), b.data(), out.data(), [](float x, float y) {
      const float sum = x + y;
      return sum <= 0 ? 0 : sum;
    });
    return;
  }
  add_bf16_then(a, b, out, [](std::uint16_t sum, std::size_t /*index*/) {
    const bool nan = (sum & 0x7FFFU) > 0x7F80U;
    return above_zero(sum) || nan ? sum : std::uint16_t{0};
  });
}

void add_gated(const Tensor& gate, const Tensor& b, Tensor& sum) {
  if (sum.element() == Element::fp32) {
    const float* const open = gate.data();
    const float* const other = b.data();
    float* const out = sum.data();
    // By a mask: what may be added or not would be a branch for each, and no vectors.
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const std::uint32_t mask = open[i] > 0 ? ~0U : 0U;
      out[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(out[i] + other[i]) & mask);
    }
    return;
  }
  add_bf16_then(sum, b, sum, [open = gate.bf16()](std::uint16_t both, std::size_t i) {
    return above_zero(open[i]) ? both : std::uint16_t{0};
  });
}

}  // namespace sterna::nets
