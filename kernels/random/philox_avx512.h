// Philox for the 32 columns of a block of planes (kernels/trits/TRITS.md), in AVX-512. For .cc
// files only.
//
// The generator runs in 64-bit lanes whose upper halves are left dirty: vpmuludq reads the lower
// halves only. Two such vectors, the even and the odd columns, make one of 32-bit lanes at the end.
//
// Only counter word 0 differs between the columns and blocks of a tensor, so the first round's
// second product and the second round's first are constants of the tensor (about 8% gained), and
// the first round's first product goes up by a constant from block to block. The last round makes
// its words from both vectors at once (4%). The round keys come from memory, which costs no cycle
// of the two vector ports that all this is bound by (4%).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa/avx512.h"
#include "kernels/random/philox.h"
#include "kernels/random/stream.h"

namespace sterna::kernels {

/// What the columns of all blocks share.
struct ColumnPlan {
  /// Round r adds keys[r][0] to word 0 and keys[r][1] to word 2, with what else is constant there.
  std::uint64_t keys[Philox::kRounds][2];
};

/// The four words of 16 columns.
struct ColumnWords {
  __m512i word[4];
};

/// The words of columns 0 to 15 and of columns 16 to 31.
struct BlockWords {
  ColumnWords low, high;
};

/// The four counter words of eight columns.
struct ColumnLanes {
  __m512i w0, w1, w2, w3;
};

/// Of columns 0, 2, ... 14; of 1, 3, ... 15; and of those 16 further.
struct BlockLanes {
  ColumnLanes even_low, odd_low, even_high, odd_high;
};

inline ColumnPlan plan_columns(const BlockDraw& draw) {
  ColumnPlan plan;
  auto key0 = static_cast<std::uint32_t>(draw.key);
  auto key1 = static_cast<std::uint32_t>(draw.key >> 32);
  for (auto& key : plan.keys) {
    key[0] = key0;
    key[1] = key1;
    key0 += Philox::kWeyl0;
    key1 += Philox::kWeyl1;
  }
  const std::uint64_t product1 = std::uint64_t{Philox::kMultiplier1} * draw.rank_tensor;
  const std::uint64_t word0 = (product1 >> 32) ^ draw.step ^ plan.keys[0][0];
  const std::uint64_t product0 = Philox::kMultiplier0 * word0;
  plan.keys[0][1] ^= static_cast<std::uint32_t>(Stream::ternary);
  plan.keys[1][0] ^= static_cast<std::uint32_t>(product1);
  plan.keys[1][1] ^= product0 >> 32;
  plan.keys[2][1] ^= static_cast<std::uint32_t>(product0);
  return plan;
}

STERNA_AVX512_INLINE __m512i round_key(const ColumnPlan& plan, int round, int half) {
  return _mm512_set1_epi64(static_cast<long long>(plan.keys[round][half]));
}

STERNA_AVX512_INLINE __m512i upper(__m512i x) { return _mm512_srli_epi64(x, 32); }

STERNA_AVX512_INLINE __m512i xor3(__m512i a, __m512i b, __m512i c) {
  return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

STERNA_AVX512_INLINE __m512i times0(__m512i x) {
  return _mm512_mul_epu32(x, _mm512_set1_epi64(Philox::kMultiplier0));
}

STERNA_AVX512_INLINE __m512i times1(__m512i x) {
  return _mm512_mul_epu32(x, _mm512_set1_epi64(Philox::kMultiplier1));
}

/// 32-bit lanes from the lower halves: even columns from `even`, odd ones from `odd`.
STERNA_AVX512_INLINE __m512i join_lower(__m512i even, __m512i odd) {
  return _mm512_mask_shuffle_epi32(even, 0xAAAA, odd, _MM_PERM_CCAA);
}

/// The same from the upper halves.
STERNA_AVX512_INLINE __m512i join_upper(__m512i even, __m512i odd) {
  return _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
}

/// The third round's input; `product` is the first round's.
STERNA_AVX512_INLINE ColumnLanes two_rounds(__m512i product, const ColumnPlan& plan) {
  const __m512i second = _mm512_xor_si512(upper(product), round_key(plan, 0, 1));
  const __m512i product1 = times1(second);
  return {_mm512_xor_si512(upper(product1), round_key(plan, 1, 0)), product1,
          _mm512_xor_si512(product, round_key(plan, 1, 1)), _mm512_setzero_si512()};
}

STERNA_AVX512_INLINE ColumnLanes one_round(const ColumnLanes& c, const ColumnPlan& plan,
                                           int round) {
  const __m512i product0 = times0(c.w0);
  const __m512i product1 = times1(c.w2);
  return {xor3(upper(product1), c.w1, round_key(plan, round, 0)), product1,
          xor3(upper(product0), c.w3, round_key(plan, round, 1)), product0};
}

STERNA_AVX512_INLINE ColumnWords last_round(const ColumnLanes& even, const ColumnLanes& odd,
                                            const ColumnPlan& plan) {
  constexpr int kLast = Philox::kRounds - 1;
  const auto key0 = static_cast<int>(plan.keys[kLast][0]);
  const auto key1 = static_cast<int>(plan.keys[kLast][1]);
  const __m512i even0 = times0(even.w0);
  const __m512i even1 = times1(even.w2);
  const __m512i odd0 = times0(odd.w0);
  const __m512i odd1 = times1(odd.w2);
  return {{xor3(join_upper(even1, odd1), join_lower(even.w1, odd.w1), _mm512_set1_epi32(key0)),
           join_lower(even1, odd1),
           xor3(join_upper(even0, odd0), join_lower(even.w3, odd.w3), _mm512_set1_epi32(key1)),
           join_lower(even0, odd0)}};
}

/// All columns of a block on their way from counters to words: the first two rounds are behind
/// them.
STERNA_AVX512_INLINE BlockLanes begin_block(std::uint32_t base, const ColumnPlan& plan) {
  constexpr long long kM = Philox::kMultiplier0;
  const std::uint64_t product = std::uint64_t{Philox::kMultiplier0} * base;
  const __m512i start = _mm512_set1_epi64(static_cast<long long>(product));
  const __m512i columns =
      _mm512_setr_epi64(0, 2 * kM, 4 * kM, 6 * kM, 8 * kM, 10 * kM, 12 * kM, 14 * kM);
  const __m512i first = _mm512_add_epi64(start, columns);
  return {two_rounds(first, plan), two_rounds(_mm512_add_epi64(first, _mm512_set1_epi64(kM)), plan),
          two_rounds(_mm512_add_epi64(first, _mm512_set1_epi64(16 * kM)), plan),
          two_rounds(_mm512_add_epi64(first, _mm512_set1_epi64(17 * kM)), plan)};
}

/// Rounds 2 to 8, one after the other.
STERNA_AVX512_INLINE void next_round(BlockLanes& lanes, const ColumnPlan& plan, int round) {
  lanes.even_low = one_round(lanes.even_low, plan, round);
  lanes.odd_low = one_round(lanes.odd_low, plan, round);
  lanes.even_high = one_round(lanes.even_high, plan, round);
  lanes.odd_high = one_round(lanes.odd_high, plan, round);
}

STERNA_AVX512_INLINE BlockWords end_block(const BlockLanes& lanes, const ColumnPlan& plan) {
  return {last_round(lanes.even_low, lanes.odd_low, plan),
          last_round(lanes.even_high, lanes.odd_high, plan)};
}

}  // namespace sterna::kernels
