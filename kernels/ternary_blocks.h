// Ternarizing and decoding whole blocks of 512 elements, per instruction set. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/ternary.h"

namespace sterna::kernels {

/// The Philox counter and key of a run of blocks. Draw i of the block is at counter word 0 + i.
struct BlockDraw {
  std::uint32_t counter0;     ///< word 0 for element 0 of the first block
  std::uint32_t step;         ///< word 1
  std::uint32_t rank_tensor;  ///< word 2
  std::uint64_t key;
};

/// Counter words that a block uses: each serves 16 of its elements.
inline constexpr std::uint32_t draws_per_block = 32;

/// The codes of `blocks` whole blocks; k = 2^32 / s.
void ternarize_blocks(const float* gradient, std::size_t blocks, float k, BlockDraw draw,
                      std::byte* planes);
void ternarize_blocks_avx512(const float* gradient, std::size_t blocks, float k, BlockDraw draw,
                             std::byte* planes);

/// `count` elements, of which the last block may hold fewer than 512.
void decode_blocks(const std::byte* planes, float scaler, float* out, std::size_t count);
void decode_blocks_avx512(const std::byte* planes, float scaler, float* out, std::size_t count);

}  // namespace sterna::kernels
