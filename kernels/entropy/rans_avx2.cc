// Eight states in a vector, four vectors side by side. AVX2 picks no lanes by a mask: a table of
// shuffles says for each mask where its lanes' words go to, or come from.
#include "kernels/entropy/rans.h"
#include "kernels/isa/avx2.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kLanes = 8;
constexpr std::size_t kVectors = kRansLanes / kLanes;
constexpr std::size_t kMostBytes = 2 * kLanes;  // of words, where every lane has one
constexpr std::size_t kMasks = 1U << kLanes;

/// By a mask of lanes: how kMostBytes are shuffled.
struct alignas(16) Shuffles {
  std::uint8_t of[kMasks][kMostBytes];
};
constexpr std::uint8_t kZero = 0x80;  // a byte of zeros

/// The words of the lanes that are set, in order, as the last ones.
constexpr Shuffles words_to_end() {
  Shuffles shuffles{};
  for (std::size_t mask = 0; mask < kMasks; ++mask) {
    std::size_t to = kMostBytes;
    for (std::size_t lane = kLanes; lane-- > 0;) {
      if ((mask >> lane & 1U) == 0) continue;
      shuffles.of[mask][--to] = static_cast<std::uint8_t>(2 * lane + 1);
      shuffles.of[mask][--to] = static_cast<std::uint8_t>(2 * lane);
    }
    while (to > 0) shuffles.of[mask][--to] = kZero;
  }
  return shuffles;
}

/// The first words, in order, in the lanes that are set; 0 in the others.
constexpr Shuffles words_to_lanes() {
  Shuffles shuffles{};
  for (std::size_t mask = 0; mask < kMasks; ++mask) {
    std::uint8_t from = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const bool set = (mask >> lane & 1U) != 0;
      shuffles.of[mask][2 * lane] = set ? from++ : kZero;
      shuffles.of[mask][2 * lane + 1] = set ? from++ : kZero;
    }
  }
  return shuffles;
}

constexpr Shuffles kWordsToEnd = words_to_end();
constexpr Shuffles kWordsToLanes = words_to_lanes();

STERNA_AVX2_INLINE __m128i shuffle(__m128i bytes, const std::uint8_t* how) {
  return _mm_shuffle_epi8(bytes, _mm_load_si128(reinterpret_cast<const __m128i*>(how)));
}

STERNA_AVX2_INLINE __m256i load(const std::uint32_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

STERNA_AVX2_INLINE void store(std::uint32_t* p, __m256i x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x);
}

STERNA_AVX2_INLINE __m256i field(__m256i entries, int at) {
  return _mm256_and_si256(_mm256_srli_epi32(entries, at), _mm256_set1_epi32(kRansSlots - 1));
}

STERNA_AVX2_INLINE unsigned mask_of(__m256i lanes) {
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)));
}

/// The bytes of words that the lanes of a mask have.
STERNA_AVX2_INLINE std::size_t bytes_of(unsigned mask) {
  return 2 * static_cast<std::size_t>(__builtin_popcount(mask));
}

/// The lower halves of eight lanes.
STERNA_AVX2_INLINE __m128i lower_words(__m256i x) {
  const __m256i lower = _mm256_and_si256(x, _mm256_set1_epi32(0xFFFF));
  return _mm_packus_epi32(_mm256_castsi256_si128(lower), _mm256_extracti128_si256(lower, 1));
}

/// The upper halves of the 64-bit products.
STERNA_AVX2_INLINE __m256i multiply_high(__m256i a, __m256i b) {
  const __m256i even = _mm256_srli_epi64(_mm256_mul_epu32(a, b), 32);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32));
  return _mm256_blend_epi32(even, odd, 0xAA);
}

// Writes kMostBytes below `words`, of which those that no word takes are garbage: their places are
// those of the words that are still to come, as each symbol has room for one.
STERNA_AVX2_INLINE __m256i encode8(__m256i entry, __m256i reciprocal, __m256i x,
                                   std::byte*& words) {
  const __m256i f = field(entry, RansEncodeTable::kFrequencyAt);
  const __m256i small = _mm256_cmpgt_epi32(f, _mm256_srli_epi32(x, 32 - kRansSlotBits));
  const unsigned full = mask_of(small) ^ (kMasks - 1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(words - kMostBytes),
                   shuffle(lower_words(x), kWordsToEnd.of[full]));
  words -= bytes_of(full);
  x = _mm256_srlv_epi32(x, _mm256_andnot_si256(small, _mm256_set1_epi32(16)));
  const __m256i carry = _mm256_srli_epi32(entry, RansEncodeTable::kCarryAt);
  const __m256i shift =
      _mm256_and_si256(_mm256_srli_epi32(entry, RansEncodeTable::kShiftAt), _mm256_set1_epi32(15));
  const __m256i quotient =
      _mm256_srlv_epi32(multiply_high(_mm256_add_epi32(x, carry), reciprocal), shift);
  // floor(x / f) * 4096 + x mod f = x + floor(x / f) * (4096 - f)
  const __m256i grown = _mm256_add_epi32(
      x, _mm256_mullo_epi32(quotient, _mm256_sub_epi32(_mm256_set1_epi32(kRansSlots), f)));
  return _mm256_add_epi32(grown, field(entry, 0));
}

/// The symbols of eight lanes are left in their lowest bytes.
STERNA_AVX2_INLINE __m256i decode8(const RansDecodeTable& table, __m256i x, const std::byte*& words,
                                   __m256i& symbols) {
  const __m256i slot = _mm256_and_si256(x, _mm256_set1_epi32(kRansSlots - 1));
  const __m256i entry =
      _mm256_i32gather_epi32(reinterpret_cast<const int*>(table.entry), slot, sizeof(int));
  symbols = _mm256_srli_epi32(entry, RansDecodeTable::kSymbolAt);
  x = _mm256_add_epi32(_mm256_mullo_epi32(field(entry, RansDecodeTable::kFrequencyAt),
                                          _mm256_srli_epi32(x, kRansSlotBits)),
                       field(entry, 0));
  const __m256i small = _mm256_cmpeq_epi32(_mm256_srli_epi32(x, 16), _mm256_setzero_si256());
  const unsigned mask = mask_of(small);
  const __m128i next = _mm_loadu_si128(reinterpret_cast<const __m128i*>(words));
  words += bytes_of(mask);
  const __m256i low = _mm256_cvtepu16_epi32(shuffle(next, kWordsToLanes.of[mask]));
  const __m256i shift = _mm256_and_si256(small, _mm256_set1_epi32(16));
  return _mm256_or_si256(_mm256_sllv_epi32(x, shift), low);
}

/// What encoding needs of one step's symbols. Looked up one by one, which is faster than by
/// gathers where those are microcode.
struct Entries {
  std::uint32_t entry[kRansLanes];
  std::uint32_t reciprocal[kRansLanes];
};

STERNA_AVX2_INLINE void look_up(const RansEncodeTable& table, const std::byte* symbols,
                                Entries& found) {
  for (std::size_t i = 0; i < kRansLanes; ++i) {
    const auto symbol = static_cast<std::size_t>(symbols[i]);
    found.entry[i] = table.entry[symbol];
    found.reciprocal[i] = table.reciprocal[symbol];
  }
}

}  // namespace

STERNA_AVX2 std::byte* rans_encode_avx2(const RansEncodeTable& table, const std::byte* symbols,
                                        std::size_t count, RansStates& states, std::byte* words) {
  __m256i x[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) x[v] = load(states.lane + kLanes * v);
  for (std::size_t i = count; i > 0;) {
    i -= kRansLanes;
    Entries found;
    look_up(table, symbols + i, found);
#pragma GCC unroll 4
    for (std::size_t v = kVectors; v-- > 0;) {
      x[v] =
          encode8(load(found.entry + kLanes * v), load(found.reciprocal + kLanes * v), x[v], words);
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) store(states.lane + kLanes * v, x[v]);
  return words;
}

STERNA_AVX2 bool rans_decode_avx2(const RansDecodeTable& table, RansWords& words,
                                  RansStates& states, std::byte* symbols, std::size_t count) {
  __m256i x[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) x[v] = load(states.lane + kLanes * v);
  // Packing twice interleaves the vectors' halves, four symbols at a time.
  const __m256i in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (std::size_t i = 0; i < count; i += kRansLanes) {
    words.prepare_step();
    const std::byte* next = words.next;
    __m256i found[kVectors];
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kVectors; ++v) x[v] = decode8(table, x[v], next, found[v]);
    if (next > words.end) return false;
    words.next = next;
    const __m256i packed = _mm256_packus_epi16(_mm256_packus_epi32(found[0], found[1]),
                                               _mm256_packus_epi32(found[2], found[3]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(symbols + i),
                        _mm256_permutevar8x32_epi32(packed, in_order));
  }
  for (std::size_t v = 0; v < kVectors; ++v) store(states.lane + kLanes * v, x[v]);
  return true;
}

}  // namespace sterna::kernels
