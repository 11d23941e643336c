// Signs of four words at a time, as the instructions that gather bits (BMI2) are slow on some CPUs
// with AVX2: their bits are moved in six steps, by distances of powers of two (Warren, Hacker's
// Delight, section 7-4). Sums 32 at a time: a plane's bits are spread over a vector's bytes.
#include "kernels/entropy/entropy_symbols.h"
#include "kernels/entropy/sign_words.h"
#include "kernels/sums/words_avx2.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kPlaneBytes = kPlaneBlockBytes / 2;
constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
constexpr std::size_t kVectorWords = 4;
constexpr std::size_t kVectorBytes = kVectorWords * kWordBytes;
constexpr int kMoves = 6;

STERNA_AVX2_INLINE std::uint64_t load(const std::byte* p) {
  std::uint64_t v = 0;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

STERNA_AVX2_INLINE void store(std::byte* p, std::uint64_t v) { __builtin_memcpy(p, &v, sizeof v); }

STERNA_AVX2_INLINE __m256i load_vector(const std::byte* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

STERNA_AVX2_INLINE void store_vector(std::byte* p, __m256i v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
}

/// Which bits move down by 1, 2, 4, ... 32, one after the other, so that those of a mask come
/// together at the bottom of each word.
struct Moves {
  __m256i by[kMoves];
};

/// Each bit becomes the parity of itself and those below it.
STERNA_AVX2_INLINE __m256i parities(__m256i x) {
  x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 1));
  x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 2));
  x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 4));
  x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 8));
  x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 16));
  return _mm256_xor_si256(x, _mm256_slli_epi64(x, 32));
}

STERNA_AVX2_INLINE Moves moves_of(__m256i mask) {
  Moves moves;
  // Counts for each bit those below it that are not set, a digit at a time.
  __m256i counted = _mm256_slli_epi64(_mm256_andnot_si256(mask, _mm256_set1_epi32(-1)), 1);
#pragma GCC unroll 6
  for (int move = 0; move < kMoves; ++move) {
    const __m256i odd = parities(counted);
    moves.by[move] = _mm256_and_si256(odd, mask);
    mask = _mm256_or_si256(_mm256_xor_si256(mask, moves.by[move]),
                           _mm256_srli_epi64(moves.by[move], 1 << move));
    counted = _mm256_andnot_si256(odd, counted);
  }
  return moves;
}

/// The bits of `x`, none of which is outside of the mask, to the bottom of each word.
STERNA_AVX2_INLINE __m256i compress(__m256i x, const Moves& moves) {
#pragma GCC unroll 6
  for (int move = 0; move < kMoves; ++move) {
    const __m256i moved = _mm256_and_si256(x, moves.by[move]);
    x = _mm256_or_si256(_mm256_xor_si256(x, moved), _mm256_srli_epi64(moved, 1 << move));
  }
  return x;
}

/// Back; what has no place in the mask is anywhere.
STERNA_AVX2_INLINE __m256i expand(__m256i x, const Moves& moves) {
#pragma GCC unroll 6
  for (int move = kMoves - 1; move >= 0; --move) {
    const __m256i moved = _mm256_and_si256(_mm256_slli_epi64(x, 1 << move), moves.by[move]);
    x = _mm256_or_si256(_mm256_andnot_si256(moves.by[move], x), moved);
  }
  return x;
}

/// Bits above the planes are ignored.
STERNA_AVX2_INLINE void write32(__m256i elements, std::byte* bits, std::size_t planes) {
  for (std::size_t plane = 0; plane < planes; ++plane) {
    const __m128i to_top = _mm_cvtsi64_si128(static_cast<long long>(7 - plane));
    const int set = _mm256_movemask_epi8(_mm256_sll_epi16(elements, to_top));
    __builtin_memcpy(bits + plane * kPlaneBytes, &set, sizeof set);
  }
}

}  // namespace

STERNA_AVX2 std::size_t pack_signs_avx2(const std::byte* planes, std::size_t blocks,
                                        std::byte* signs) {
  SignWriter writer{signs};
  for (; blocks > 0; --blocks, planes += kPlaneBlockBytes) {
    for (std::size_t i = 0; i < kPlaneBytes; i += kVectorBytes) {
      const __m256i nonzero = load_vector(planes + i);
      const __m256i negative = _mm256_and_si256(load_vector(planes + kPlaneBytes + i), nonzero);
      alignas(32) std::byte compressed[kVectorBytes];
      store_vector(compressed, compress(negative, moves_of(nonzero)));
#pragma GCC unroll 4
      for (std::size_t w = 0; w < kVectorBytes; w += kWordBytes) {
        writer.append(load(compressed + w), load(planes + i + w));
      }
    }
  }
  writer.finish();
  return writer.count;
}

STERNA_AVX2 void unpack_signs_avx2(const std::byte* signs, std::size_t blocks, std::byte* planes) {
  SignReader reader{signs};
  for (; blocks > 0; --blocks, planes += kPlaneBlockBytes) {
    for (std::size_t i = 0; i < kPlaneBytes; i += kVectorBytes) {
      alignas(32) std::byte compressed[kVectorBytes];
#pragma GCC unroll 4
      for (std::size_t w = 0; w < kVectorBytes; w += kWordBytes) {
        store(compressed + w, reader.take(load(planes + i + w)));
      }
      const __m256i nonzero = load_vector(planes + i);
      const __m256i negative = expand(load_vector(compressed), moves_of(nonzero));
      store_vector(planes + kPlaneBytes + i, _mm256_and_si256(negative, nonzero));
    }
  }
}

STERNA_AVX2 void read_symbols_avx2(const SymbolLayout& layout, const std::byte* planes,
                                   std::size_t blocks, std::byte* symbols) {
  if (layout.kind != Symbols::pairs && layout.kind != Symbols::singles) {
    return read_symbols(layout, planes, blocks, symbols);
  }
  const __m128i upper = _mm_cvtsi64_si128(static_cast<long long>(layout.planes));
  const std::size_t block_bytes = layout.planes * kPlaneBytes;
  for (; blocks > 0; --blocks, planes += block_bytes) {
    for (std::size_t i = 0; i < kPlaneBytes; i += kWordBytes) {
      const __m256i low = word_bytes(planes + i, layout.planes);
      const __m256i high = word_bytes(planes + i + kWordBytes / 2, layout.planes);
      if (layout.kind == Symbols::singles) {
        store_vector(symbols, low);
        store_vector(symbols + kVectorBytes, high);
        symbols += 2 * kVectorBytes;
      } else {
        store_vector(symbols, _mm256_or_si256(low, _mm256_sll_epi16(high, upper)));
        symbols += kVectorBytes;
      }
    }
  }
}

STERNA_AVX2 void write_symbols_avx2(const SymbolLayout& layout, const std::byte* symbols,
                                    std::size_t blocks, std::byte* planes) {
  if (layout.kind != Symbols::pairs && layout.kind != Symbols::singles) {
    return write_symbols(layout, symbols, blocks, planes);
  }
  const __m128i upper = _mm_cvtsi64_si128(static_cast<long long>(layout.planes));
  const std::size_t block_bytes = layout.planes * kPlaneBytes;
  for (; blocks > 0; --blocks, planes += block_bytes) {
    for (std::size_t i = 0; i < kPlaneBytes; i += kWordBytes) {
      const __m256i low = load_vector(symbols);
      __m256i high;
      if (layout.kind == Symbols::singles) {
        high = load_vector(symbols + kVectorBytes);
        symbols += 2 * kVectorBytes;
      } else {
        // Bits that the 16-bit shift takes over from a neighbour lie above the planes.
        high = _mm256_srl_epi16(low, upper);
        symbols += kVectorBytes;
      }
      write32(low, planes + i, layout.planes);
      write32(high, planes + i + kWordBytes / 2, layout.planes);
    }
  }
}

}  // namespace sterna::kernels
