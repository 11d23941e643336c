// A block of 512 elements is 16 rows of 32 elements; column i has one Philox call, of which row j
// takes word j / 4, rotated. So 32 calls, one per column, side by side in vector lanes, serve the
// block without a transpose, and each row gives 32 bits of either plane.
//
// The generator runs in 64-bit lanes whose upper halves are left dirty: vpmuludq reads the lower
// halves only. Two such vectors, the even and the odd columns, then make one of 32-bit lanes.
#include "kernels/avx512.h"
#include "kernels/philox.h"
#include "kernels/stream.h"
#include "kernels/ternary_blocks.h"

namespace sterna::kernels {
namespace {

// The four counter words of eight columns.
struct Lanes {
  __m512i w0, w1, w2, w3;
};

struct Keys {
  __m512i k0, k1;
};

constexpr int xor3 = 0x96;  // vpternlog's table for a ^ b ^ c

STERNA_AVX512 inline __attribute__((always_inline)) Lanes philox_round(const Lanes& c,
                                                                       const Keys& key) {
  const __m512i product0 = _mm512_mul_epu32(c.w0, _mm512_set1_epi64(Philox::multiplier0));
  const __m512i product1 = _mm512_mul_epu32(c.w2, _mm512_set1_epi64(Philox::multiplier1));
  return {_mm512_ternarylogic_epi64(_mm512_srli_epi64(product1, 32), c.w1, key.k0, xor3), product1,
          _mm512_ternarylogic_epi64(_mm512_srli_epi64(product0, 32), c.w3, key.k1, xor3), product0};
}

// 32-bit lanes from the lower halves: even columns from `even`, odd ones from `odd`.
STERNA_AVX512 inline __attribute__((always_inline)) __m512i interleave(__m512i even, __m512i odd) {
  return _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
}

// Four rows from one word of all 32 columns: `low` columns 0 to 15, `high` columns 16 to 31.
STERNA_AVX512 inline __attribute__((always_inline)) void four_rows(const float* g, __m512 k,
                                                                   __m512i low, __m512i high,
                                                                   std::byte* nonzero,
                                                                   std::byte* negative) {
  for (std::size_t row = 0; row < 4; ++row) {
    const __m512 g0 = _mm512_loadu_ps(g + 32 * row);
    const __m512 g1 = _mm512_loadu_ps(g + 32 * row + 16);
    // Out of range, the conversion gives 2^32 - 1: the saturation of the definition.
    const __m512i t0 = _mm512_cvttps_epu32(_mm512_mul_ps(_mm512_abs_ps(g0), k));
    const __m512i t1 = _mm512_cvttps_epu32(_mm512_mul_ps(_mm512_abs_ps(g1), k));
    const __mmask16 set0 = _mm512_cmplt_epu32_mask(low, t0);
    const __mmask16 set1 = _mm512_cmplt_epu32_mask(high, t1);
    const __m512i zero = _mm512_setzero_si512();
    const __mmask16 minus0 = _mm512_mask_cmplt_epi32_mask(set0, _mm512_castps_si512(g0), zero);
    const __mmask16 minus1 = _mm512_mask_cmplt_epi32_mask(set1, _mm512_castps_si512(g1), zero);
    const __mmask32 set = _mm512_kunpackw(set1, set0);
    const __mmask32 minus = _mm512_kunpackw(minus1, minus0);
    __builtin_memcpy(nonzero + 4 * row, &set, sizeof set);
    __builtin_memcpy(negative + 4 * row, &minus, sizeof minus);
    low = _mm512_rol_epi32(low, 8);
    high = _mm512_rol_epi32(high, 8);
  }
}

}  // namespace

STERNA_AVX512 void ternarize_blocks_avx512(const float* gradient, std::size_t blocks, float k,
                                           BlockDraw draw, std::byte* planes) {
  const __m512 kk = _mm512_set1_ps(k);
  const __m512i columns = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  const __m512i step = _mm512_set1_epi64(draw.step);
  const __m512i rank_tensor = _mm512_set1_epi64(draw.rank_tensor);
  const __m512i stream = _mm512_set1_epi64(static_cast<std::uint32_t>(Stream::ternary));
  const Keys key{_mm512_set1_epi64(static_cast<std::uint32_t>(draw.key)),
                 _mm512_set1_epi64(static_cast<std::uint32_t>(draw.key >> 32))};
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::uint32_t base = draw.counter0 + static_cast<std::uint32_t>(block) * draws_per_block;
    const __m512i first = _mm512_add_epi64(columns, _mm512_set1_epi64(base));
    Lanes even_low{first, step, rank_tensor, stream};
    Lanes odd_low{_mm512_add_epi64(first, _mm512_set1_epi64(1)), step, rank_tensor, stream};
    Lanes even_high{_mm512_add_epi64(first, _mm512_set1_epi64(16)), step, rank_tensor, stream};
    Lanes odd_high{_mm512_add_epi64(first, _mm512_set1_epi64(17)), step, rank_tensor, stream};
    Keys round_key = key;
    for (int round = 0; round < Philox::rounds; ++round) {
      even_low = philox_round(even_low, round_key);
      odd_low = philox_round(odd_low, round_key);
      even_high = philox_round(even_high, round_key);
      odd_high = philox_round(odd_high, round_key);
      round_key.k0 = _mm512_add_epi32(round_key.k0, _mm512_set1_epi64(Philox::weyl0));
      round_key.k1 = _mm512_add_epi32(round_key.k1, _mm512_set1_epi64(Philox::weyl1));
    }
    const float* g = gradient + block * plane_block;
    std::byte* nonzero = planes + block * plane_block_bytes;
    std::byte* negative = nonzero + plane_block_bytes / 2;
    four_rows(g, kk, interleave(even_low.w0, odd_low.w0), interleave(even_high.w0, odd_high.w0),
              nonzero, negative);
    four_rows(g + 128, kk, interleave(even_low.w1, odd_low.w1),
              interleave(even_high.w1, odd_high.w1), nonzero + 16, negative + 16);
    four_rows(g + 256, kk, interleave(even_low.w2, odd_low.w2),
              interleave(even_high.w2, odd_high.w2), nonzero + 32, negative + 32);
    four_rows(g + 384, kk, interleave(even_low.w3, odd_low.w3),
              interleave(even_high.w3, odd_high.w3), nonzero + 48, negative + 48);
  }
}

STERNA_AVX512 void decode_blocks_avx512(const std::byte* planes, float scaler, float* out,
                                        std::size_t count) {
  const __m512 plus = _mm512_set1_ps(scaler);
  const __m512 minus = _mm512_set1_ps(-scaler);
  for (std::size_t i = 0; i < count; i += 16) {
    const std::byte* nonzero = planes + i / plane_block * plane_block_bytes + i % plane_block / 8;
    __mmask16 set = 0;
    __mmask16 negative = 0;
    __builtin_memcpy(&set, nonzero, sizeof set);
    __builtin_memcpy(&negative, nonzero + plane_block_bytes / 2, sizeof negative);
    const __m512 v = _mm512_maskz_mov_ps(set, _mm512_mask_blend_ps(negative, plus, minus));
    if (i + 16 <= count) {
      _mm512_storeu_ps(out + i, v);
    } else {
      _mm512_mask_storeu_ps(out + i, static_cast<__mmask16>((1U << (count - i)) - 1U), v);
    }
  }
}

}  // namespace sterna::kernels
