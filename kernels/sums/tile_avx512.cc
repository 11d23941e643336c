// 64 elements at a time: their four sums stay in registers while one rank after the other is added.
// The tile is no longer, so that the decoding of one overlaps the optimizer's wait for memory in
// another: with tiles of 512, 8 ranks took 5 % longer.
#include "kernels/isa/avx512.h"
#include "kernels/isa/lanes_avx512.h"
#include "kernels/sums/bf16_avx512.h"
#include "kernels/sums/tile.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kFetchAhead = 8 * kPlaneBlockBytes;

const std::byte* bytes_of(const Packet& packet) { return packet.payload.data(); }

STERNA_AVX512_INLINE __mmask16 load_mask(const std::byte* p) {
  __mmask16 mask = 0;
  __builtin_memcpy(&mask, p, sizeof mask);
  return mask;
}

// A zero trit leaves the sum's bits alone: the sum started at +0, so it is never -0.
STERNA_AVX512_INLINE __m512 add_trits(__m512 sum, __m512 scaler, const std::byte* nonzero) {
  const __mmask16 set = load_mask(nonzero);
  const __mmask16 negative = load_mask(nonzero + kPlaneBlockBytes / 2);
  const __m512 trit = _mm512_mask_xor_ps(scaler, negative, scaler, _mm512_set1_ps(-0.0F));
  return _mm512_mask_add_ps(sum, set, sum, trit);
}

STERNA_AVX512_INLINE __m512 add_fp32(__m512 sum, __mmask16 live, const std::byte* values) {
  return _mm512_add_ps(sum, _mm512_maskz_loadu_ps(live, values));
}

STERNA_AVX512_INLINE __m512 add_bf16(__m512 sum, __mmask16 live, const std::byte* values) {
  return _mm512_add_ps(sum, from_bf16(_mm256_maskz_loadu_epi16(live, values)));
}

const std::byte* nonzero_at(const std::byte* planes, std::size_t element) {
  return planes + element / kPlaneBlock * kPlaneBlockBytes + element % kPlaneBlock / 8;
}

// The address may be behind the end: a prefetch does not fault, and an integer may point anywhere.
STERNA_AVX512_INLINE void fetch(const std::byte* planes, std::size_t element) {
  const std::uintptr_t block =
      reinterpret_cast<std::uintptr_t>(planes) + element / kPlaneBlock * kPlaneBlockBytes;
  // NOLINTBEGIN(performance-no-int-to-ptr)
  _mm_prefetch(reinterpret_cast<const char*>(block + kFetchAhead), _MM_HINT_T0);
  _mm_prefetch(reinterpret_cast<const char*>(block + kFetchAhead + 64), _MM_HINT_T0);
  // NOLINTEND(performance-no-int-to-ptr)
}

STERNA_AVX512 __m512 sum_sixteen(const Packet* packets, std::size_t ranks, std::size_t at,
                                 __mmask16 live) {
  __m512 sum = _mm512_setzero_ps();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::byte* payload = bytes_of(packets[rank]);
    switch (packets[rank].packing) {
      case Packing::planes:
        sum = add_trits(sum, _mm512_set1_ps(packets[rank].scaler), nonzero_at(payload, at));
        break;
      case Packing::fp32:
        sum = add_fp32(sum, live, payload + at * sizeof(float));
        break;
      case Packing::bf16:
        sum = add_bf16(sum, live, payload + 2 * at);
        break;
    }
  }
  return sum;
}

// The inverse of a power of two is exact, so the product is the quotient, bit by bit, and faster.
struct Divisor {
  bool exact_inverse;
  __m512 by;
};

STERNA_AVX512_INLINE __m512 divide(__m512 sum, const Divisor& divisor) {
  return divisor.exact_inverse ? _mm512_mul_ps(sum, divisor.by) : _mm512_div_ps(sum, divisor.by);
}

STERNA_AVX512 void average(const Packet* packets, std::size_t ranks, std::size_t begin,
                           std::size_t count, float* out) {
  const bool exact = (ranks & (ranks - 1)) == 0;
  const auto k = static_cast<float>(ranks);
  const Divisor divisor{exact, _mm512_set1_ps(exact ? 1.0F / k : k)};
  constexpr __mmask16 kAll = 0xFFFF;
  std::size_t i = 0;
  for (; i + 64 <= count; i += 64) {
    const std::size_t at = begin + i;
    __m512 sum0 = _mm512_setzero_ps();
    __m512 sum1 = _mm512_setzero_ps();
    __m512 sum2 = _mm512_setzero_ps();
    __m512 sum3 = _mm512_setzero_ps();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::byte* payload = bytes_of(packets[rank]);
      if (packets[rank].packing == Packing::planes) {
        const __m512 scaler = _mm512_set1_ps(packets[rank].scaler);
        const std::byte* nonzero = nonzero_at(payload, at);
        // Each block is fetched once, each rank's at another time.
        if ((at / 64 + rank) % 8 == 0) fetch(payload, at);
        sum0 = add_trits(sum0, scaler, nonzero);
        sum1 = add_trits(sum1, scaler, nonzero + 2);
        sum2 = add_trits(sum2, scaler, nonzero + 4);
        sum3 = add_trits(sum3, scaler, nonzero + 6);
      } else if (packets[rank].packing == Packing::fp32) {
        const std::byte* values = payload + at * sizeof(float);
        sum0 = add_fp32(sum0, kAll, values);
        sum1 = add_fp32(sum1, kAll, values + 64);
        sum2 = add_fp32(sum2, kAll, values + 128);
        sum3 = add_fp32(sum3, kAll, values + 192);
      } else {
        const std::byte* values = payload + 2 * at;
        sum0 = add_bf16(sum0, kAll, values);
        sum1 = add_bf16(sum1, kAll, values + 32);
        sum2 = add_bf16(sum2, kAll, values + 64);
        sum3 = add_bf16(sum3, kAll, values + 96);
      }
    }
    _mm512_storeu_ps(out + i, divide(sum0, divisor));
    _mm512_storeu_ps(out + i + 16, divide(sum1, divisor));
    _mm512_storeu_ps(out + i + 32, divide(sum2, divisor));
    _mm512_storeu_ps(out + i + 48, divide(sum3, divisor));
  }
  for (; i < count; i += 16) {
    const __mmask16 live = lanes(i, count);
    const __m512 sum = sum_sixteen(packets, ranks, begin + i, live);
    _mm512_mask_storeu_ps(out + i, live, divide(sum, divisor));
  }
}

STERNA_AVX512 void add_decay(float decay, const float* w, std::size_t count, float* g) {
  const __m512 d = _mm512_set1_ps(decay);
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 live = lanes(i, count);
    const __m512 decayed = _mm512_mul_ps(d, _mm512_maskz_loadu_ps(live, w + i));
    const __m512 before = _mm512_maskz_loadu_ps(live, g + i);
    _mm512_mask_storeu_ps(g + i, live, _mm512_add_ps(before, decayed));
  }
}

}  // namespace

TileKernels avx512_tiles() { return {64, average, add_decay}; }

}  // namespace sterna::kernels
