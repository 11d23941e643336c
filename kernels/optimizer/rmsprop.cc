// RMSProp with momentum in TensorFlow's form, with epsilon under the root: s' = s + (1 - d) (g g -
// s); a' = m a + lr g / sqrt(s' + epsilon); w' = w - a', where s starts at 1. Epsilon is 1 in
// TernGrad, which makes of it little more than momentum while gradients are small.
#include <cmath>

#include "kernels/isa/lanes_avx2.h"
#include "kernels/isa/lanes_avx512.h"
#include "kernels/optimizer/momentum_key.h"
#include "kernels/optimizer/optimizer.h"

namespace sterna::kernels {
namespace {

constexpr NumberKey kKeys[] = {
    kMomentumKey,
    {"rms_decay",
     0.9,
     {.low = 0, .high = 1, .high_open = true},
     "for rmsprop: how much of the mean square stays"},
    // With 0 a parameter that has had no gradient for long would be divided by 0.
    {"rms_epsilon", 1, {.low = 1e-30}, "for rmsprop: added to the mean square, under the root"}};
constexpr float kSlots[] = {1, 0};  // s, a

// lr, m, 1 - d, epsilon
ConstantsOfStep constants(const Numbers& values) {
  return [m = values.at("momentum"), d = values.at("rms_decay"),
          epsilon = values.at("rms_epsilon")](double learning_rate, std::uint64_t) {
    return StepConstants{{static_cast<float>(learning_rate), static_cast<float>(m),
                          static_cast<float>(1 - d), static_cast<float>(epsilon)}};
  };
}

void step(const StepConstants& c, const StepTile& t) {
  const float lr = c.value[0];
  const float m = c.value[1];
  const float new_s = c.value[2];
  const float epsilon = c.value[3];
  float* s = t.slots[0];
  float* a = t.slots[1];
  for (std::size_t i = 0; i < t.count; ++i) {
    const float g = t.gradient[i];
    s[i] += new_s * (g * g - s[i]);
    a[i] = m * a[i] + lr * g / std::sqrt(s[i] + epsilon);
    t.next[i] = t.current[i] - a[i];
  }
}

STERNA_AVX2 void step_avx2(const StepConstants& c, const StepTile& t) {
  const __m256 lr = _mm256_set1_ps(c.value[0]);
  const __m256 m = _mm256_set1_ps(c.value[1]);
  const __m256 new_s = _mm256_set1_ps(c.value[2]);
  const __m256 epsilon = _mm256_set1_ps(c.value[3]);
  for (std::size_t i = 0; i < t.count; i += 8) {
    const LiveLanes live = live_lanes(i, t.count);
    const __m256 g = load(t.gradient + i, live);
    const __m256 s0 = load(t.slots[0] + i, live);
    const __m256 a0 = load(t.slots[1] + i, live);
    const __m256 w = load(t.current + i, live);
    const __m256 grown = _mm256_sub_ps(_mm256_mul_ps(g, g), s0);
    const __m256 s = _mm256_add_ps(s0, _mm256_mul_ps(new_s, grown));
    const __m256 root = _mm256_sqrt_ps(_mm256_add_ps(s, epsilon));
    const __m256 change = _mm256_div_ps(_mm256_mul_ps(lr, g), root);
    const __m256 a = _mm256_add_ps(_mm256_mul_ps(m, a0), change);
    store(t.slots[0] + i, live, s);
    store(t.slots[1] + i, live, a);
    store(t.next + i, live, _mm256_sub_ps(w, a), t.past_cache);
  }
}

STERNA_AVX512 void step_avx512(const StepConstants& c, const StepTile& t) {
  const __m512 lr = _mm512_set1_ps(c.value[0]);
  const __m512 m = _mm512_set1_ps(c.value[1]);
  const __m512 new_s = _mm512_set1_ps(c.value[2]);
  const __m512 epsilon = _mm512_set1_ps(c.value[3]);
  for (std::size_t i = 0; i < t.count; i += 16) {
    const __mmask16 live = lanes(i, t.count);
    const __m512 g = _mm512_maskz_loadu_ps(live, t.gradient + i);
    const __m512 s0 = _mm512_maskz_loadu_ps(live, t.slots[0] + i);
    const __m512 a0 = _mm512_maskz_loadu_ps(live, t.slots[1] + i);
    const __m512 w = _mm512_maskz_loadu_ps(live, t.current + i);
    const __m512 grown = _mm512_sub_ps(_mm512_mul_ps(g, g), s0);
    const __m512 s = _mm512_add_ps(s0, _mm512_mul_ps(new_s, grown));
    const __m512 root = _mm512_sqrt_ps(_mm512_add_ps(s, epsilon));
    const __m512 change = _mm512_div_ps(_mm512_mul_ps(lr, g), root);
    const __m512 a = _mm512_add_ps(_mm512_mul_ps(m, a0), change);
    _mm512_mask_storeu_ps(t.slots[0] + i, live, s);
    _mm512_mask_storeu_ps(t.slots[1] + i, live, a);
    store(t.next + i, live, _mm512_sub_ps(w, a), t.past_cache);
  }
}

}  // namespace

Optimizer rmsprop_optimizer() {
  return {"rmsprop", kSlots, constants, step, step_avx2, step_avx512, kKeys};
}

}  // namespace sterna::kernels
