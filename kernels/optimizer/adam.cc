// Adam (Kingma and Ba 2015) in TensorFlow's form, with epsilon outside of the correction:
// m' = m + (1 - b1) (g - m); v' = v + (1 - b2) (g g - v); w' = w - lr_t m' / (sqrt(v') + epsilon),
// where lr_t = lr sqrt(1 - b2^t) / (1 - b1^t) corrects the bias of m and v, which start at 0, and t
// counts the steps from 1.
//
// AdamW (Loshchilov and Hutter 2019, as PyTorch scales its decay) decays weights apart from all
// that, by d of each: w' = (w - (lr d) w) - lr_t m' / (sqrt(v') + epsilon).
#include <cmath>

#include "kernels/isa/lanes_avx2.h"
#include "kernels/isa/lanes_avx512.h"
#include "kernels/optimizer/optimizer.h"
#include "kernels/optimizer/power.h"

namespace sterna::kernels {
namespace {

constexpr Limits kBelowOne{.low = 0, .high = 1, .high_open = true};
constexpr NumberKey kKeys[] = {
    {"beta1", 0.9, kBelowOne, "for adam and adamw: how much of the mean gradient stays"},
    {"beta2", 0.999, kBelowOne, "for adam and adamw: how much of the mean square stays"},
    // An fp32 far from its denormals: 0 / (0 + epsilon) must stay 0.
    {"epsilon", 1e-8, {.low = 1e-30}, "for adam and adamw: added to the root of the mean square"}};
constexpr float kSlots[] = {0, 0};  // m, v

// lr_t, 1 - b1, 1 - b2, epsilon, lr
ConstantsOfStep constants(const Numbers& values) {
  return [b1 = values.at("beta1"), b2 = values.at("beta2"), epsilon = values.at("epsilon")](
             double learning_rate, std::uint64_t step) {
    const double unbiased_m = 1 - power(b1, step + 1);
    const double unbiased_v = 1 - power(b2, step + 1);
    return StepConstants{{static_cast<float>(learning_rate * std::sqrt(unbiased_v) / unbiased_m),
                          static_cast<float>(1 - b1), static_cast<float>(1 - b2),
                          static_cast<float>(epsilon), static_cast<float>(learning_rate)}};
  };
}

template <bool decays>
void step(const StepConstants& c, const StepTile& t) {
  const auto [lr_t, new_m, new_v, epsilon, lr] = c.value;
  const float shrink = lr * t.decay;
  float* m = t.slots[0];
  float* v = t.slots[1];
  for (std::size_t i = 0; i < t.count; ++i) {
    const float g = t.gradient[i];
    m[i] += new_m * (g - m[i]);
    v[i] += new_v * (g * g - v[i]);
    const float w = decays ? t.current[i] - shrink * t.current[i] : t.current[i];
    t.next[i] = w - lr_t * m[i] / (std::sqrt(v[i]) + epsilon);
  }
}

template <bool decays>
STERNA_AVX2 void step_avx2(const StepConstants& c, const StepTile& t) {
  const __m256 lr_t = _mm256_set1_ps(c.value[0]);
  const __m256 new_m = _mm256_set1_ps(c.value[1]);
  const __m256 new_v = _mm256_set1_ps(c.value[2]);
  const __m256 epsilon = _mm256_set1_ps(c.value[3]);
  const __m256 shrink = _mm256_set1_ps(c.value[4] * t.decay);
  for (std::size_t i = 0; i < t.count; i += 8) {
    const LiveLanes live = live_lanes(i, t.count);
    const __m256 g = load(t.gradient + i, live);
    const __m256 m0 = load(t.slots[0] + i, live);
    const __m256 v0 = load(t.slots[1] + i, live);
    __m256 w = load(t.current + i, live);
    if constexpr (decays) w = _mm256_sub_ps(w, _mm256_mul_ps(shrink, w));
    const __m256 m = _mm256_add_ps(m0, _mm256_mul_ps(new_m, _mm256_sub_ps(g, m0)));
    const __m256 squared = _mm256_mul_ps(g, g);
    const __m256 v = _mm256_add_ps(v0, _mm256_mul_ps(new_v, _mm256_sub_ps(squared, v0)));
    const __m256 root = _mm256_add_ps(_mm256_sqrt_ps(v), epsilon);
    const __m256 change = _mm256_div_ps(_mm256_mul_ps(lr_t, m), root);
    store(t.slots[0] + i, live, m);
    store(t.slots[1] + i, live, v);
    store(t.next + i, live, _mm256_sub_ps(w, change), t.past_cache);
  }
}

template <bool decays>
STERNA_AVX512 void step_avx512(const StepConstants& c, const StepTile& t) {
  const __m512 lr_t = _mm512_set1_ps(c.value[0]);
  const __m512 new_m = _mm512_set1_ps(c.value[1]);
  const __m512 new_v = _mm512_set1_ps(c.value[2]);
  const __m512 epsilon = _mm512_set1_ps(c.value[3]);
  const __m512 shrink = _mm512_set1_ps(c.value[4] * t.decay);
  for (std::size_t i = 0; i < t.count; i += 16) {
    const __mmask16 live = lanes(i, t.count);
    const __m512 g = _mm512_maskz_loadu_ps(live, t.gradient + i);
    const __m512 m0 = _mm512_maskz_loadu_ps(live, t.slots[0] + i);
    const __m512 v0 = _mm512_maskz_loadu_ps(live, t.slots[1] + i);
    __m512 w = _mm512_maskz_loadu_ps(live, t.current + i);
    if constexpr (decays) w = _mm512_sub_ps(w, _mm512_mul_ps(shrink, w));
    const __m512 m = _mm512_add_ps(m0, _mm512_mul_ps(new_m, _mm512_sub_ps(g, m0)));
    const __m512 squared = _mm512_mul_ps(g, g);
    const __m512 v = _mm512_add_ps(v0, _mm512_mul_ps(new_v, _mm512_sub_ps(squared, v0)));
    const __m512 root = _mm512_add_ps(_mm512_sqrt_ps(v), epsilon);
    const __m512 change = _mm512_div_ps(_mm512_mul_ps(lr_t, m), root);
    _mm512_mask_storeu_ps(t.slots[0] + i, live, m);
    _mm512_mask_storeu_ps(t.slots[1] + i, live, v);
    store(t.next + i, live, _mm512_sub_ps(w, change), t.past_cache);
  }
}

}  // namespace

Optimizer adam_optimizer() {
  return {"adam", kSlots, constants, step<false>, step_avx2<false>, step_avx512<false>, kKeys};
}

Optimizer adamw_optimizer() {
  return {.name = "adamw",
          .slots = kSlots,
          .constants = constants,
          .scalar = step<true>,
          .avx2 = step_avx2<true>,
          .avx512 = step_avx512<true>,
          .keys = kKeys,
          .decays = true};
}

}  // namespace sterna::kernels
