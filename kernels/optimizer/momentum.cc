// Momentum, as TensorFlow's without Nesterov: a' = m a + g; w' = w - lr a'.
#include "kernels/isa/lanes_avx2.h"
#include "kernels/isa/lanes_avx512.h"
#include "kernels/optimizer/momentum_key.h"
#include "kernels/optimizer/optimizer.h"

namespace sterna::kernels {
namespace {

constexpr NumberKey kKeys[] = {kMomentumKey};
constexpr float kSlots[] = {0};  // a

// lr, m
ConstantsOfStep constants(const Numbers& values) {
  return [m = static_cast<float>(values.at("momentum"))](double learning_rate, std::uint64_t) {
    return StepConstants{{static_cast<float>(learning_rate), m}};
  };
}

void step(const StepConstants& c, const StepTile& t) {
  const float lr = c.value[0];
  const float m = c.value[1];
  float* a = t.slots[0];
  for (std::size_t i = 0; i < t.count; ++i) {
    a[i] = m * a[i] + t.gradient[i];
    t.next[i] = t.current[i] - lr * a[i];
  }
}

STERNA_AVX2 void step_avx2(const StepConstants& c, const StepTile& t) {
  const __m256 lr = _mm256_set1_ps(c.value[0]);
  const __m256 m = _mm256_set1_ps(c.value[1]);
  float* slot = t.slots[0];
  for (std::size_t i = 0; i < t.count; i += 8) {
    const LiveLanes live = live_lanes(i, t.count);
    const __m256 g = load(t.gradient + i, live);
    const __m256 kept = _mm256_mul_ps(m, load(slot + i, live));
    const __m256 a = _mm256_add_ps(kept, g);
    const __m256 w = load(t.current + i, live);
    store(slot + i, live, a);
    store(t.next + i, live, _mm256_sub_ps(w, _mm256_mul_ps(lr, a)), t.past_cache);
  }
}

STERNA_AVX512 void step_avx512(const StepConstants& c, const StepTile& t) {
  const __m512 lr = _mm512_set1_ps(c.value[0]);
  const __m512 m = _mm512_set1_ps(c.value[1]);
  float* slot = t.slots[0];
  for (std::size_t i = 0; i < t.count; i += 16) {
    const __mmask16 live = lanes(i, t.count);
    const __m512 g = _mm512_maskz_loadu_ps(live, t.gradient + i);
    const __m512 kept = _mm512_mul_ps(m, _mm512_maskz_loadu_ps(live, slot + i));
    const __m512 a = _mm512_add_ps(kept, g);
    const __m512 w = _mm512_maskz_loadu_ps(live, t.current + i);
    _mm512_mask_storeu_ps(slot + i, live, a);
    store(t.next + i, live, _mm512_sub_ps(w, _mm512_mul_ps(lr, a)), t.past_cache);
  }
}

}  // namespace

Optimizer momentum_optimizer() {
  return {"momentum", kSlots, constants, step, step_avx2, step_avx512, kKeys};
}

}  // namespace sterna::kernels
