// Some pixels at a time become fp32, and are computed in passes that stay in the cache: squares of
// x, sums of them over windows, and what follows; for the gradient there are two such sums:
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

/// Of pixels in a row of memory; their windows' sums are taken over rows of `stride` numbers, in
/// each of which `radius` zeros stand before the channels, and enough behind.
struct Norm {
  std::size_t channels, radius, stride;
  float bias, alpha;
};

STERNA_AVX512_INLINE __m512 window_sum(const Norm& norm, const float* row, std::size_t k) {
  __m512 sum = _mm512_loadu_ps(row + k);
  for (std::size_t d = 1; d <= 2 * norm.radius; ++d) {
    sum = _mm512_add_ps(sum, _mm512_loadu_ps(row + k + d));
  }
  return sum;
}

STERNA_AVX512 void square(const Norm& norm, std::size_t pixels, const float* x, float* rows) {
  for (std::size_t i = 0; i < pixels; ++i, x += norm.channels, rows += norm.stride) {
    for (std::size_t k = 0; k < norm.channels; k += kLanes) {
      const __m512 value = _mm512_maskz_loadu_ps(kernels::lanes(k, norm.channels), x + k);
      _mm512_storeu_ps(rows + norm.radius + k, _mm512_mul_ps(value, value));
    }
  }
}

/// base^-1/4, whose powers are cheaper than further divisions.
STERNA_AVX512_INLINE __m512 fourth_root_under_one(const Norm& norm, const float* squares,
                                                  std::size_t k) {
  const __m512 sum = _mm512_mul_ps(_mm512_set1_ps(norm.alpha), window_sum(norm, squares, k));
  const __m512 base = _mm512_add_ps(_mm512_set1_ps(norm.bias), sum);
  return _mm512_div_ps(_mm512_set1_ps(1), _mm512_sqrt_ps(_mm512_sqrt_ps(base)));
}

STERNA_AVX512 void normalize(const Norm& norm, std::size_t pixels, const float* squares, float* x) {
  for (std::size_t i = 0; i < pixels; ++i, x += norm.channels, squares += norm.stride) {
    for (std::size_t k = 0; k < norm.channels; k += kLanes) {
      const __mmask16 live = kernels::lanes(k, norm.channels);
      const __m512 under = fourth_root_under_one(norm, squares, k);
      const __m512 factor = _mm512_mul_ps(under, _mm512_mul_ps(under, under));
      _mm512_mask_storeu_ps(x + k, live, _mm512_mul_ps(_mm512_maskz_loadu_ps(live, x + k), factor));
    }
  }
}

/// dy · base^-3/4 in place, and dy · x · base^-7/4 into rows.
STERNA_AVX512 void scale(const Norm& norm, std::size_t pixels, const float* x, const float* squares,
                         float* dy, float* products) {
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t k = 0; k < norm.channels; k += kLanes) {
      const __mmask16 live = kernels::lanes(k, norm.channels);
      const __m512 under = fourth_root_under_one(norm, squares, k);
      const __m512 factor = _mm512_mul_ps(under, _mm512_mul_ps(under, under));
      const __m512 scaled = _mm512_mul_ps(_mm512_maskz_loadu_ps(live, dy + k), factor);
      _mm512_mask_storeu_ps(dy + k, live, scaled);
      const __m512 product = _mm512_mul_ps(scaled, _mm512_maskz_loadu_ps(live, x + k));
      _mm512_storeu_ps(products + norm.radius + k,
                       _mm512_maskz_mul_ps(live, product, _mm512_mul_ps(under, factor)));
    }
    x += norm.channels;
    dy += norm.channels;
    squares += norm.stride;
    products += norm.stride;
  }
}

/// The rest of the gradient.
STERNA_AVX512 void subtract(const Norm& norm, std::size_t pixels, const float* x,
                            const float* products, float* dx) {
  const __m512 share = _mm512_set1_ps(1.5F * norm.alpha);
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t k = 0; k < norm.channels; k += kLanes) {
      const __mmask16 live = kernels::lanes(k, norm.channels);
      const __m512 value = _mm512_mul_ps(share, _mm512_maskz_loadu_ps(live, x + k));
      const __m512 others = _mm512_mul_ps(value, window_sum(norm, products, k));
      _mm512_mask_storeu_ps(dx + k, live,
                            _mm512_sub_ps(_mm512_maskz_loadu_ps(live, dx + k), others));
    }
    x += norm.channels;
    dx += norm.channels;
    products += norm.stride;
  }
}

class Bf16Lrn final : public Lrn {
 public:
  explicit Bf16Lrn(const LrnSpec& spec)
      : norm_{.channels = spec.input[1],
              .radius = spec.radius,
              .stride = spec.input[1] + kLanes + 2 * spec.radius,
              .bias = spec.bias,
              .alpha = spec.alpha},
        at_once_(std::max<std::size_t>(1, kElementsAtOnce / spec.input[1])),
        x_(at_once_ * norm_.channels),
        dx_(x_.size()),
        squares_(at_once_ * norm_.stride),
        products_(squares_.size()) {}

  void forward(const Tensor& x, Tensor& y) override {
    for_some(x, [&](std::size_t first, std::size_t pixels) {
      const std::span<float> values = std::span(x_).first(pixels * norm_.channels);
      read(x, first, values);
      square(norm_, pixels, values.data(), squares_.data());
      normalize(norm_, pixels, squares_.data(), values.data());
      write(values, y, first);
    });
  }
  void backward(const Tensor& x, const Tensor& dy, Tensor& dx) override {
    for_some(x, [&](std::size_t first, std::size_t pixels) {
      const std::span<float> values = std::span(x_).first(pixels * norm_.channels);
      const std::span<float> gradient = std::span(dx_).first(values.size());
      read(x, first, values);
      read(dy, first, gradient);
      square(norm_, pixels, values.data(), squares_.data());
      scale(norm_, pixels, values.data(), squares_.data(), gradient.data(), products_.data());
      subtract(norm_, pixels, values.data(), products_.data(), gradient.data());
      write(gradient, dx, first);
    });
  }

 private:
  /// visit(the first element, pixels)
  template <class Visit>
  void for_some(const Tensor& x, Visit visit) const {
    const std::size_t all = x.size() / norm_.channels;
    for (std::size_t i = 0; i < all; i += at_once_) {
      visit(i * norm_.channels, std::min(at_once_, all - i));
    }
  }

  Norm norm_;
  std::size_t at_once_;  // pixels
  std::vector<float> x_, dx_, squares_, products_;
};

}  // namespace

bool is_bf16_lrn(const LrnSpec& spec) {
  return spec.element == Element::bf16 && spec.beta == 0.75F;
}

std::unique_ptr<Lrn> make_bf16_lrn(const LrnSpec& spec) { return std::make_unique<Bf16Lrn>(spec); }

}  // namespace sterna::nets
