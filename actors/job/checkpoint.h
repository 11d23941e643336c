// What servers and workers, who hold the state of a job, and the keeper of its checkpoints say to
// each other.
//
// The state is arrays of fp32, each of one tensor: "KIND/TENSOR", e.g. "parameters/conv1/weights",
// "momentum.0/conv1/weights", "residual.3/conv1/weights" of rank 3. Who holds a part of it says so
// by the index of the part's first element.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "actors/job/training.capnp.h"
#include "runtime/base/bytes.h"
#include "runtime/message/actor_ref.h"

namespace sterna::actors {

/// BLAKE2b (RFC 7693) of some bytes, 16 bytes.
using Hash = std::array<std::byte, 16>;

struct KeepAnswer {
  using Wire = schema::KeepAnswer;
  bool kept = false;          ///< else that version has begun or is past
  std::uint64_t version = 0;  ///< where the asked one is
  STERNA_DECLARE_MESSAGE(KeepAnswer);
};

/// From the keeper: the state at `version` is to be written as the asked one's part of a
/// checkpoint, and the keeper told. What was asked so before and has not begun is forgotten.
struct KeepVersion {
  using Wire = schema::KeepVersion;
  using Reply = KeepAnswer;
  static constexpr bool kAskedAgain = true;  ///< a worker that was lost, or another in its place
  std::uint64_t version = 0;
  STERNA_DECLARE_MESSAGE(KeepVersion);
};

/// To the keeper: the sender's part of a checkpoint lies on its host's disk, synced; or does not.
/// The answer: it need not lie there any longer, where that is another than the keeper's.
struct PartWritten {
  using Wire = schema::PartWritten;
  using Reply = void;
  std::uint64_t version = 0;
  std::string file;  ///< within the checkpoint's folder
  std::uint64_t bytes = 0;
  Hash hash{};             ///< of the file
  bool skipped = false;    ///< the part before was still being written
  std::string error = {};  ///< why it could not be written; empty: it is
  STERNA_DECLARE_MESSAGE(PartWritten);
};

struct StateValues {
  using Wire = schema::StateValues;
  static constexpr Lane kLane = Lane::data;
  Bytes values;  ///< fp32
  STERNA_DECLARE_MESSAGE(StateValues);
};

/// To the keeper of a job that resumes: neighbouring elements of an array. The answer is not_found
/// where the checkpoint has none of it.
struct ReadState {
  using Wire = schema::ReadState;
  using Reply = StateValues;
  static constexpr std::uint64_t kMost = 1U << 18;
  std::string array;
  std::uint64_t first = 0;
  std::uint64_t count = 0;  ///< at most kMost
  STERNA_DECLARE_MESSAGE(ReadState);
};

/// Where a copy lies.
struct CopyKept {
  using Wire = schema::CopyKept;
  std::string folder;  ///< on the host of who was asked
  STERNA_DECLARE_MESSAGE(CopyKept);
};

/// From the keeper to who is on another machine: the whole checkpoint is to be kept there, too. Its
/// parts are asked for by ReadPart. Errors: those of the disk and of these; unavailable, while one
/// before is still written.
struct KeepCopy {
  using Wire = schema::KeepCopy;
  using Reply = CopyKept;
  std::string manifest;    ///< as JSON
  std::uint32_t keep = 1;  ///< so many stay there, the newest
  STERNA_DECLARE_MESSAGE(KeepCopy);
};

struct PartPiece {
  using Wire = schema::PartPiece;
  static constexpr Lane kLane = Lane::data;
  Bytes bytes;
  STERNA_DECLARE_MESSAGE(PartPiece);
};

/// To the keeper, from who makes the copy of that checkpoint: up to kMost bytes of a part.
struct ReadPart {
  using Wire = schema::ReadPart;
  using Reply = PartPiece;
  static constexpr std::uint64_t kMost = 1U << 20;
  std::uint64_t version = 0;
  std::string file;  ///< as the manifest calls it
  std::uint64_t offset = 0;
  STERNA_DECLARE_MESSAGE(ReadPart);
};

struct CheckpointKeeperInterface : Interface<PartWritten, ReadState, ReadPart> {};

}  // namespace sterna::actors
