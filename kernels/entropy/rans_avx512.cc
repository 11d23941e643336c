// 16 states in a vector, two vectors side by side; the table is read by gathers. A step takes about
// as long as its chain of dependent instructions, so that the second vector is nearly free.
#include "kernels/entropy/rans.h"
#include "kernels/isa/avx512.h"

namespace sterna::kernels {
namespace {

// Symbols 0 to 15 of a step in .low, 16 to 31 in .high.
struct TwoVectors {
  __m512i low, high;
};

STERNA_AVX512_INLINE TwoVectors load(const RansStates& states) {
  return {_mm512_loadu_si512(states.lane), _mm512_loadu_si512(states.lane + 16)};
}

STERNA_AVX512_INLINE void store(const TwoVectors& x, RansStates& states) {
  _mm512_storeu_si512(states.lane, x.low);
  _mm512_storeu_si512(states.lane + 16, x.high);
}

STERNA_AVX512_INLINE __m512i field(__m512i entries, unsigned at) {
  return _mm512_and_si512(_mm512_srli_epi32(entries, at), _mm512_set1_epi32(kRansSlots - 1));
}

STERNA_AVX512_INLINE __m512i bytes_at(const std::byte* p) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

// The upper halves of the 64-bit products.
STERNA_AVX512_INLINE __m512i multiply_high(__m512i a, __m512i b) {
  const __m512i even = _mm512_srli_epi64(_mm512_mul_epu32(a, b), 32);
  const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32));
  return _mm512_mask_blend_epi32(0xAAAA, even, odd);
}

STERNA_AVX512_INLINE __m512i encode16(const RansEncodeTable& table, __m512i symbols, __m512i x,
                                      std::byte*& words) {
  const __m512i entry = _mm512_i32gather_epi32(symbols, table.entry, 4);
  const __m512i reciprocal = _mm512_i32gather_epi32(symbols, table.reciprocal, 4);
  const __m512i f = field(entry, RansEncodeTable::kFrequencyAt);
  const __mmask16 full = _mm512_cmpge_epu32_mask(_mm512_srli_epi32(x, 32 - kRansSlotBits), f);
  const auto written = static_cast<std::size_t>(__builtin_popcount(full));
  words -= 2 * written;
  _mm256_mask_storeu_epi16(words, static_cast<__mmask16>((1U << written) - 1U),
                           _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(full, x)));
  x = _mm512_mask_srli_epi32(x, full, x, 16);
  const __m512i carry = _mm512_srli_epi32(entry, RansEncodeTable::kCarryAt);
  const __m512i shift =
      _mm512_and_si512(_mm512_srli_epi32(entry, RansEncodeTable::kShiftAt), _mm512_set1_epi32(15));
  const __m512i quotient =
      _mm512_srlv_epi32(multiply_high(_mm512_add_epi32(x, carry), reciprocal), shift);
  // floor(x / f) * 4096 + x mod f = x + floor(x / f) * (4096 - f)
  const __m512i grown = _mm512_add_epi32(
      x, _mm512_mullo_epi32(quotient, _mm512_sub_epi32(_mm512_set1_epi32(kRansSlots), f)));
  return _mm512_add_epi32(grown, field(entry, 0));
}

STERNA_AVX512_INLINE __m512i decode16(const RansDecodeTable& table, __m512i x,
                                      const std::byte*& words, std::byte* symbols) {
  const __m512i slot = _mm512_and_si512(x, _mm512_set1_epi32(kRansSlots - 1));
  const __m512i entry = _mm512_i32gather_epi32(slot, table.entry, 4);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(symbols),
                   _mm512_cvtepi32_epi8(_mm512_srli_epi32(entry, RansDecodeTable::kSymbolAt)));
  x = _mm512_add_epi32(_mm512_mullo_epi32(field(entry, RansDecodeTable::kFrequencyAt),
                                          _mm512_srli_epi32(x, kRansSlotBits)),
                       field(entry, 0));
  const __mmask16 small = _mm512_cmplt_epu32_mask(x, _mm512_set1_epi32(kRansLowestState));
  const __m512i next =
      _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(words)));
  words += 2 * static_cast<std::size_t>(__builtin_popcount(small));
  const __m512i low = _mm512_maskz_expand_epi32(small, next);
  return _mm512_or_si512(_mm512_mask_slli_epi32(x, small, x, 16), low);
}

}  // namespace

STERNA_AVX512 std::byte* rans_encode_avx512(const RansEncodeTable& table, const std::byte* symbols,
                                            std::size_t count, RansStates& states,
                                            std::byte* words) {
  TwoVectors x = load(states);
  for (std::size_t i = count; i > 0;) {
    i -= kRansLanes;
    x.high = encode16(table, bytes_at(symbols + i + 16), x.high, words);
    x.low = encode16(table, bytes_at(symbols + i), x.low, words);
  }
  store(x, states);
  return words;
}

STERNA_AVX512 bool rans_decode_avx512(const RansDecodeTable& table, RansWords& words,
                                      RansStates& states, std::byte* symbols, std::size_t count) {
  TwoVectors x = load(states);
  for (std::size_t i = 0; i < count; i += kRansLanes) {
    words.prepare_step();
    const std::byte* next = words.next;
    x.low = decode16(table, x.low, next, symbols + i);
    x.high = decode16(table, x.high, next, symbols + i + 16);
    if (next > words.end) return false;
    words.next = next;
  }
  store(x, states);
  return true;
}

}  // namespace sterna::kernels
