// Some pixels at a time become fp32, and each is computed in three passes over its channels: the
// squares, between as many zeros as a window reaches beyond the first and the last channel; the
// sums over windows, as sums of unaligned vectors; and for the gradient the same with
//   dx = dy · base^-3/4 - 3/2 · alpha · x · Σ dy · x · base^-7/4,  base = bias + alpha · Σ x².
#include "nets/onednn/bf16_lrn.h"

#include <algorithm>
#include <vector>

#include "kernels/isa/avx512.h"
#include "kernels/isa/lanes_avx512.h"
#include "nets/tensor/elementwise.h"

namespace sterna::nets {
namespace {

constexpr std::size_t kLanes = 16;

struct Norm {
  std::size_t channels, radius;
  float bias, alpha;
};

/// `windows`: of the channels, with `radius` zeros before them and enough behind.
STERNA_AVX512_INLINE __m512 window_sum(const Norm& norm, const float* windows, std::size_t k) {
  __m512 sum = _mm512_setzero_ps();
  for (std::size_t d = 0; d <= 2 * norm.radius; ++d) {
    sum = _mm512_add_ps(sum, _mm512_loadu_ps(windows + k + d));
  }
  return sum;
}

STERNA_AVX512_INLINE void square(const Norm& norm, const float* x, float* windows) {
  for (std::size_t k = 0; k < norm.channels; k += kLanes) {
    const __m512 value = _mm512_maskz_loadu_ps(kernels::lanes(k, norm.channels), x + k);
    _mm512_storeu_ps(windows + norm.radius + k, _mm512_mul_ps(value, value));
  }
}

STERNA_AVX512_INLINE __m512 base_of(const Norm& norm, const float* squares, std::size_t k) {
  const __m512 sum = window_sum(norm, squares, k);
  return _mm512_add_ps(_mm512_set1_ps(norm.bias), _mm512_mul_ps(_mm512_set1_ps(norm.alpha), sum));
}

/// base^-3/4
STERNA_AVX512_INLINE __m512 factor_of(__m512 base) {
  const __m512 root = _mm512_sqrt_ps(base);
  return _mm512_div_ps(_mm512_set1_ps(1), _mm512_mul_ps(root, _mm512_sqrt_ps(root)));
}

STERNA_AVX512 void normalize(const Norm& norm, float* x, float* squares) {
  square(norm, x, squares);
  for (std::size_t k = 0; k < norm.channels; k += kLanes) {
    const __mmask16 live = kernels::lanes(k, norm.channels);
    const __m512 factor = factor_of(base_of(norm, squares, k));
    _mm512_mask_storeu_ps(x + k, live, _mm512_mul_ps(_mm512_maskz_loadu_ps(live, x + k), factor));
  }
}

/// From dy, in place.
STERNA_AVX512 void differentiate(const Norm& norm, const float* x, float* dx, float* squares,
                                 float* products) {
  square(norm, x, squares);
  for (std::size_t k = 0; k < norm.channels; k += kLanes) {
    const __mmask16 live = kernels::lanes(k, norm.channels);
    const __m512 base = base_of(norm, squares, k);
    const __m512 value = _mm512_maskz_loadu_ps(live, x + k);
    const __m512 scaled = _mm512_mul_ps(_mm512_maskz_loadu_ps(live, dx + k), factor_of(base));
    _mm512_mask_storeu_ps(dx + k, live, scaled);
    _mm512_storeu_ps(products + norm.radius + k,
                     _mm512_maskz_div_ps(live, _mm512_mul_ps(scaled, value), base));
  }
  const __m512 share = _mm512_set1_ps(1.5F * norm.alpha);
  for (std::size_t k = 0; k < norm.channels; k += kLanes) {
    const __mmask16 live = kernels::lanes(k, norm.channels);
    const __m512 value = _mm512_mul_ps(share, _mm512_maskz_loadu_ps(live, x + k));
    const __m512 others = _mm512_mul_ps(value, window_sum(norm, products, k));
    _mm512_mask_storeu_ps(dx + k, live, _mm512_sub_ps(_mm512_maskz_loadu_ps(live, dx + k), others));
  }
}

class Bf16Lrn final : public Lrn {
 public:
  explicit Bf16Lrn(const LrnSpec& spec)
      : norm_{spec.input[1], spec.radius, spec.bias, spec.alpha},
        at_once_(std::max<std::size_t>(1, kElementsAtOnce / spec.input[1]) * spec.input[1]),
        x_(at_once_),
        dx_(at_once_),
        squares_(spec.input[1] + kLanes + 2 * spec.radius),
        products_(squares_.size()) {}

  void forward(const Tensor& x, Tensor& y) override {
    for_some(x, [&](std::size_t first, std::size_t count) {
      const std::span<float> values = std::span(x_).first(count);
      read(x, first, values);
      for (std::size_t i = 0; i < count; i += norm_.channels)
        normalize(norm_, values.data() + i, squares_.data());
      write(values, y, first);
    });
  }
  void backward(const Tensor& x, const Tensor& dy, Tensor& dx) override {
    for_some(x, [&](std::size_t first, std::size_t count) {
      const std::span<float> gradient = std::span(dx_).first(count);
      read(x, first, std::span(x_).first(count));
      read(dy, first, gradient);
      for (std::size_t i = 0; i < count; i += norm_.channels)
        differentiate(norm_, x_.data() + i, gradient.data() + i, squares_.data(), products_.data());
      write(gradient, dx, first);
    });
  }

 private:
  /// Whole pixels.
  template <class Visit>
  void for_some(const Tensor& x, Visit visit) const {
    for (std::size_t i = 0; i < x.size(); i += at_once_) {
      visit(i, std::min(at_once_, x.size() - i));
    }
  }

  Norm norm_;
  std::size_t at_once_;
  std::vector<float> x_, dx_, squares_, products_;
};

}  // namespace

bool is_bf16_lrn(const LrnSpec& spec) {
  return spec.element == Element::bf16 && spec.beta == 0.75F;
}

std::unique_ptr<Lrn> make_bf16_lrn(const LrnSpec& spec) { return std::make_unique<Bf16Lrn>(spec); }

}  // namespace sterna::nets
