#include "kernels/entropy/entropy_segment.h"

#include <algorithm>

namespace sterna::kernels {
namespace {

constexpr std::size_t kChunkSymbols = 1024;  // between planes and words, in the L1 cache

}  // namespace

EntropyKernels entropy_kernels(Isa isa) {
  return {.count = twin(isa, count_nonzero, count_nonzero_avx2, count_nonzero_avx512),
          .pack = twin(isa, pack_signs, pack_signs_avx2, pack_signs_avx512),
          .unpack = twin(isa, unpack_signs, unpack_signs_avx2, unpack_signs_avx512),
          .read = twin(isa, read_symbols, read_symbols_avx2, read_symbols_avx512),
          .write = twin(isa, write_symbols, write_symbols_avx2, write_symbols_avx512),
          .encode = twin(isa, rans_encode, rans_encode_avx2, rans_encode_avx512),
          .decode = twin(isa, rans_decode, rans_decode_avx2, rans_decode_avx512)};
}

std::byte* encode_words(const EntropyKernels& kernels, const RansEncodeTable& table,
                        const SymbolLayout& layout, std::span<const std::byte> planes,
                        RansStates& states, std::byte* least, std::byte* end) {
  constexpr std::ptrdiff_t kMostChunkBytes = 2 * kChunkSymbols;
  const std::size_t chunk_bytes = kChunkSymbols / layout.per_block() * layout.block_bytes();
  std::array<std::byte, kChunkSymbols> chunk;
  for (std::size_t until = planes.size(); until > 0;) {
    const std::size_t begin = (until - 1) / chunk_bytes * chunk_bytes;
    if (end - least < kMostChunkBytes) return nullptr;
    const std::size_t blocks = (until - begin) / layout.block_bytes();
    kernels.read(layout, planes.data() + begin, blocks, chunk.data());
    end = kernels.encode(table, chunk.data(), blocks * layout.per_block(), states, end);
    until = begin;
  }
  return end;
}

Result<void> decode_words(const EntropyKernels& kernels, const RansDecodeTable& table,
                          const SymbolLayout& layout, std::span<const std::byte> words,
                          RansStates& states, std::span<std::byte> planes) {
  const std::size_t chunk_bytes = kChunkSymbols / layout.per_block() * layout.block_bytes();
  RansWords source(words);
  std::array<std::byte, kChunkSymbols> chunk;
  for (std::size_t begin = 0; begin < planes.size(); begin += chunk_bytes) {
    const std::size_t blocks = std::min(chunk_bytes, planes.size() - begin) / layout.block_bytes();
    if (!kernels.decode(table, source, states, chunk.data(), blocks * layout.per_block())) {
      return malformed_segment("a segment has too few words");
    }
    kernels.write(layout, chunk.data(), blocks, planes.data() + begin);
  }
  if (source.next != source.end) return malformed_segment("a segment has words left");
  for (const std::uint32_t state : states.lane) {
    if (state >> 16 != 1) {
      return malformed_segment("a segment does not end where its encoder began");
    }
  }
  return {};
}

}  // namespace sterna::kernels
