#include "kernels/optimizer/moving_average.h"

#include <algorithm>

#include "kernels/isa/lanes_avx2.h"
#include "kernels/isa/lanes_avx512.h"

namespace sterna::kernels {
namespace {

void move_scalar(float part, const AverageTile& t) {
  for (std::size_t i = 0; i < t.count; ++i) {
    t.next_average[i] = t.average[i] - part * (t.average[i] - t.made[i]);
    t.next[i] = t.made[i];
  }
}

STERNA_AVX2 void move_avx2(float part, const AverageTile& t) {
  const __m256 moved = _mm256_set1_ps(part);
  for (std::size_t i = 0; i < t.count; i += 8) {
    const LiveLanes live = live_lanes(i, t.count);
    const __m256 w = load(t.made + i, live);
    const __m256 e = load(t.average + i, live);
    const __m256 change = _mm256_mul_ps(moved, _mm256_sub_ps(e, w));
    store(t.next_average + i, live, _mm256_sub_ps(e, change));
    store(t.next + i, live, w, t.past_cache);
  }
}

STERNA_AVX512 void move_avx512(float part, const AverageTile& t) {
  const __m512 moved = _mm512_set1_ps(part);
  for (std::size_t i = 0; i < t.count; i += 16) {
    const __mmask16 live = lanes(i, t.count);
    const __m512 w = _mm512_maskz_loadu_ps(live, t.made + i);
    const __m512 e = _mm512_maskz_loadu_ps(live, t.average + i);
    const __m512 change = _mm512_mul_ps(moved, _mm512_sub_ps(e, w));
    _mm512_mask_storeu_ps(t.next_average + i, live, _mm512_sub_ps(e, change));
    store(t.next + i, live, w, t.past_cache);
  }
}

/// There are few of them: one way for every instruction set.
void take_in(const StepConstants& c, const StepTile& t) {
  const float part = c.value[0];
  for (std::size_t i = 0; i < t.count; ++i) {
    t.next[i] = t.current[i] - part * (t.current[i] - t.gradient[i]);
  }
}

}  // namespace

Optimizer statistics_rule() {
  return {.name = "statistics", .scalar = take_in, .avx2 = take_in, .avx512 = take_in};
}

float average_part(double decay, std::uint64_t step) {
  const auto n = static_cast<double>(step);
  return static_cast<float>(1 - std::min(decay, (1 + n) / (10 + n)));
}

void move_average(float part, const AverageTile& tile, Isa isa) {
  twin(isa, move_scalar, move_avx2, move_avx512)(part, tile);
}

}  // namespace sterna::kernels
