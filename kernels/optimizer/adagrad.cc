// Adagrad (Duchi et al. 2011) in TensorFlow's form, without an epsilon: s' = s + g g;
// w' = w - lr g / sqrt(s'), where s starts at 0.1.
#include <cmath>

#include "kernels/isa/lanes_avx2.h"
#include "kernels/isa/lanes_avx512.h"
#include "kernels/optimizer/optimizer.h"

namespace sterna::kernels {
namespace {

constexpr float kSlots[] = {0.1F};  // s

// lr
ConstantsOfStep constants(const Numbers&) {
  return [](double learning_rate, std::uint64_t) {
    return StepConstants{{static_cast<float>(learning_rate)}};
  };
}

void step(const StepConstants& c, const StepTile& t) {
  const float lr = c.value[0];
  float* s = t.slots[0];
  for (std::size_t i = 0; i < t.count; ++i) {
    const float g = t.gradient[i];
    s[i] += g * g;
    t.next[i] = t.current[i] - lr * g / std::sqrt(s[i]);
  }
}

STERNA_AVX2 void step_avx2(const StepConstants& c, const StepTile& t) {
  const __m256 lr = _mm256_set1_ps(c.value[0]);
  float* slot = t.slots[0];
  for (std::size_t i = 0; i < t.count; i += 8) {
    const LiveLanes live = live_lanes(i, t.count);
    const __m256 g = load(t.gradient + i, live);
    const __m256 s0 = load(slot + i, live);
    const __m256 s = _mm256_add_ps(s0, _mm256_mul_ps(g, g));
    const __m256 w = load(t.current + i, live);
    const __m256 change = _mm256_div_ps(_mm256_mul_ps(lr, g), _mm256_sqrt_ps(s));
    store(slot + i, live, s);
    store(t.next + i, live, _mm256_sub_ps(w, change), t.past_cache);
  }
}

STERNA_AVX512 void step_avx512(const StepConstants& c, const StepTile& t) {
  const __m512 lr = _mm512_set1_ps(c.value[0]);
  float* slot = t.slots[0];
  for (std::size_t i = 0; i < t.count; i += 16) {
    const __mmask16 live = lanes(i, t.count);
    const __m512 g = _mm512_maskz_loadu_ps(live, t.gradient + i);
    const __m512 s0 = _mm512_maskz_loadu_ps(live, slot + i);
    const __m512 s = _mm512_add_ps(s0, _mm512_mul_ps(g, g));
    const __m512 w = _mm512_maskz_loadu_ps(live, t.current + i);
    const __m512 change = _mm512_div_ps(_mm512_mul_ps(lr, g), _mm512_sqrt_ps(s));
    _mm512_mask_storeu_ps(slot + i, live, s);
    store(t.next + i, live, _mm512_sub_ps(w, change), t.past_cache);
  }
}

}  // namespace

Optimizer adagrad_optimizer() {
  return {"adagrad", kSlots, constants, step, step_avx2, step_avx512};
}

}  // namespace sterna::kernels
