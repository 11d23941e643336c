#include "actors/job/messages.h"

#include <cstring>

#include "actors/job/job.h"
#include "runtime/message/fields.h"

namespace sterna::actors {

namespace {
// A batch's rows; a server's chunks, or with buckets its scalers.
constexpr std::uint32_t kMostRows = 65536;
constexpr std::uint32_t kMostRanks = 65536;
constexpr std::uint32_t kMostChunks = 1U << 20;
}  // namespace

STERNA_FIELDS(Packet, FIELD(chunk, Chunk), FIELD(codec, Codec), FIELD(scaler, Scaler),
              FIELD(count, Count), FIELD(payload, Payload), FIELD(base_version, BaseVersion))
STERNA_MESSAGE(Push, FIELD(rank, Rank), FIELD(incarnation, Incarnation), FIELD(epoch, Epoch),
               FIELD(step, Step), FIELD(examples, Examples), FIELD(kind, Kind),
               FIELD(packets, Packets))
STERNA_MESSAGE(PushReply, FIELD(verdicts, Verdicts), FIELD(staleness, Staleness))

STERNA_FIELDS(Offer::OwnScaler, FIELD(index, Index), FIELD(value, Value))
STERNA_MESSAGE(Offer, FIELD(rank, Rank), FIELD(incarnation, Incarnation), FIELD(epoch, Epoch),
               FIELD(step, Step), FIELD(scalers, Scalers, at_most(kMostChunks)))
STERNA_MESSAGE(Agreed, FIELD(values, Values, at_most(kMostChunks)))

STERNA_MESSAGE(Pull, FIELD(version, Version), FIELD(chunks, Chunks), FIELD(kind, Kind),
               FIELD(codec, Codec), FIELD(newest, Newest), FIELD(rank, Rank), FIELD(pushes, Pushes))
STERNA_FIELDS(ParameterChunk, FIELD(chunk, Chunk), FIELD(codec, Codec), FIELD(payload, Payload),
              FIELD(scaler, Scaler), FIELD(version, Version))
STERNA_MESSAGE(Parameters, FIELD(version, Version), FIELD(kind, Kind), FIELD(chunks, Chunks),
               FIELD(ranks, Ranks), FIELD(constants, Constants))

STERNA_FIELDS(Compare::Fingerprint, FIELD(chunk, Chunk), FIELD(hash, Hash))
STERNA_MESSAGE(Compare, FIELD(version, Version), FIELD(chunks, Chunks, at_most(kMostChunks)))
STERNA_MESSAGE(Release, FIELD(version, Version))
STERNA_MESSAGE(Rejoin, FIELD(rank, Rank), FIELD(incarnation, Incarnation), FIELD(patient, Patient))
STERNA_MESSAGE(Rejoined, FIELD(step, Step), FIELD(version, Version))
STERNA_MESSAGE(RecallScalers, FIELD(rank, Rank), FIELD(incarnation, Incarnation), FIELD(step, Step))
STERNA_MESSAGE(Enlist)
STERNA_MESSAGE(Enlisted, FIELD(step, Step))
STERNA_MESSAGE(CopyChunk, FIELD(chunk, Chunk), FIELD(from, From))
STERNA_FIELDS(ChunkCopy::Snapshot, FIELD(version, Version), FIELD(parameters, Parameters),
              FIELD(average, Average))
STERNA_FIELDS(ChunkCopy::Waiting, FIELD(rank, Rank), FIELD(packet, Packet))
STERNA_MESSAGE(ChunkCopy, FIELD(version, Version), FIELD(values, Values), FIELD(residual, Residual),
               FIELD(snapshots, Snapshots), FIELD(judged, Judged, at_most(kMostRanks)),
               FIELD(taken, Taken, at_most(2 * kMostRanks)),
               FIELD(waiting, Waiting, at_most(kMostRanks)))
STERNA_MESSAGE(CopyBoard, FIELD(from, From))
STERNA_MESSAGE(ShowHeld)
STERNA_FIELDS(Held::Chunk, FIELD(chunk, Chunk), FIELD(version, Version))
STERNA_MESSAGE(Held, FIELD(chunks, Chunks, at_most(kMostChunks)))
STERNA_FIELDS(BoardCopy::Scaler, FIELD(step, Step), FIELD(known, Known), FIELD(last, Last),
              FIELD(before_last, BeforeLast))
STERNA_MESSAGE(BoardCopy, FIELD(scalers, Scalers, at_most(kMostChunks)), FIELD(version, Version),
               FIELD(skipped, Skipped), FIELD(named, Named, at_most(kMostSnapshots)),
               FIELD(order, Order))
STERNA_MESSAGE(Forward, FIELD(order, Order), FIELD(push, Push))
STERNA_MESSAGE(Concluded, FIELD(version, Version), FIELD(skipped, Skipped))
STERNA_MESSAGE(TakeOver)
STERNA_MESSAGE(Handover, FIELD(version, Version), FIELD(skipped, Skipped),
               FIELD(named, Named, at_most(kMostSnapshots)))
STERNA_MESSAGE(Reserve, FIELD(version, Version))
STERNA_MESSAGE(Reserved, FIELD(reserved, Reserved), FIELD(first, First))

STERNA_MESSAGE(NextBatch, FIELD(step, Step), FIELD(rank, Rank), FIELD(first_row, FirstRow),
               FIELD(rows, Rows))
STERNA_MESSAGE(Batch, FIELD(step, Step), FIELD(rank, Rank), FIELD(pixels, Pixels),
               FIELD(levels, Levels), FIELD(labels, Labels), FIELD(rows, Rows, at_most(kMostRows)),
               FIELD(of.examples, Examples), FIELD(of.dataset, Dataset))

Result<void> Batch::check() const {
  if (labels.size() % sizeof(std::uint16_t) != 0) return Error{Errc::malformed, "half a label"};
  if (levels.size() % sizeof(float) != 0) return Error{Errc::malformed, "a part of a level"};
  return {};
}

namespace {

/// Copied: a frame's bytes may be aligned to less.
template <class Number>
std::vector<Number> numbers_of(const Bytes& bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  return numbers;
}

}  // namespace

std::vector<std::uint16_t> labels_of(const Batch& batch) {
  return numbers_of<std::uint16_t>(batch.labels);
}

std::vector<float> levels_of(const Batch& batch) { return numbers_of<float>(batch.levels); }

}  // namespace sterna::actors
