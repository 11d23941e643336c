// Range variant of asymmetric numeral systems (rANS, Duda 2013, arXiv:1311.2540) with a static
// table and 32 interleaved states, per instruction set. Internal; the format is in
// kernels/entropy/ENTROPY.md.
//
// A state x in [2^16, 2^32) is a number that holds what has been coded. Coding a symbol of
// frequency f of 4096 that starts at slot b makes it floor(x / f) * 4096 + b + x mod f; before that
// its lower 16 bits move to the words if it would grow too large. Decoding runs backwards through
// the same steps, so the encoder takes the symbols from the last to the first and the decoder gives
// them in order. Symbol i belongs to state i mod 32, which lets a vector do 8 or 16 at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"

namespace sterna::kernels {

inline constexpr int kRansSlotBits = 12;
inline constexpr std::uint32_t kRansSlots = 1U << kRansSlotBits;
inline constexpr std::uint32_t kRansLowestState = 1U << 16;
inline constexpr std::size_t kRansLanes = 32;

struct RansStates {
  std::uint32_t lane[kRansLanes];
};

/// Slots of each symbol; they sum up to kRansSlots, and none has all of them.
using RansFrequencies = std::array<std::uint16_t, 256>;

/// Shares the slots among symbols in proportion to their weights, exactly as ENTROPY.md says: at
/// least one for a weight above 0, none for 0. At least two weights are above 0, and their sum is
/// below 2^50.
RansFrequencies rans_frequencies(std::span<const std::uint64_t> weights);

/// What coding a symbol needs, by symbol. The reciprocal divides by multiplication: x / f = ((x +
/// carry) * reciprocal) >> 32 >> shift for every x < f * 2^20, the states that are left after words
/// were written.
struct RansEncodeTable {
  static constexpr int kFrequencyAt = 12, kShiftAt = 24, kCarryAt = 28;
  std::uint32_t entry[256];  ///< first slot | frequency << 12 | shift << 24 | carry << 28
  std::uint32_t reciprocal[256];
  explicit RansEncodeTable(const RansFrequencies& frequencies);
};

/// What decoding needs, by slot.
struct RansDecodeTable {
  static constexpr int kFrequencyAt = 12, kSymbolAt = 24;
  /// slot - the symbol's first slot | frequency << 12 | symbol << 24
  alignas(64) std::uint32_t entry[kRansSlots];
  explicit RansDecodeTable(const RansFrequencies& frequencies);
};

/// 16-bit little-endian words that are read from the front, at any alignment. Close to the end they
/// are read from a copy, behind which a vector may read too far.
class RansWords {
 public:
  explicit RansWords(std::span<const std::byte> bytes)
      : next(bytes.data()), end(bytes.data() + bytes.size()) {}
  RansWords(const RansWords&) = delete;
  RansWords& operator=(const RansWords&) = delete;
  /// From here, the words of one step (a word per lane) can be read, though perhaps behind `end`.
  void prepare_step() {
    if (static_cast<std::size_t>(end - next) < kStepBytes) move_to_tail();
  }
  const std::byte* next;
  const std::byte* end;

 private:
  static constexpr std::size_t kStepBytes = 2 * kRansLanes;
  void move_to_tail();
  bool in_tail_ = false;
  std::array<std::byte, 2 * kStepBytes> tail_{};
};

/// Codes `count` symbols, a multiple of 32, that have frequencies above 0: from the last to the
/// first, writing words downwards from `words`, at most one per symbol. Returns where they begin;
/// below, as far as `count` words would have reached, anything may have been written.
std::byte* rans_encode(const RansEncodeTable& table, const std::byte* symbols, std::size_t count,
                       RansStates& states, std::byte* words);
std::byte* rans_encode_avx2(const RansEncodeTable& table, const std::byte* symbols,
                            std::size_t count, RansStates& states, std::byte* words);
std::byte* rans_encode_avx512(const RansEncodeTable& table, const std::byte* symbols,
                              std::size_t count, RansStates& states, std::byte* words);

/// Decodes the next `count` symbols, a multiple of 32. False if there are not enough words.
bool rans_decode(const RansDecodeTable& table, RansWords& words, RansStates& states,
                 std::byte* symbols, std::size_t count);
bool rans_decode_avx2(const RansDecodeTable& table, RansWords& words, RansStates& states,
                      std::byte* symbols, std::size_t count);
bool rans_decode_avx512(const RansDecodeTable& table, RansWords& words, RansStates& states,
                        std::byte* symbols, std::size_t count);

}  // namespace sterna::kernels
