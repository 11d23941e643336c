// Bits from words of trits, one behind the other, and back: what pack_signs and unpack_signs do
// between the words of two planes, however these are gathered. Internal.
//
// Inlined wherever it is called, so that it takes its caller's instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sterna::kernels {

#define STERNA_INLINED [[gnu::always_inline]] inline

/// Appends bits to 64-bit little-endian words.
struct SignWriter {
  std::byte* signs;
  std::size_t count = 0;   ///< bits so far
  std::uint64_t word = 0;  ///< the last ones, where they do not fill a word

  /// As many of the lowest bits of `bits` as `nonzero` has; those above are 0.
  STERNA_INLINED void append(std::uint64_t bits, std::uint64_t nonzero) {
    const unsigned used = count % 64;
    const std::uint64_t filled = word | bits << used;
    const std::uint64_t spilled = bits >> 1 >> (63 - used);
    __builtin_memcpy(signs + count / 64 * sizeof filled, &filled, sizeof filled);
    const std::size_t before = count;
    count += static_cast<std::size_t>(__builtin_popcountll(nonzero));
    word = count / 64 == before / 64 ? filled : spilled;
  }
  STERNA_INLINED void finish() const {
    __builtin_memcpy(signs + count / 64 * sizeof word, &word, sizeof word);
  }
};

/// Takes them back; reads up to 16 bytes behind the last.
struct SignReader {
  const std::byte* signs;
  std::size_t at = 0;

  /// The next 64 bits, of which as many are taken as `nonzero` has.
  STERNA_INLINED std::uint64_t take(std::uint64_t nonzero) {
    std::uint64_t words[2];
    __builtin_memcpy(words, signs + at / 64 * sizeof words[0], sizeof words);
    const unsigned used = at % 64;
    at += static_cast<std::size_t>(__builtin_popcountll(nonzero));
    return words[0] >> used | words[1] << 1 << (63 - used);
  }
};

#undef STERNA_INLINED

}  // namespace sterna::kernels
