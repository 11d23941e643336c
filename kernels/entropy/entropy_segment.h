// Coding one segment of trits or of sums. Internal; kernels/entropy/ENTROPY.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/entropy/entropy_format.h"
#include "kernels/entropy/entropy_model.h"
#include "kernels/entropy/entropy_symbols.h"
#include "kernels/entropy/rans.h"
#include "kernels/trits/ternary_blocks.h"

namespace sterna::kernels {

/// What coding is made of, for one instruction set.
struct EntropyKernels {
  decltype(&count_nonzero) count;
  decltype(&pack_signs) pack;
  decltype(&unpack_signs) unpack;
  decltype(&read_symbols) read;
  decltype(&write_symbols) write;
  decltype(&rans_encode) encode;
  decltype(&rans_decode) decode;
};

EntropyKernels entropy_kernels(Isa isa);

/// Keeps the tables of the last two models of trits: segments that follow each other tend to have
/// one model, or two neighbouring ones.
template <class Table>
class TritTables {
 public:
  const Table& of(TritModel model) {
    Kept& kept = kept_[model % kept_.size()];
    if (!kept.table || kept.model != model) {
      kept.model = model;
      kept.table.emplace(frequencies_of(model));
    }
    return *kept.table;
  }

 private:
  struct Kept {
    TritModel model = 0;
    std::optional<Table> table;
  };
  std::array<Kept, 2> kept_;
};

/// The bytes that coding a segment of `planes` bytes of planes works in.
constexpr std::size_t segment_room(std::size_t planes) { return 1 + planes + 4096; }

/// Codes a segment at `out`, which has segment_room(planes.size()). None where it would not be
/// shorter than the planes; `out` is overwritten even then.
std::optional<SegmentHeader> encode_trit_segment(const EntropyKernels& kernels,
                                                 TritTables<RansEncodeTable>& tables,
                                                 std::span<const std::byte> planes, std::byte* out);
std::optional<SegmentHeader> encode_sum_segment(const EntropyKernels& kernels, std::uint32_t ranks,
                                                std::span<const std::byte> planes, std::byte* out);

/// Decodes the segment whose `header` was read at the front of `coded`. All of it is checked, but
/// for bits behind the last element, which the caller checks.
Result<void> decode_trit_segment(const EntropyKernels& kernels, TritTables<RansDecodeTable>& tables,
                                 const SegmentHeader& header, std::span<const std::byte> coded,
                                 std::span<std::byte> planes);
Result<void> decode_sum_segment(const EntropyKernels& kernels, std::uint32_t ranks,
                                const SegmentHeader& header, std::span<const std::byte> coded,
                                std::span<std::byte> planes);

/// Codes the symbols of `planes` into words, from the last to the first, downwards from `end` and
/// not below `least`. Returns where they begin, or null where they do not fit.
std::byte* encode_words(const EntropyKernels& kernels, const RansEncodeTable& table,
                        const SymbolLayout& layout, std::span<const std::byte> planes,
                        RansStates& states, std::byte* least, std::byte* end);

/// Decodes words, exactly all of them, to planes. The states end as the encoder began with them.
Result<void> decode_words(const EntropyKernels& kernels, const RansDecodeTable& table,
                          const SymbolLayout& layout, std::span<const std::byte> words,
                          RansStates& states, std::span<std::byte> planes);

}  // namespace sterna::kernels
