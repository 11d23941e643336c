// A plane of a block is one vector. Eight ranks are added in carry-save form: two vpternlog make
// one bit of weight w and one of weight 2w from three of weight w, and only the last carries
// ripple.
#include "kernels/isa/avx512.h"
#include "kernels/sums/sums_blocks.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kPlaneBytes = kPlaneBlockBytes / 2;
/// How far ahead of its use a rank's block is fetched: many ranks are more streams than the
/// hardware follows well.
constexpr std::size_t kFetchAhead = 8 * kPlaneBlockBytes;

constexpr int kXor3 = 0x96;      // vpternlog's table for a ^ b ^ c
constexpr int kMajority = 0xE8;  // ... and for "at least two of a, b, c"

STERNA_AVX512_INLINE __m512i load(const void* p) { return _mm512_loadu_si512(p); }

STERNA_AVX512_INLINE void store(std::byte* p, __m512i v, bool past_cache) {
  if (past_cache) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(p), v);
  } else {
    _mm512_storeu_si512(p, v);
  }
}

// The address may be behind the end: a prefetch does not fault, and an integer may point anywhere.
STERNA_AVX512_INLINE void fetch(const std::byte* block) {
  const std::uintptr_t ahead = reinterpret_cast<std::uintptr_t>(block) + kFetchAhead;
  // NOLINTBEGIN(performance-no-int-to-ptr)
  _mm_prefetch(reinterpret_cast<const char*>(ahead), _MM_HINT_T0);
  _mm_prefetch(reinterpret_cast<const char*>(ahead + 64), _MM_HINT_T0);
  // NOLINTEND(performance-no-int-to-ptr)
}

// Adds b and c to a; the carry of twice the weight.
STERNA_AVX512_INLINE __m512i add(__m512i& a, __m512i b, __m512i c) {
  const __m512i carry = _mm512_ternarylogic_epi64(a, b, c, kMajority);
  a = _mm512_ternarylogic_epi64(a, b, c, kXor3);
  return carry;
}

STERNA_AVX512_INLINE __m512i add(__m512i& a, __m512i b) {
  const __m512i carry = _mm512_and_si512(a, b);
  a = _mm512_xor_si512(a, b);
  return carry;
}

// Four ranks' bits into ones and twos: three carries of weight 4.
struct Fours {
  __m512i a, b, c;
};

STERNA_AVX512_INLINE Fours add_four(const std::byte* const* trits, __m512i& ones, __m512i& twos) {
  const __m512i all = _mm512_set1_epi64(-1);
  const __m512i low = add(ones, load(trits[0]), load(trits[1]));
  const __m512i high = add(ones, load(trits[2]), load(trits[3]));
  const __m512i p0 = _mm512_xor_si512(load(trits[0] + kPlaneBytes), all);
  const __m512i p1 = _mm512_xor_si512(load(trits[1] + kPlaneBytes), all);
  const __m512i p2 = _mm512_xor_si512(load(trits[2] + kPlaneBytes), all);
  const __m512i p3 = _mm512_xor_si512(load(trits[3] + kPlaneBytes), all);
  Fours fours;
  fours.a = add(twos, low, p0);
  fours.b = add(twos, p1, p2);
  fours.c = add(twos, p3, high);
  return fours;
}

}  // namespace

STERNA_AVX512 void add_trits_avx512(const TritAddition& addition) {
  const TritAddition a = addition;
  const auto* nobody = reinterpret_cast<const std::byte*>(&kAbsent);
  const std::byte* before = a.before;
  std::byte* sums = a.sums;
  for (std::size_t block = 0; block < a.blocks; ++block) {
    const std::byte* from[kSumGroup];
    for (std::size_t rank = 0; rank < kSumGroup; ++rank) {
      from[rank] = rank < a.ranks ? a.trits[rank] + block * kPlaneBlockBytes : nobody;
      if (rank < a.ranks) fetch(from[rank]);
    }
    __m512i ones = load(before);
    __m512i twos = load(before + kPlaneBytes);
    const Fours first = add_four(from, ones, twos);
    const Fours second = add_four(from + 4, ones, twos);
    store(sums, ones, a.past_cache);
    store(sums + kPlaneBytes, twos, a.past_cache);
    if (a.planes > 2) {
      __m512i fours = load(before + 2 * kPlaneBytes);
      const __m512i eight0 = add(fours, first.a, first.b);
      const __m512i eight1 = add(fours, first.c, second.a);
      const __m512i eight2 = add(fours, second.b, second.c);
      store(sums + 2 * kPlaneBytes, fours, a.past_cache);
      if (a.planes > 3) {
        __m512i eights = load(before + 3 * kPlaneBytes);
        const __m512i sixteen0 = add(eights, eight0, eight1);
        const __m512i sixteen1 = add(eights, eight2);
        store(sums + 3 * kPlaneBytes, eights, a.past_cache);
        if (a.planes > 4) {
          __m512i sixteens = load(before + 4 * kPlaneBytes);
          __m512i carry = add(sixteens, sixteen0, sixteen1);
          store(sums + 4 * kPlaneBytes, sixteens, a.past_cache);
          for (std::size_t plane = 5; plane < a.planes; ++plane) {
            __m512i sum = load(before + plane * kPlaneBytes);
            carry = add(sum, carry);
            store(sums + plane * kPlaneBytes, sum, a.past_cache);
          }
        }
      }
    }
    before += a.before_step;
    sums += a.planes * kPlaneBytes;
  }
  if (a.past_cache) _mm_sfence();
}

STERNA_AVX512 void decode_sum_blocks_avx512(const std::byte* sums, std::size_t planes, float factor,
                                            std::size_t count, float* out) {
  const __m512 scale = _mm512_set1_ps(factor);
  for (std::size_t i = 0; i < count; i += 16) {
    const std::byte* bits = sums + i / kPlaneBlock * planes * kPlaneBytes + i % kPlaneBlock / 8;
    __m512 sum = _mm512_setzero_ps();  // integers of at most 17 bits: fp32 adds them exactly
    __m512 weight = _mm512_set1_ps(1.0F);
    for (std::size_t plane = 0; plane < planes; ++plane) {
      __mmask16 set = 0;
      __builtin_memcpy(&set, bits + plane * kPlaneBytes, sizeof set);
      sum = plane + 1 < planes ? _mm512_mask_add_ps(sum, set, sum, weight)
                               : _mm512_mask_sub_ps(sum, set, sum, weight);
      weight = _mm512_add_ps(weight, weight);
    }
    const __m512 value = _mm512_mul_ps(sum, scale);
    if (i + 16 <= count) {
      _mm512_storeu_ps(out + i, value);
    } else {
      _mm512_mask_storeu_ps(out + i, static_cast<__mmask16>((1U << (count - i)) - 1U), value);
    }
  }
}

STERNA_AVX512 bool out_of_range_avx512(const std::byte* sums, std::size_t blocks,
                                       std::size_t planes, std::uint32_t ranks) {
  const std::uint32_t zero = 1U << (planes - 1);
  const std::uint32_t least = zero - ranks;
  const std::uint32_t most = zero + ranks;
  const __m512i all = _mm512_set1_epi64(-1);
  __m512i stray = _mm512_setzero_si512();
  for (std::size_t block = 0; block < blocks; ++block, sums += planes * kPlaneBytes) {
    __m512i like_least = all;
    __m512i like_most = all;
    for (std::size_t plane = planes; plane-- > 0;) {
      __m512i bits = load(sums + plane * kPlaneBytes);
      if (plane + 1 == planes) bits = _mm512_xor_si512(bits, all);
      if ((least >> plane & 1U) != 0) {
        stray = _mm512_or_si512(stray, _mm512_andnot_si512(bits, like_least));
        like_least = _mm512_and_si512(like_least, bits);
      } else {
        like_least = _mm512_andnot_si512(bits, like_least);
      }
      if ((most >> plane & 1U) != 0) {
        like_most = _mm512_and_si512(like_most, bits);
      } else {
        stray = _mm512_or_si512(stray, _mm512_and_si512(like_most, bits));
        like_most = _mm512_andnot_si512(bits, like_most);
      }
    }
  }
  return _mm512_test_epi64_mask(stray, stray) != 0;
}

}  // namespace sterna::kernels
