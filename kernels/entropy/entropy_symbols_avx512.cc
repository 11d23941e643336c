// Signs by the bit-gathering instructions (BMI2) that every CPU with AVX-512 has: 64 trits at once.
// Sums 64 at once too: a plane's bits are a mask of 64 bytes.
#include "kernels/entropy/entropy_symbols.h"
#include "kernels/entropy/sign_words.h"
#include "kernels/isa/avx512.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kPlaneBytes = kPlaneBlockBytes / 2;
constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

STERNA_AVX512_INLINE std::uint64_t load(const std::byte* p) {
  std::uint64_t v = 0;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

STERNA_AVX512_INLINE void store(std::byte* p, std::uint64_t v) {
  __builtin_memcpy(p, &v, sizeof v);
}

}  // namespace

STERNA_AVX512 std::size_t pack_signs_avx512(const std::byte* planes, std::size_t blocks,
                                            std::byte* signs) {
  SignWriter writer{signs};
  for (; blocks > 0; --blocks, planes += kPlaneBlockBytes) {
    for (std::size_t i = 0; i < kPlaneBytes; i += kWordBytes) {
      const std::uint64_t nonzero = load(planes + i);
      writer.append(_pext_u64(load(planes + kPlaneBytes + i), nonzero), nonzero);
    }
  }
  writer.finish();
  return writer.count;
}

STERNA_AVX512 void unpack_signs_avx512(const std::byte* signs, std::size_t blocks,
                                       std::byte* planes) {
  SignReader reader{signs};
  for (; blocks > 0; --blocks, planes += kPlaneBlockBytes) {
    for (std::size_t i = 0; i < kPlaneBytes; i += kWordBytes) {
      const std::uint64_t nonzero = load(planes + i);
      store(planes + kPlaneBytes + i, _pdep_u64(reader.take(nonzero), nonzero));
    }
  }
}

STERNA_AVX512 void read_symbols_avx512(const SymbolLayout& layout, const std::byte* planes,
                                       std::size_t blocks, std::byte* symbols) {
  if (layout.kind != Symbols::pairs && layout.kind != Symbols::singles) {
    return read_symbols(layout, planes, blocks, symbols);
  }
  const __m128i upper = _mm_cvtsi64_si128(static_cast<long long>(layout.planes));
  const std::size_t block_bytes = layout.planes * kPlaneBytes;
  for (; blocks > 0; --blocks, planes += block_bytes) {
    for (std::size_t i = 0; i < kPlaneBytes; i += kWordBytes) {
      __m512i elements = _mm512_setzero_si512();
      for (std::size_t plane = 0; plane < layout.planes; ++plane) {
        const __m512i bit = _mm512_maskz_set1_epi8(load(planes + plane * kPlaneBytes + i),
                                                   static_cast<char>(1U << plane));
        elements = _mm512_or_si512(elements, bit);
      }
      if (layout.kind == Symbols::singles) {
        _mm512_storeu_si512(symbols, elements);
        symbols += 64;
      } else {
        const __m256i high = _mm512_extracti64x4_epi64(elements, 1);
        _mm256_storeu_si256(
            reinterpret_cast<__m256i*>(symbols),
            _mm256_or_si256(_mm512_castsi512_si256(elements), _mm256_sll_epi16(high, upper)));
        symbols += 32;
      }
    }
  }
}

STERNA_AVX512 void write_symbols_avx512(const SymbolLayout& layout, const std::byte* symbols,
                                        std::size_t blocks, std::byte* planes) {
  if (layout.kind != Symbols::pairs && layout.kind != Symbols::singles) {
    return write_symbols(layout, symbols, blocks, planes);
  }
  const __m128i upper = _mm_cvtsi64_si128(static_cast<long long>(layout.planes));
  const std::size_t block_bytes = layout.planes * kPlaneBytes;
  for (; blocks > 0; --blocks, planes += block_bytes) {
    for (std::size_t i = 0; i < kPlaneBytes; i += kWordBytes) {
      __m512i elements;
      if (layout.kind == Symbols::singles) {
        elements = _mm512_loadu_si512(symbols);
        symbols += 64;
      } else {
        const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(symbols));
        // Bits that the 16-bit shift takes over from a neighbour lie above the planes.
        elements =
            _mm512_inserti64x4(_mm512_castsi256_si512(both), _mm256_srl_epi16(both, upper), 1);
        symbols += 32;
      }
      for (std::size_t plane = 0; plane < layout.planes; ++plane) {
        const __m512i bit = _mm512_set1_epi8(static_cast<char>(1U << plane));
        store(planes + plane * kPlaneBytes + i, _mm512_test_epi8_mask(elements, bit));
      }
    }
  }
}

}  // namespace sterna::kernels
