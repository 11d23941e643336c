#include "nets/cpu/bf16_relu.h"

#include <cstddef>
#include <cstdint>

#include "kernels/isa/avx512.h"

namespace sterna::nets {
namespace {

constexpr std::size_t kLanes = 32;

STERNA_AVX512_INLINE __mmask32 lanes(std::size_t i, std::size_t count) {
  return i + kLanes <= count ? ~__mmask32{0} : (__mmask32{1} << (count - i)) - 1U;
}

/// As integers, what is above 0 is above 0, and NaNs are above infinity, whatever their sign.
STERNA_AVX512 void rectify(std::uint16_t* x, std::size_t count) {
  const __m512i magnitude = _mm512_set1_epi16(0x7FFF), infinity = _mm512_set1_epi16(0x7F80);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __mmask32 live = lanes(i, count);
    const __m512i bits = _mm512_maskz_loadu_epi16(live, x + i);
    const __mmask32 above = _mm512_cmpgt_epi16_mask(bits, _mm512_setzero_si512());
    const __mmask32 nan = _mm512_cmpgt_epi16_mask(_mm512_and_si512(bits, magnitude), infinity);
    _mm512_mask_storeu_epi16(x + i, live, _mm512_maskz_mov_epi16(above | nan, bits));
  }
}

STERNA_AVX512 void pass_where_positive(const std::uint16_t* y, std::uint16_t* dy,
                                       std::size_t count) {
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __mmask32 live = lanes(i, count);
    const __m512i bits = _mm512_maskz_loadu_epi16(live, y + i);
    const __mmask32 above = _mm512_cmpgt_epi16_mask(bits, _mm512_setzero_si512());
    _mm512_mask_storeu_epi16(dy + i, live, _mm512_maskz_loadu_epi16(live & above, dy + i));
  }
}

class Bf16Relu final : public Eltwise {
 public:
  void forward(Tensor& xy) override { rectify(xy.bf16(), xy.size()); }
  void backward(const Tensor& y, Tensor& dy) override {
    pass_where_positive(y.bf16(), dy.bf16(), dy.size());
  }
};

}  // namespace

void rectify_bf16(std::span<std::uint16_t> x) { rectify(x.data(), x.size()); }

void gate_bf16(std::span<const std::uint16_t> y, std::span<std::uint16_t> dy) {
  pass_where_positive(y.data(), dy.data(), dy.size());
}

bool is_bf16_relu(const EltwiseSpec& spec) {
  return spec.element == Element::bf16 && spec.function == EltwiseSpec::Function::relu;
}

std::unique_ptr<Eltwise> make_bf16_relu(const EltwiseSpec& /*spec*/) {
  return std::make_unique<Bf16Relu>();
}

}  // namespace sterna::nets
