// Gradient descent: w' = w - lr g.
#include "kernels/isa/lanes_avx2.h"
#include "kernels/isa/lanes_avx512.h"
#include "kernels/optimizer/optimizer.h"

namespace sterna::kernels {
namespace {

// lr
ConstantsOfStep constants(const Numbers&) {
  return [](double learning_rate, std::uint64_t) {
    return StepConstants{{static_cast<float>(learning_rate)}};
  };
}

void step(const StepConstants& c, const StepTile& t) {
  const float lr = c.value[0];
  for (std::size_t i = 0; i < t.count; ++i) t.next[i] = t.current[i] - lr * t.gradient[i];
}

STERNA_AVX2 void step_avx2(const StepConstants& c, const StepTile& t) {
  const __m256 lr = _mm256_set1_ps(c.value[0]);
  for (std::size_t i = 0; i < t.count; i += 8) {
    const LiveLanes live = live_lanes(i, t.count);
    const __m256 g = load(t.gradient + i, live);
    const __m256 w = load(t.current + i, live);
    store(t.next + i, live, _mm256_sub_ps(w, _mm256_mul_ps(lr, g)), t.past_cache);
  }
}

STERNA_AVX512 void step_avx512(const StepConstants& c, const StepTile& t) {
  const __m512 lr = _mm512_set1_ps(c.value[0]);
  for (std::size_t i = 0; i < t.count; i += 16) {
    const __mmask16 live = lanes(i, t.count);
    const __m512 g = _mm512_maskz_loadu_ps(live, t.gradient + i);
    const __m512 w = _mm512_maskz_loadu_ps(live, t.current + i);
    store(t.next + i, live, _mm512_sub_ps(w, _mm512_mul_ps(lr, g)), t.past_cache);
  }
}

}  // namespace

Optimizer gd_optimizer() { return {"gd", {}, constants, step, step_avx2, step_avx512}; }

}  // namespace sterna::kernels
