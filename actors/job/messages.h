// The data path's messages: gradients up, parameters down, batches in; and the four interfaces.
//
// Bulk bytes are Bytes: views of a received frame, or of the buffer that is sent in place.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/job/checkpoint.h"
#include "actors/job/observer.h"
#include "actors/job/training.capnp.h"
#include "runtime/base/bytes.h"
#include "runtime/message/actor_ref.h"

namespace sterna::actors {

using schema::Codec;
using schema::PayloadKind;
using schema::Verdict;

/// Of the membership, which does not change yet.
inline constexpr std::uint32_t kEpoch = 0;

/// One rank's contribution to one chunk of one tensor.
struct Packet {
  std::uint32_t chunk = 0;
  Codec codec = Codec::FP32;
  float scaler = 1;                ///< of the whole tensor
  std::uint64_t count = 0;         ///< elements
  Bytes payload;                   ///< as the codec says (actors/codecs/codec.h)
  std::uint64_t base_version = 0;  ///< of the chunk's parameters that it was computed from
};

/// Packets' verdicts, in their order. An asker that waits for nothing else may ignore them.
/// Where each packet that counts makes a version, likewise how many were made between the one that
/// it was computed from and its own (docs/schemes.md); of what does not count 0. Else empty.
struct PushReply {
  using Wire = schema::PushReply;
  std::vector<Verdict> verdicts;
  std::vector<std::uint32_t> staleness = {};
  STERNA_DECLARE_MESSAGE(PushReply);
};

/// Some chunks of one rank's push. (epoch, rank, step, chunk) identifies each.
struct Push {
  using Wire = schema::Push;
  using Reply = PushReply;
  static constexpr Lane kLane = Lane::data;
  std::uint32_t rank = 0;
  std::uint64_t incarnation = 0;
  std::uint32_t epoch = kEpoch;
  std::uint64_t step = 0;  ///< the rank's own count of pushes
  std::uint32_t examples = 0;
  PayloadKind kind = PayloadKind::GRADIENT;
  std::vector<Packet> packets;
  STERNA_DECLARE_MESSAGE(Push);
};

/// The largest scaler that any rank has offered, of each in the order of the question.
struct Agreed {
  using Wire = schema::Agreed;
  std::vector<float> values;
  STERNA_DECLARE_MESSAGE(Agreed);
};

/// What one rank's gradients of a step would be scaled by. The answer comes when all ranks have
/// offered theirs.
struct Offer {
  using Wire = schema::Offer;
  using Reply = Agreed;
  struct OwnScaler {
    std::uint32_t index = 0;  ///< its place among the table's scalers
    float value = 0;
  };
  std::uint32_t rank = 0;
  std::uint64_t incarnation = 0;
  std::uint32_t epoch = kEpoch;
  std::uint64_t step = 0;
  std::vector<OwnScaler> scalers;
  STERNA_DECLARE_MESSAGE(Offer);
};

struct ParameterChunk {
  std::uint32_t chunk = 0;
  Codec codec = Codec::FP32;
  Bytes payload;
  float scaler = 1;           ///< of trits or their sums
  std::uint64_t version = 0;  ///< where the newest was asked for
};

struct Parameters {
  using Wire = schema::Parameters;
  static constexpr Lane kLane = Lane::data;
  std::uint64_t version = 0;
  PayloadKind kind = PayloadKind::PARAMETERS;
  std::vector<ParameterChunk> chunks;
  std::uint32_t ranks = 0;       ///< gradients: of how many ranks the trits are sums
  std::vector<float> constants;  ///< gradients: the optimizer's in this step
  STERNA_DECLARE_MESSAGE(Parameters);
};

/// Asks for some chunks at exactly `version`, for the moving averages that go with it, or for the
/// average gradients that led to it from the version before; the answer comes when the last of them
/// is there. Or for the newest parameters of each, at least `version`, once what `rank` has pushed
/// before its push `pushes` is in them or was dropped, and the scheme lets it begin that one.
struct Pull {
  using Wire = schema::Pull;
  using Reply = Parameters;
  std::uint64_t version = 0;
  std::vector<std::uint32_t> chunks;
  PayloadKind kind = PayloadKind::PARAMETERS;
  Codec codec = Codec::FP32;  ///< of parameters: fp32 or bf16
  bool newest = false;
  std::uint32_t rank = 0;
  std::uint64_t pushes = 0;
  STERNA_DECLARE_MESSAGE(Pull);
};

/// Where a rank goes on.
struct Rejoined {
  using Wire = schema::Rejoined;
  std::uint64_t step = 0;     ///< the earliest push of which this server lacks a packet of it
  std::uint64_t version = 0;  ///< the newest of the server's chunks
  STERNA_DECLARE_MESSAGE(Rejoined);
};

/// From a worker that was started in the place of a lost one, for each of its ranks, where
/// JobConfig::workers_come_again().
struct Rejoin {
  using Wire = schema::Rejoin;
  using Reply = Rejoined;
  std::uint32_t rank = 0;
  std::uint64_t incarnation = 0;
  bool patient = false;  ///< the answer may wait until it is known; else it is then not_found
  STERNA_DECLARE_MESSAGE(Rejoin);
};

/// From the same, where ranks use the last step's scalers: those that were agreed at this server of
/// `step`, the last before it goes on, in the order of the table. Errors: not_found, of a step
/// whose scalers are not agreed, or gone.
struct RecallScalers {
  using Wire = schema::RecallScalers;
  using Reply = Agreed;
  std::uint32_t rank = 0;
  std::uint64_t incarnation = 0;
  std::uint64_t step = 0;
  STERNA_DECLARE_MESSAGE(RecallScalers);
};

// ---- a server in the place of a lost one, beside its partner, which holds the same shard ----

struct Enlisted {
  using Wire = schema::Enlisted;
  std::uint64_t step = 0;  ///< from which on it gets all pushes and offers of the worker
  STERNA_DECLARE_MESSAGE(Enlisted);
};

/// From such a server, to workers and the evaluator: what they tell its partner it is to hear, too.
struct Enlist {
  using Wire = schema::Enlist;
  using Reply = Enlisted;
  static constexpr bool kAskedAgain = true;  ///< a worker that was lost, or another in its place
  STERNA_DECLARE_MESSAGE(Enlist);
};

/// All that the next versions of a chunk need of it.
struct ChunkCopy {
  using Wire = schema::ChunkCopy;
  static constexpr Lane kLane = Lane::data;
  struct Snapshot {
    std::uint64_t version = 0;
    Bytes parameters;  ///< fp32; empty: the evaluator does not take them
    Bytes average;
  };
  struct Waiting {
    std::uint32_t rank = 0;
    Packet packet;  ///< opened
  };
  std::uint64_t version = 0;
  /// Parameters, behind them each of the optimizer's slots and, if there is one, the moving
  /// average, as fp32.
  Bytes values;
  Bytes residual;  ///< of the averages that were ternarized, as fp32; empty: none is kept
  std::vector<Snapshot> snapshots;
  // Where ranks do not go in step, else empty:
  std::vector<std::uint64_t> judged = {};  ///< by rank: all its pushes before this one
  std::vector<std::uint64_t> taken = {};   ///< by rank two: 1 + its last pushes that counted
  std::vector<Waiting> waiting = {};       ///< that no version is made of yet, as they came
  STERNA_DECLARE_MESSAGE(ChunkCopy);
};

/// From such a server to its partner: a chunk, once it is at version `from` or a later one. Or to a
/// worker that holds it at exactly that version: parameters and the optimizer's slots. Where ranks
/// do not go in step `from` counts pushes, as Forward does: all before are in the copy.
struct CopyChunk {
  using Wire = schema::CopyChunk;
  using Reply = ChunkCopy;
  std::uint32_t chunk = 0;
  std::uint64_t from = 0;
  STERNA_DECLARE_MESSAGE(CopyChunk);
};

/// What has been agreed of the scalers, and what is known of the evaluator.
struct BoardCopy {
  using Wire = schema::BoardCopy;
  struct Scaler {
    std::uint64_t step = 0;   ///< that is being agreed
    std::uint32_t known = 0;  ///< how many of these two there are
    float last = 0;           ///< of the step before
    float before_last = 0;
  };
  std::vector<Scaler> scalers;  ///< that are agreed at the server, in the order of the table
  std::uint64_t version = 0;    ///< as Handover has them
  std::uint64_t skipped = 0;
  std::vector<std::uint64_t> named;
  std::uint64_t order = 0;  ///< from which on its asker is told of pushes (Forward)
  STERNA_DECLARE_MESSAGE(BoardCopy);
};

/// The same, once all scalers of the steps before `from` are agreed.
struct CopyBoard {
  using Wire = schema::CopyBoard;
  using Reply = BoardCopy;
  std::uint64_t from = 0;
  STERNA_DECLARE_MESSAGE(CopyBoard);
};

/// Where ranks do not go in step: from the one of two servers that decides the order of pushes to
/// the other, which takes them in that order. The answer has no verdicts where it was known
/// already. Errors: not_found, from who does not follow the asker.
struct Forward {
  using Wire = schema::Forward;
  using Reply = PushReply;
  static constexpr Lane kLane = Lane::data;
  std::uint64_t order = 0;  ///< its number among all pushes to the shard
  Push push;
  STERNA_DECLARE_MESSAGE(Forward);
};

// ---- a server in the place of a lost one, where workers have all that it had ----

/// What a worker has of the shard.
struct Held {
  using Wire = schema::Held;
  struct Chunk {
    std::uint32_t chunk = 0;
    std::uint64_t version = 0;
  };
  std::vector<Chunk> chunks;  ///< ascending; none: it is itself in the place of a lost one
  STERNA_DECLARE_MESSAGE(Held);
};

/// From such a server to each worker, where JobConfig::servers_come_again(). From then on it is the
/// one that the worker pushes to, and hears again what the lost one may have been told.
struct ShowHeld {
  using Wire = schema::ShowHeld;
  using Reply = Held;
  static constexpr bool kAskedAgain = true;  ///< a worker that was lost, or another in its place
  STERNA_DECLARE_MESSAGE(ShowHeld);
};

/// What a worker that keeps parameters has come to. The answer is an error that names the tensor
/// where the server has come to something else.
struct Compare {
  using Wire = schema::Compare;
  using Reply = void;
  static constexpr Lane kLane = Lane::data;  ///< that of pushes, so that it comes before the next
  struct Fingerprint {
    std::uint32_t chunk = 0;
    Hash hash{};
  };
  std::uint64_t version = 0;
  std::vector<Fingerprint> chunks;
  STERNA_DECLARE_MESSAGE(Compare);
};

/// From the evaluator: the observer has what was found of `version` and of all before, whose
/// snapshots are no longer needed. Who evaluates after it begins behind `version`.
struct Concluded {
  using Wire = schema::Concluded;
  std::uint64_t version = 0;
  std::uint64_t skipped = 0;  ///< of the versions up to it that were due
  STERNA_DECLARE_MESSAGE(Concluded);
};

/// What a server knows of the evaluator before.
struct Handover {
  using Wire = schema::Handover;
  std::uint64_t version = 0;  ///< as it was Concluded; else the job's first
  std::uint64_t skipped = 0;
  std::vector<std::uint64_t> named;  ///< that are promised (Reserve), in their order
  STERNA_DECLARE_MESSAGE(Handover);
};

/// From an evaluator that was started in the place of a lost one. Or from a server without a
/// partner, to the evaluator, which says the same of itself.
struct TakeOver {
  using Wire = schema::TakeOver;
  using Reply = Handover;
  STERNA_DECLARE_MESSAGE(TakeOver);
};

/// From the evaluator: the snapshot of `version` is no longer needed, nor one of it to be taken.
struct Release {
  using Wire = schema::Release;
  std::uint64_t version = 0;
  STERNA_DECLARE_MESSAGE(Release);
};

/// Whether a server will keep a version, of all of its chunks.
struct Reserved {
  using Wire = schema::Reserved;
  bool reserved = false;    ///< false: it has begun to make that version, or has made it
  std::uint64_t first = 0;  ///< the first version that could be reserved
  STERNA_DECLARE_MESSAGE(Reserved);
};

/// From the evaluator of a job that leaves it to him (JobConfig::names_evaluations): `version` is
/// to be kept until he releases it.
struct Reserve {
  using Wire = schema::Reserve;
  using Reply = Reserved;
  std::uint64_t version = 0;
  STERNA_DECLARE_MESSAGE(Reserve);
};

/// What an answer says of the shard that it is from; all zero where a reader holds all examples.
struct ShardOf {
  std::uint64_t examples = 0;  ///< of the whole training set
  std::uint64_t dataset = 0;   ///< tells training sets apart: the first 8 bytes of its SHA-256
  bool operator==(const ShardOf&) const = default;
};

/// The rows of one rank's batch that were asked for; from a reader with a shard those of them that
/// lie in it (maybe none).
struct Batch {
  using Wire = schema::Batch;
  static constexpr Lane kLane = Lane::data;
  std::uint64_t step = 0;
  std::uint32_t rank = 0;
  Bytes pixels;                          ///< a byte each, NHWC
  Bytes levels;                          ///< what they stand for: see levels_of
  Bytes labels;                          ///< see labels_of
  std::vector<std::uint32_t> rows = {};  ///< from a shard: which of the batch these are, ascending
  ShardOf of = {};
  Result<void> check() const;
  STERNA_DECLARE_MESSAGE(Batch);
};

/// The labels of a batch, on the wire 16 bits each, the lower byte first.
std::vector<std::uint16_t> labels_of(const Batch& batch);
/// Of each picture a center for each channel, then a scale for each (nets/tensor/pixels.h).
std::vector<float> levels_of(const Batch& batch);

/// Asks for neighbouring rows of a rank's batch, so that no answer is longer than a link's turn.
struct NextBatch {
  using Wire = schema::NextBatch;
  using Reply = Batch;
  static constexpr bool kAskedAgain = true;  ///< a reader that was lost, or another in its place
  std::uint64_t step = 0;
  std::uint32_t rank = 0;
  std::uint32_t first_row = 0;
  std::uint32_t rows = 0;  ///< 0: all that follow
  STERNA_DECLARE_MESSAGE(NextBatch);
};

struct ParameterServerInterface
    : Interface<Push, Pull, Release, Offer, Compare, Reserve, KeepVersion, Rejoin, RecallScalers,
                Concluded, TakeOver, CopyChunk, CopyBoard, KeepCopy, Forward> {};
struct InputReaderInterface : Interface<NextBatch> {};
/// These two drive.
struct WorkerInterface : Interface<KeepVersion, Enlist, ShowHeld, CopyChunk, KeepCopy> {};
struct EvaluatorInterface : Interface<Enlist, TakeOver> {};

}  // namespace sterna::actors
