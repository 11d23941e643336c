#include "kernels/entropy/entropy_symbols.h"

#include <bit>
#include <cstring>

namespace sterna::kernels {
namespace {

constexpr std::size_t kPlaneBytes = kPlaneBlockBytes / 2;
constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
constexpr std::size_t kHalfBytes = 32;

std::uint64_t load(const std::byte* p) {
  std::uint64_t v = 0;
  std::memcpy(&v, p, sizeof v);
  return v;
}
void store(std::byte* p, std::uint64_t v) { std::memcpy(p, &v, sizeof v); }

std::uint64_t repeat(std::uint64_t byte) { return byte * 0x0101010101010101; }

void read_bytes(const std::byte* nonzero, std::uint8_t flip, std::byte* symbols) {
  for (std::size_t i = 0; i < kPlaneBytes; i += kWordBytes) {
    store(symbols + i, load(nonzero + i) ^ repeat(flip));
  }
}

void write_bytes(const std::byte* symbols, std::uint8_t flip, std::byte* nonzero) {
  read_bytes(symbols, flip, nonzero);
}

// The lower halves of byte i of a plane are at lower(i), the upper ones kHalfBytes behind.
std::size_t lower(std::size_t i) { return i / kHalfBytes * 2 * kHalfBytes + i % kHalfBytes; }

void read_nibbles(const std::byte* nonzero, std::uint8_t flip, std::byte* symbols) {
  for (std::size_t i = 0; i < kPlaneBytes; i += kWordBytes) {
    const std::uint64_t word = load(nonzero + i) ^ repeat(flip);
    store(symbols + lower(i), word & repeat(0x0F));
    store(symbols + lower(i) + kHalfBytes, word >> 4 & repeat(0x0F));
  }
}

void write_nibbles(const std::byte* symbols, std::uint8_t flip, std::byte* nonzero) {
  for (std::size_t i = 0; i < kPlaneBytes; i += kWordBytes) {
    const std::uint64_t word = load(symbols + lower(i)) | load(symbols + lower(i) + kHalfBytes)
                                                              << 4;
    store(nonzero + i, word ^ repeat(flip));
  }
}

// Eight bits to the lowest bits of eight bytes, and back.
std::uint64_t spread(std::byte bits) {
  const std::uint64_t each = repeat(std::to_integer<std::uint64_t>(bits)) & 0x8040201008040201;
  return (each + repeat(0x7F)) >> 7 & repeat(1);
}
std::byte collect(std::uint64_t bytes) {
  return static_cast<std::byte>((bytes & repeat(1)) * 0x0102040810204080 >> 56);
}

// The planes' bits of the eight elements of byte `i` of a plane, an element per byte.
std::uint64_t read_eight(const std::byte* block, std::size_t planes, std::size_t i) {
  std::uint64_t elements = 0;
  for (std::size_t plane = 0; plane < planes; ++plane) {
    elements |= spread(block[plane * kPlaneBytes + i]) << plane;
  }
  return elements;
}

void write_eight(std::uint64_t elements, std::byte* block, std::size_t planes, std::size_t i) {
  for (std::size_t plane = 0; plane < planes; ++plane) {
    block[plane * kPlaneBytes + i] = collect(elements >> plane);
  }
}

constexpr std::size_t kPairDistance = 4;  // bytes of a plane: 32 elements

void read_pairs(const std::byte* block, std::size_t planes, std::byte* symbols) {
  for (std::size_t word = 0; word < kPlaneBytes; word += kWordBytes) {
    for (std::size_t i = word; i < word + kPairDistance; ++i, symbols += 8) {
      store(symbols, read_eight(block, planes, i) | read_eight(block, planes, i + kPairDistance)
                                                        << planes);
    }
  }
}

void write_pairs(const std::byte* symbols, std::size_t planes, std::byte* block) {
  for (std::size_t word = 0; word < kPlaneBytes; word += kWordBytes) {
    for (std::size_t i = word; i < word + kPairDistance; ++i, symbols += 8) {
      write_eight(load(symbols), block, planes, i);
      write_eight(load(symbols) >> planes, block, planes, i + kPairDistance);
    }
  }
}

void read_singles(const std::byte* block, std::size_t planes, std::byte* symbols) {
  for (std::size_t i = 0; i < kPlaneBytes; ++i) {
    store(symbols + 8 * i, read_eight(block, planes, i));
  }
}

void write_singles(const std::byte* symbols, std::size_t planes, std::byte* block) {
  for (std::size_t i = 0; i < kPlaneBytes; ++i) {
    write_eight(load(symbols + 8 * i), block, planes, i);
  }
}

}  // namespace

std::size_t pack_signs(const std::byte* planes, std::size_t blocks, std::byte* signs) {
  std::size_t count = 0;
  std::uint64_t word = 0;
  for (; blocks > 0; --blocks, planes += kPlaneBlockBytes) {
    for (std::size_t i = 0; i < kPlaneBytes; i += kWordBytes) {
      const std::uint64_t negative = load(planes + kPlaneBytes + i);
      for (std::uint64_t left = load(planes + i); left != 0; left &= left - 1) {
        word |= (negative >> std::countr_zero(left) & 1) << (count % 64);
        if (++count % 64 != 0) continue;
        store(signs + count / 8 - kWordBytes, word);
        word = 0;
      }
    }
  }
  store(signs + count / 64 * kWordBytes, word);
  return count;
}

void unpack_signs(const std::byte* signs, std::size_t blocks, std::byte* planes) {
  std::size_t at = 0;
  for (; blocks > 0; --blocks, planes += kPlaneBlockBytes) {
    for (std::size_t i = 0; i < kPlaneBytes; i += kWordBytes) {
      std::uint64_t negative = 0;
      for (std::uint64_t left = load(planes + i); left != 0; left &= left - 1, ++at) {
        const auto sign = std::to_integer<std::uint64_t>(signs[at / 8]) >> (at % 8) & 1;
        negative |= sign << std::countr_zero(left);
      }
      store(planes + kPlaneBytes + i, negative);
    }
  }
}

void read_symbols(const SymbolLayout& layout, const std::byte* planes, std::size_t blocks,
                  std::byte* symbols) {
  for (; blocks > 0; --blocks) {
    switch (layout.kind) {
      case Symbols::bytes:
        read_bytes(planes, layout.flip, symbols);
        break;
      case Symbols::nibbles:
        read_nibbles(planes, layout.flip, symbols);
        break;
      case Symbols::pairs:
        read_pairs(planes, layout.planes, symbols);
        break;
      case Symbols::singles:
        read_singles(planes, layout.planes, symbols);
        break;
    }
    planes += layout.block_bytes();
    symbols += layout.per_block();
  }
}

void write_symbols(const SymbolLayout& layout, const std::byte* symbols, std::size_t blocks,
                   std::byte* planes) {
  for (; blocks > 0; --blocks) {
    switch (layout.kind) {
      case Symbols::bytes:
        write_bytes(symbols, layout.flip, planes);
        break;
      case Symbols::nibbles:
        write_nibbles(symbols, layout.flip, planes);
        break;
      case Symbols::pairs:
        write_pairs(symbols, layout.planes, planes);
        break;
      case Symbols::singles:
        write_singles(symbols, layout.planes, planes);
        break;
    }
    planes += layout.block_bytes();
    symbols += layout.per_block();
  }
}

}  // namespace sterna::kernels
