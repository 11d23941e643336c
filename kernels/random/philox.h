// Philox4x32-10, the counter-based random number generator of Salmon, Moraes, Dror and Shaw,
// "Parallel random numbers: as easy as 1, 2, 3" (SC 2011): the one source of the job's randomness.
//
// A counter and a key give four words, with no state between calls, so that any element's draw can
// be computed anywhere, in any order, by any number of threads.
#pragma once

#include <array>
#include <cstdint>

namespace sterna::kernels {

struct Philox {
  static constexpr int kRounds = 10;
  static constexpr std::uint32_t kMultiplier0 = 0xD2511F53;  ///< of counter word 0
  static constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;  ///< of counter word 2
  static constexpr std::uint32_t kWeyl0 = 0x9E3779B9;  ///< added to key word 0 after each round
  static constexpr std::uint32_t kWeyl1 = 0xBB67AE85;  ///< added to key word 1 after each round
};

/// Four words, each uniform over 32 bits. The key's low half is key word 0.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                              std::uint64_t key) {
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < Philox::kRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{Philox::kMultiplier0} * counter[0];
    const std::uint64_t product1 = std::uint64_t{Philox::kMultiplier1} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key0,
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key1,
               static_cast<std::uint32_t>(product0)};
    key0 += Philox::kWeyl0;
    key1 += Philox::kWeyl1;
  }
  return counter;
}

/// The Philox counter and key of a run of blocks of 512 elements. Draw i of the first block is at
/// counter word 0 + i.
struct BlockDraw {
  std::uint32_t counter0;     ///< word 0 for element 0 of the first block
  std::uint32_t step;         ///< word 1
  std::uint32_t rank_tensor;  ///< word 2
  std::uint64_t key;
};

/// Counter words that a block uses: each serves 16 of its elements.
inline constexpr std::uint32_t kDrawsPerBlock = 32;

}  // namespace sterna::kernels
