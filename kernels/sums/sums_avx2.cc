// Adding trits half a plane at a time, as sums_avx512.cc adds whole ones. Decoding sums, 32
// elements at a time: each plane's word is a bit of each.
#include "kernels/sums/sums_blocks.h"
#include "kernels/sums/words_avx2.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kPlane = kPlaneBlockBytes / 2;
constexpr std::size_t kHalf = kPlane / 2;

STERNA_AVX2_INLINE __m256i load(const std::byte* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

STERNA_AVX2_INLINE void store(std::byte* p, __m256i v, bool past_cache) {
  auto* to = reinterpret_cast<__m256i*>(p);
  if (past_cache) {
    _mm256_stream_si256(to, v);
  } else {
    _mm256_storeu_si256(to, v);
  }
}

STERNA_AVX2_INLINE __m256i inverted(__m256i v) {
  return _mm256_xor_si256(v, _mm256_set1_epi32(-1));
}

// Adds b and c to a; the carry of twice the weight.
STERNA_AVX2_INLINE __m256i add(__m256i& a, __m256i b, __m256i c) {
  const __m256i either = _mm256_xor_si256(a, b);
  const __m256i carry = _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(either, c));
  a = _mm256_xor_si256(either, c);
  return carry;
}

STERNA_AVX2_INLINE __m256i add(__m256i& a, __m256i b) {
  const __m256i carry = _mm256_and_si256(a, b);
  a = _mm256_xor_si256(a, b);
  return carry;
}

// Four ranks' bits into ones and twos: three carries of weight 4.
struct Fours {
  __m256i a, b, c;
};

STERNA_AVX2_INLINE Fours add_four(const std::byte* const* trits, std::size_t half, __m256i& ones,
                                  __m256i& twos) {
  const __m256i low = add(ones, load(trits[0] + half), load(trits[1] + half));
  const __m256i high = add(ones, load(trits[2] + half), load(trits[3] + half));
  const __m256i p0 = inverted(load(trits[0] + kPlane + half));
  const __m256i p1 = inverted(load(trits[1] + kPlane + half));
  const __m256i p2 = inverted(load(trits[2] + kPlane + half));
  const __m256i p3 = inverted(load(trits[3] + kPlane + half));
  Fours fours;
  fours.a = add(twos, low, p0);
  fours.b = add(twos, p1, p2);
  fours.c = add(twos, p3, high);
  return fours;
}

/// A half of each plane of a block; `before` and `sums` are that half of the lowest ones.
STERNA_AVX2_INLINE void add_half(const std::byte* const* trits, std::size_t half,
                                 std::size_t planes, const std::byte* before, std::byte* sums,
                                 bool past_cache) {
  __m256i ones = load(before);
  __m256i twos = load(before + kPlane);
  const Fours first = add_four(trits, half, ones, twos);
  const Fours second = add_four(trits + 4, half, ones, twos);
  store(sums, ones, past_cache);
  store(sums + kPlane, twos, past_cache);
  if (planes == 2) return;
  __m256i fours = load(before + 2 * kPlane);
  const __m256i eight0 = add(fours, first.a, first.b);
  const __m256i eight1 = add(fours, first.c, second.a);
  const __m256i eight2 = add(fours, second.b, second.c);
  store(sums + 2 * kPlane, fours, past_cache);
  if (planes == 3) return;
  __m256i eights = load(before + 3 * kPlane);
  const __m256i sixteen0 = add(eights, eight0, eight1);
  const __m256i sixteen1 = add(eights, eight2);
  store(sums + 3 * kPlane, eights, past_cache);
  if (planes == 4) return;
  __m256i sixteens = load(before + 4 * kPlane);
  __m256i carry = add(sixteens, sixteen0, sixteen1);
  store(sums + 4 * kPlane, sixteens, past_cache);
  for (std::size_t plane = 5; plane < planes; ++plane) {
    __m256i sum = load(before + plane * kPlane);
    carry = add(sum, carry);
    store(sums + plane * kPlane, sum, past_cache);
  }
}

/// 32 sums.
struct Integers {
  __m256i of[kWordVectors];
};

STERNA_AVX2_INLINE Integers integers(const std::byte* word, std::size_t planes) {
  Integers found{};
  for (std::size_t plane = 0; plane < planes; ++plane) {
    const __m256i bits = word_of(word + plane * kPlane);
    const int weight = plane + 1 < planes ? 1 << plane : -(1 << plane);
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      const __m256i part = _mm256_and_si256(lanes_set(bits, v), _mm256_set1_epi32(weight));
      found.of[v] = _mm256_add_epi32(found.of[v], part);
    }
  }
  return found;
}

/// The same of up to 8 planes, in half the time.
STERNA_AVX2_INLINE Integers integers_of_bytes(const std::byte* word, std::size_t planes) {
  const __m256i sign = _mm256_set1_epi8(static_cast<char>(1U << (planes - 1)));
  const __m256i bits = _mm256_xor_si256(word_bytes(word, planes), sign);
  const __m256i bytes = _mm256_sub_epi8(bits, sign);
  const __m128i low = _mm256_castsi256_si128(bytes);
  const __m128i high = _mm256_extracti128_si256(bytes, 1);
  return {{_mm256_cvtepi8_epi32(low), _mm256_cvtepi8_epi32(_mm_srli_si128(low, 8)),
           _mm256_cvtepi8_epi32(high), _mm256_cvtepi8_epi32(_mm_srli_si128(high, 8))}};
}

}  // namespace

STERNA_AVX2 void add_trits_avx2(const TritAddition& addition) {
  const TritAddition a = addition;
  const auto* nobody = reinterpret_cast<const std::byte*>(&kAbsent);
  const std::byte* before = a.before;
  std::byte* sums = a.sums;
  for (std::size_t block = 0; block < a.blocks; ++block) {
    const std::byte* from[kSumGroup];
    for (std::size_t rank = 0; rank < kSumGroup; ++rank) {
      from[rank] = rank < a.ranks ? a.trits[rank] + block * kPlaneBlockBytes : nobody;
    }
    add_half(from, 0, a.planes, before, sums, a.past_cache);
    add_half(from, kHalf, a.planes, before + kHalf, sums + kHalf, a.past_cache);
    before += a.before_step;
    sums += a.planes * kPlane;
  }
  if (a.past_cache) _mm_sfence();
}

STERNA_AVX2 void decode_sum_blocks_avx2(const std::byte* sums, std::size_t planes, float factor,
                                        std::size_t count, float* out) {
  const __m256 scale = _mm256_set1_ps(factor);
  for (std::size_t i = 0; i < count; i += kWordElements) {
    const std::byte* word = sums + i / kPlaneBlock * planes * kPlane + i % kPlaneBlock / 8;
    Integers found;
    if (planes <= 8) {
      found = integers_of_bytes(word, planes);
    } else {
      found = integers(word, planes);
    }
    __m256 values[kWordVectors];
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      values[v] = _mm256_mul_ps(_mm256_cvtepi32_ps(found.of[v]), scale);
    }
    const std::size_t live = count - i < kWordElements ? count - i : kWordElements;
    __builtin_memcpy(out + i, values, live * sizeof(float));
  }
}

STERNA_AVX2 bool out_of_range_avx2(const std::byte* sums, std::size_t blocks, std::size_t planes,
                                   std::uint32_t ranks) {
  const std::uint32_t zero = 1U << (planes - 1);
  const std::uint32_t least = zero - ranks;
  const std::uint32_t most = zero + ranks;
  const __m256i all = _mm256_set1_epi32(-1);
  __m256i stray = _mm256_setzero_si256();
  for (std::size_t half = 0; half < 2 * blocks; ++half) {
    const std::byte* place = sums + half / 2 * planes * kPlane + half % 2 * kHalf;
    __m256i like_least = all;
    __m256i like_most = all;
    for (std::size_t plane = planes; plane-- > 0;) {
      __m256i bits = load(place + plane * kPlane);
      if (plane + 1 == planes) bits = inverted(bits);
      if ((least >> plane & 1U) != 0) {
        stray = _mm256_or_si256(stray, _mm256_andnot_si256(bits, like_least));
        like_least = _mm256_and_si256(like_least, bits);
      } else {
        like_least = _mm256_andnot_si256(bits, like_least);
      }
      if ((most >> plane & 1U) != 0) {
        like_most = _mm256_and_si256(like_most, bits);
      } else {
        stray = _mm256_or_si256(stray, _mm256_and_si256(like_most, bits));
        like_most = _mm256_andnot_si256(bits, like_most);
      }
    }
  }
  return _mm256_testz_si256(stray, stray) == 0;
}

}  // namespace sterna::kernels
