// Shard: the state of one parameter server, without actors: packets in, new versions out.
//
// Each chunk has a version of its own. The ranks' packets are kept packed, as they were received,
// until the scheme says that they make the next version; then one pass decodes, sums in rank order,
// averages and applies the optimizer into a fresh buffer, which becomes that version. A version
// that somebody pulls is immutable, so that it is sent from where it lies. Nothing depends on the
// order of arrival.
//
// Where the ranks share scalers, their trits are summed as integers; the sums may travel down in
// place of the parameters, to workers that step from them as this shard does. It does so later: the
// sums of a few steps are kept, and the parameters come from memory and go back to it once for all
// of them, except where the scheme says that somebody wants a version's parameters.
//
// Chunks of tensors that are not trained ([init] train_only) stay at the job's first version, which
// stands for every one: nothing is pushed of them, and a pull of any version has them.
//
// Moving averages of the parameters, where the job has them, move in the same pass over memory. Of
// the versions that the evaluator takes, snapshots are of them, of the parameters, or of both.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "actors/checkpoint/kept_version.h"
#include "actors/checkpoint/read_state.h"
#include "actors/codecs/buffer_pool.h"
#include "actors/job/messages.h"
#include "actors/parameters/parameter_hash.h"
#include "actors/parameters/parameter_table.h"
#include "actors/parameters/update_rule.h"
#include "actors/schemes/scheme.h"
#include "actors/server/shard/chunk_updates.h"
#include "actors/server/shard/promised_versions.h"
#include "actors/server/shard/rank_packets.h"
#include "actors/server/shard/state_copy.h"
#include "actors/weights/initial_weights.h"
#include "kernels/isa/isa.h"

namespace sterna::actors {

class Shard {
 public:
  /// Of a chunk; an update that would make one more waits for the evaluator.
  static constexpr std::size_t kMaxSnapshots = PromisedVersions::kMaxSnapshots;
  /// Versions kept to be compared: a worker asks before it pushes what the next is made of.
  static constexpr std::size_t kMostCompared = 2;
  /// Steps of which a chunk keeps the sums, at 2 to 5 bits per element and step with up to 15
  /// ranks.
  static constexpr std::uint64_t kMostUnsettled = 4;

  /// The shard `index` of `table`, at the job's first version. It has no parameters before all
  /// parts of start(). `evaluated`: an evaluator takes versions. Errors: invalid_argument for an
  /// unknown optimizer, schedule or instruction set.
  static Result<Shard> make(const JobConfig& job, ParameterTable table, std::uint32_t index,
                            bool evaluated);
  /// Draws one of `parts` parts of the parameters from the job's seed, which gives the same bits
  /// however the table is cut. Different parts may be drawn in several threads at once.
  void start(std::uint32_t part = 0, std::uint32_t parts = 1);
  /// After that: the same part, where a file has it. Errors: those of reading.
  Result<void> load(const InitialWeights& weights, std::uint32_t part = 0, std::uint32_t parts = 1);

  const ParameterTable& table() const { return table_; }
  kernels::Isa isa() const { return isa_; }
  bool holds(std::uint32_t chunk) const {
    return chunk < table_.chunks.size() && table_.chunks[chunk].shard == index_;
  }

  /// Takes what is new of a push. The whole push is checked before any of it is taken; an error
  /// means that its sender broke the rules.
  Result<PushReply> accept(Push push);

  /// The next updates whose packets are complete, about `most_elements` of them; empty if there are
  /// none. Each taken must be run and published.
  ChunkUpdates take_ready(std::uint64_t most_elements);
  /// Makes the updates' results the current versions.
  void publish(ChunkUpdates updates);

  /// The earliest push of which a packet of this rank is missing here.
  std::uint64_t first_lacking(std::uint32_t rank) const;

  /// Of the whole table.
  std::size_t table_chunks() const { return chunks_.size(); }
  std::uint64_t version(std::uint32_t chunk) const { return chunks_[chunk].version; }
  /// Whether a pull of this can be answered now, must wait, or never will be (an error).
  Result<bool> available(std::uint32_t chunk, std::uint64_t version,
                         PayloadKind kind = PayloadKind::PARAMETERS) const;
  /// Whether a pull of the newest can be answered now.
  Result<bool> newest_available(std::uint32_t chunk, const Pull& pull) const;
  /// An available version, as fp32 or bf16.
  ParameterChunk parameters(std::uint32_t chunk, std::uint64_t version, Codec codec = Codec::FP32);
  /// The moving average that goes with an available version.
  ParameterChunk moving_average(std::uint32_t chunk, std::uint64_t version) const;
  /// All that a worker goes on from: of an available version.
  StateCopy state(std::uint32_t chunk, std::uint64_t version);
  /// The average of the gradients that led to the version that it has now.
  ParameterChunk average(std::uint32_t chunk) const { return chunks_[chunk].down; }
  /// The optimizer's constants in the step that led to a version.
  kernels::StepConstants constants(std::uint64_t version) const {
    return rule_.constants(version - 1);
  }
  /// Of a job that goes on from a checkpoint: where the optimizer's slots begin (slots_begin.h).
  void begin_slots_at(std::uint64_t step) { rule_.begin_slots_at(step); }
  /// The chunks that a worker compares, in the order of its question. An error means that its
  /// sender broke the rules.
  Result<std::vector<std::shared_ptr<HashedOnce>>> compared(const Compare& compare) const;
  // ---- a server beside this one that holds the same ----

  /// Whether a packet is of the step after the one that the chunk waits for: its rank got the next
  /// version from the other server, which this one has yet to make.
  bool is_early(std::uint32_t chunk, std::uint64_t base_version) const;
  /// Where ranks do not go in step: a chunk that has yet to come to the version that its packet is
  /// from, which those that are here lead to. None: the push can be judged.
  std::optional<std::uint32_t> behind(const Push& push) const;
  /// Whether the chunk is at `version` or a later one, and no update of it is under way; an error
  /// means that its asker broke the rules.
  Result<bool> can_be_copied(std::uint32_t chunk, std::uint64_t version) const;
  /// Of such a chunk all that the other goes on from; `values` makes those of `rest`.
  struct Copy {
    StateCopy values;
    ChunkCopy rest;
  };
  Copy copy(std::uint32_t chunk);
  /// Goes on from a copy, behind start() and before anything else; of all the shard's chunks, then
  /// copied(). Errors: malformed.
  Result<void> take_copy(std::uint32_t chunk, const ChunkCopy& copy);
  void copied();
  /// How large a copy of the chunk is at most.
  std::uint64_t bytes_of_copy(std::uint32_t chunk) const;
  /// Whether it has all that a server that was never lost has: also the versions before.
  bool whole() const { return just_copied_ == 0; }

  /// Whether the average that led to this version is not known here, of any of these chunks: it was
  /// copied, and has not changed since. Who needs that can have the state (PayloadKind::STATE).
  bool lacks_average(const std::vector<std::uint32_t>& chunks, std::uint64_t version) const;
  /// The shard's chunks that training changes.
  std::vector<std::uint32_t> changing() const;

  // ---- chunks whose versions a worker of this process makes on its devices (shard_made.cc) ----

  /// Whether updates that lead to `version` may begin: the evaluator is not too far behind. Else
  /// they are taken to wait for it.
  bool may_begin(std::uint64_t version) { return promised_.may_begin(version); }
  /// Who wants its state.
  struct Wanted {
    bool evaluated = false;
    bool kept = false;
    bool any() const { return evaluated || kept; }
  };
  /// They do, once for all chunks and in the order of the versions.
  Wanted begin(std::uint64_t version);
  /// A chunk, at a version. Where nobody wants that there are no values.
  struct Made {
    std::uint32_t chunk = 0;
    std::shared_ptr<Buffer> parameters;
    std::vector<std::shared_ptr<Buffer>> slots;  ///< where they are kept
    std::shared_ptr<Buffer> average = nullptr;   ///< moving, if the job has it
  };
  /// By chunk, the moving averages that go with the version that the worker begins from.
  std::vector<std::shared_ptr<const Buffer>> first_averages() const;
  void made(std::uint64_t version, Wanted wanted, Made made);

  // ---- checkpoints ----

  /// Where an array of the state goes; `needed`: nothing stands for it. Where a checkpoint has none
  /// it is a copy of `otherwise`, an array that is needed; if that is empty, as start() left it.
  struct StatePlace {
    StateTarget target;
    bool needed = false;
    std::span<const float> otherwise = {};
  };
  /// All of the state, to be read from a checkpoint behind start(), before anything else; then
  /// restored() for all chunks.
  std::vector<StatePlace> state_places();
  void restored();
  /// The state at `version` is to be kept, besides those of the job's file. False, and it will not
  /// be, where some chunk is too near. A shard that no step changes has each version at once.
  bool keep(std::uint64_t version);
  /// The newest version of a chunk.
  std::uint64_t newest() const;
  /// The part that is to be written, where all of it is there; then kept().written().
  std::optional<StatePart> take_kept();
  KeptVersion& kept() { return kept_; }

  // ---- what the evaluator says (PromisedVersions) ----

  Result<Reserved> reserve(std::uint64_t version) { return promised_.reserve(version); }
  Result<void> reserve_as(const std::vector<std::uint64_t>& named) {
    return promised_.reserve_as(named);
  }
  void release(std::uint64_t version) { promised_.release(version); }
  void conclude(std::uint64_t version) { promised_.conclude(version); }
  const std::set<std::uint64_t>& named() const { return promised_.named(); }
  bool waits_for_evaluator() const { return promised_.holds_back(); }

 private:
  struct Chunk {
    std::uint64_t version = 0;
    std::shared_ptr<Buffer> parameters;  // `version` lacks the unsettled steps; null while
                                         // an update that may change them is under way
    bool lent = false;                   // somebody may read them for as long as he likes
    bool updating = false;
    bool just_copied = false;  // and not changed since
    /// The version before, until all ranks have computed from `version`: a rank whose worker was
    /// lost may have to go on from there. Where workers step by themselves it is `parameters` with
    /// all but the last of the unsettled steps, if there are any.
    std::shared_ptr<Buffer> before;
    std::vector<std::shared_ptr<Buffer>> slots_before;  // where workers step
    ParameterChunk down_before;
    std::vector<SummedStep> unsettled;
    std::vector<std::shared_ptr<Buffer>> slots;  // of the optimizer
    std::shared_ptr<Buffer> average;             // moving, of the parameters, if the job has it
    bool average_lent = false;
    RankPackets packets;               // towards the next versions
    std::optional<float> scaler;       // of the packets that have come, where they share one
    std::shared_ptr<Buffer> residual;  // of the averages that were ternarized
    ParameterChunk down;               // what the workers get of `version`, if not parameters
    std::map<std::uint64_t, std::shared_ptr<HashedOnce>> compared;
  };

  Shard(const JobConfig& job, ParameterTable table, std::uint32_t index,
        std::unique_ptr<ServerPolicy> policy);
  /// Whether `version` is the one that is kept besides the newest.
  static bool is_before(const Chunk& chunk, std::uint64_t version) {
    return chunk.before != nullptr && version + 1 == chunk.version;
  }
  Result<void> open(Push& push);
  Result<void> check(const Packet& packet, std::uint64_t step) const;
  Result<void> open(Packet& packet);
  Combine combine(const TableChunk& place, std::uint64_t step) const;
  /// As far as the policy asks.
  static ChunkState state_of(const Chunk& chunk) {
    return {chunk.version, chunk.packets.waiting()};
  }
  bool complete(const Chunk& chunk) const { return policy_->complete(state_of(chunk)); }
  bool has_state(const Chunk& chunk, std::uint64_t version) const;
  /// The packets of a complete chunk's next version, with how much each counts.
  void take_packets(Chunk& chunk, ChunkUpdate& update) const;
  static std::uint32_t staleness(const Chunk& chunk, const Packet& packet);
  Result<void> take_ranks(std::uint32_t index, const ChunkCopy& copy);
  void take_snapshot(std::uint32_t index);
  std::vector<StatePiece> pieces_of(std::uint32_t chunk,
                                    const std::vector<std::shared_ptr<Buffer>>& slots,
                                    const std::shared_ptr<Buffer>& residual) const;
  /// Of what no step changes.
  std::vector<StatePiece> frozen_pieces() const;

  JobConfig job_;
  ParameterTable table_;
  std::uint32_t index_;
  std::unique_ptr<ServerPolicy> policy_;
  kernels::Isa isa_ = kernels::Isa::scalar;
  UpdateRule rule_;
  BufferPool pool_;
  std::vector<Chunk> chunks_;  // by the table's index; others' stay empty
  KeptVersion kept_;
  bool keeps_before_;
  // Complete chunks: the front of the table first, which the next forward pass begins with.
  std::set<std::uint32_t> ready_;
  PromisedVersions promised_;
  std::size_t just_copied_ = 0;  // chunks
};

}  // namespace sterna::actors
