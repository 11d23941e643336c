// What stands between planes and their symbols, on whole blocks, per instruction set. Internal; the
// format is in kernels/entropy/ENTROPY.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/trits/ternary.h"

namespace sterna::kernels {

/// How a block's elements become symbols.
enum class Symbols {
  bytes,    ///< of trits 64: the bytes of `nonzero`, the signs going beside
  nibbles,  ///< of trits 128: of each 32 bytes of `nonzero` the lower halves, then the upper halves
  pairs,    ///< of sums 256: of each 64 elements i the planes' bits of i and, above them, of i + 32
  singles,  ///< of sums 512: the planes' bits of each element
};

/// The symbols, and the blocks that they are of.
struct SymbolLayout {
  Symbols kind = Symbols::bytes;
  std::size_t planes =
      2;  ///< of a block: 2 with bytes and nibbles, up to 4 with pairs, 8 with singles
  std::uint8_t flip = 0;  ///< with bytes and nibbles: all ones for those of the complement

  std::size_t block_bytes() const { return planes * kPlaneBlockBytes / 2; }
  std::size_t per_block() const {
    switch (kind) {
      case Symbols::bytes:
        return kPlaneBlock / 8;
      case Symbols::nibbles:
        return kPlaneBlock / 4;
      case Symbols::pairs:
        return kPlaneBlock / 2;
      case Symbols::singles:
        break;
    }
    return kPlaneBlock;
  }
};

/// Writes one bit per nonzero trit, in order: whether it is negative. May write zeros up to 16
/// bytes behind them. Returns how many bits there are.
std::size_t pack_signs(const std::byte* planes, std::size_t blocks, std::byte* signs);
std::size_t pack_signs_avx2(const std::byte* planes, std::size_t blocks, std::byte* signs);
std::size_t pack_signs_avx512(const std::byte* planes, std::size_t blocks, std::byte* signs);

/// Fills the `negative` planes from the bits that pack_signs wrote; reads up to 16 bytes behind
/// them.
void unpack_signs(const std::byte* signs, std::size_t blocks, std::byte* planes);
void unpack_signs_avx2(const std::byte* signs, std::size_t blocks, std::byte* planes);
void unpack_signs_avx512(const std::byte* signs, std::size_t blocks, std::byte* planes);

/// The symbols of whole blocks, and back. Symbols that are read back are those of some block.
void read_symbols(const SymbolLayout& layout, const std::byte* planes, std::size_t blocks,
                  std::byte* symbols);
void read_symbols_avx2(const SymbolLayout& layout, const std::byte* planes, std::size_t blocks,
                       std::byte* symbols);
void read_symbols_avx512(const SymbolLayout& layout, const std::byte* planes, std::size_t blocks,
                         std::byte* symbols);
void write_symbols(const SymbolLayout& layout, const std::byte* symbols, std::size_t blocks,
                   std::byte* planes);
void write_symbols_avx2(const SymbolLayout& layout, const std::byte* symbols, std::size_t blocks,
                        std::byte* planes);
void write_symbols_avx512(const SymbolLayout& layout, const std::byte* symbols, std::size_t blocks,
                          std::byte* planes);

}  // namespace sterna::kernels
