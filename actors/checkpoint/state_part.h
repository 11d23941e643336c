// StatePart: what one actor has of a checkpoint, and as what it lies on disk.
//
// A checkpoint is a folder: each actor's part as safetensors, "server0.safetensors", and, once all
// are there, its manifest (manifest.h). Of an array "KIND/TENSOR" a part holds pieces, each a
// tensor of one dimension that the file calls "KIND/TENSOR@FIRST" by the index of its first
// element, so that any number of servers can go on from it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/job/checkpoint.h"
#include "runtime/base/bytes.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// A piece of an array. The bytes are immutable, or nobody else's.
struct StatePiece {
  std::string array;
  std::uint64_t first = 0;
  Bytes values;  ///< fp32
};

struct StatePart {
  std::uint64_t version = 0;
  std::vector<StatePiece> pieces;
};

// ---- kinds of arrays ----

inline constexpr std::string_view kParameterState = "parameters";
inline constexpr std::string_view kAverageState = "average";
/// What ternarizing left of the averages that went down.
inline constexpr std::string_view kDownResidualState = "down_residual";
/// An optimizer's slot.
std::string slot_state(std::string_view optimizer, std::size_t slot);
/// What a lossy codec left of a rank's gradients, or of the average of so many, from `rank` on.
std::string residual_state(std::uint32_t rank, std::uint32_t averaged_ranks = 1);
/// What a rank that steps by itself keeps between windows: KeptArray::kind says what.
std::string local_state(std::uint32_t rank, std::string_view kind);
/// The scalers that the ranks agreed on in the step before, in the order of the table; of no
/// tensor.
inline constexpr std::string_view kScalerState = "scalers/all";

/// Where slots begin, if not at 0 (note_of()), of no tensor: those of the servers' optimizer, or of
/// a rank that steps by itself.
std::string slots_begin_state(std::string_view optimizer);
std::string local_slots_begin_state(std::uint32_t rank);
/// A step as fp32s that have all of its bits, and back.
std::array<float, 2> note_of(std::uint64_t step);
std::uint64_t step_of(const std::array<float, 2>& note);

std::string array_of(std::string_view kind, std::string_view tensor);
/// "KIND/TENSOR@FIRST" and back; nothing for a name that is none.
std::string piece_name(std::string_view array, std::uint64_t first);
struct PieceName {
  std::string array;
  std::uint64_t first = 0;
};
std::optional<PieceName> parse_piece_name(std::string_view name);

// ---- on disk ----

/// "step-000001000": sorts as the versions do.
std::string checkpoint_name(std::uint64_t version);
/// The inverse, of what is such a name.
std::optional<std::uint64_t> parse_checkpoint_name(std::string_view name);

/// "ACTOR.safetensors"
std::string part_file(std::string_view actor);
/// "step-000001000.ACTOR.safetensors": where it has to be fetched.
std::string own_part_file(std::uint64_t version, std::string_view actor);

/// Writes the part into its version's folder within `folder`, as part_file(), whole or not at all,
/// and syncs it. Without a folder it lies in the process's `own` one, to be fetched from there, as
/// own_part_file(), in place of the actor's part before. What became
/// of it is the message, an error included.
PartWritten write_part(const StatePart& part, const std::string& folder, const std::string& own,
                       const std::string& actor);

/// BLAKE2b of a file's bytes. Errors: not_found, io.
Result<Hash> hash_of_file(const std::string& path);

}  // namespace sterna::actors
