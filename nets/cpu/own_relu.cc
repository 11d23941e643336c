#include "nets/cpu/own_relu.h"

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/isa/avx2.h"
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
  explicit Bf16Relu(const Team& team) : team_(team) {}
  void forward(Tensor& xy) override {
    team_.share_elements(xy.size(), 4, [x = xy.bf16()](std::size_t first, std::size_t count) {
      rectify(x + first, count);
    });
  }
  void backward(const Tensor& y, Tensor& dy) override {
    team_.share_elements(dy.size(), 6,
                         [open = y.bf16(), to = dy.bf16()](std::size_t first, std::size_t count) {
                           pass_where_positive(open + first, to + first, count);
                         });
  }

 private:
  Team team_;
};

// What the compiler makes vectors of, as wide as the function that it becomes part of may use.

[[gnu::always_inline]] inline void rectify(float* x, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) x[i] = x[i] <= 0 ? 0 : x[i];
}
/// By a mask: what may be written or not would be a branch for each, and no vectors.
[[gnu::always_inline]] inline void gate(const float* y, float* dy, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t mask = y[i] <= 0 ? 0U : ~0U;
    dy[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(dy[i]) & mask);
  }
}

void rectify_plain(float* x, std::size_t count) { rectify(x, count); }
STERNA_AVX2 void rectify_avx2(float* x, std::size_t count) { rectify(x, count); }
STERNA_AVX512 void rectify_avx512(float* x, std::size_t count) { rectify(x, count); }

void gate_plain(const float* y, float* dy, std::size_t count) { gate(y, dy, count); }
STERNA_AVX2 void gate_avx2(const float* y, float* dy, std::size_t count) { gate(y, dy, count); }
STERNA_AVX512 void gate_avx512(const float* y, float* dy, std::size_t count) { gate(y, dy, count); }

class Fp32Relu final : public Eltwise {
 public:
  Fp32Relu(kernels::Isa isa, const Team& team)
      : rectify_(kernels::twin(isa, rectify_plain, rectify_avx2, rectify_avx512)),
        gate_(kernels::twin(isa, gate_plain, gate_avx2, gate_avx512)),
        team_(team) {}
  void forward(Tensor& xy) override {
    team_.share_elements(xy.size(), 8, [&, x = xy.data()](std::size_t first, std::size_t count) {
      rectify_(x + first, count);
    });
  }
  void backward(const Tensor& y, Tensor& dy) override {
    team_.share_elements(
        dy.size(), 12, [&, open = y.data(), to = dy.data()](std::size_t first, std::size_t count) {
          gate_(open + first, to + first, count);
        });
  }

 private:
  void (*rectify_)(float* x, std::size_t count);
  void (*gate_)(const float* y, float* dy, std::size_t count);
  Team team_;
};

}  // namespace

void rectify_bf16(std::span<std::uint16_t> x) { rectify(x.data(), x.size()); }

void gate_bf16(std::span<const std::uint16_t> y, std::span<std::uint16_t> dy) {
  pass_where_positive(y.data(), dy.data(), dy.size());
}

std::unique_ptr<Eltwise> make_own_relu(const EltwiseSpec& spec, kernels::Isa isa,
                                       const Team& team) {
  if (spec.function != EltwiseSpec::Function::relu) return nullptr;
  if (spec.element == Element::bf16) return std::make_unique<Bf16Relu>(team);
  return std::make_unique<Fp32Relu>(isa, team);
}

}  // namespace sterna::nets
