// Decoding sums, 32 elements at a time: each plane's word adds its weight to the lanes it has set.
#include "kernels/sums/sums_blocks.h"
#include "kernels/sums/words_avx2.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kPlane = kPlaneBlockBytes / 2;

}  // namespace

STERNA_AVX2 void decode_sum_blocks_avx2(const std::byte* sums, std::size_t planes, float factor,
                                        std::size_t count, float* out) {
  const __m256 scale = _mm256_set1_ps(factor);
  for (std::size_t i = 0; i < count; i += kWordElements) {
    const std::byte* word = sums + i / kPlaneBlock * planes * kPlane + i % kPlaneBlock / 8;
    __m256i found[kWordVectors] = {};
    for (std::size_t plane = 0; plane < planes; ++plane) {
      const __m256i bits = word_of(word + plane * kPlane);
      const int weight = plane + 1 < planes ? 1 << plane : -(1 << plane);
      for (std::size_t v = 0; v < kWordVectors; ++v) {
        const __m256i part = _mm256_and_si256(lanes_set(bits, v), _mm256_set1_epi32(weight));
        found[v] = _mm256_add_epi32(found[v], part);
      }
    }
    __m256 values[kWordVectors];
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      values[v] = _mm256_mul_ps(_mm256_cvtepi32_ps(found[v]), scale);
    }
    const std::size_t live = count - i < kWordElements ? count - i : kWordElements;
    __builtin_memcpy(out + i, values, live * sizeof(float));
  }
}

}  // namespace sterna::kernels
