// PromisedVersions: which versions a shard keeps for the evaluator, and what waits for that.
//
// A version is promised before an update has begun to make it of any chunk, or not at all: so each
// chunk's snapshot of it is there from the update that makes it until the evaluator has done with
// it. Of no chunk are there ever more than kMaxSnapshots of these; an update that would make one
// more is held back instead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "actors/job/job.h"
#include "actors/job/messages.h"
#include "actors/schemes/scheme.h"

namespace sterna::actors {

class PromisedVersions {
 public:
  /// Of a chunk: those that are to be evaluated, and the one that is being evaluated until that is
  /// told.
  static constexpr std::size_t kMaxSnapshots = kMostSnapshots + 1;

  /// What the evaluator takes of a chunk's version: null where it does not.
  struct Snapshot {
    std::shared_ptr<const Buffer> parameters;
    std::shared_ptr<const Buffer> average;
  };
  using Snapshots = std::map<std::uint64_t, Snapshot>;  ///< by version

  /// Of a shard of so many chunks, in the whole table. `policy` says which versions they are; it is
  /// there as long as this.
  PromisedVersions(const JobConfig& job, ServerPolicy& policy, std::size_t chunks);

  // ---- what the evaluator says ----

  /// Promises `version`, if no update has begun to make it of any chunk. Errors: of who asks for
  /// what is not the evaluator's to choose.
  Result<Reserved> reserve(std::uint64_t version);
  /// Promises what another server of the shard has, and nothing else. Errors: malformed.
  Result<void> reserve_as(const std::vector<std::uint64_t>& named);
  /// The evaluator has done with `version`, or wants it no longer.
  void release(std::uint64_t version);
  /// The same of all versions up to this one.
  void conclude(std::uint64_t version);
  /// The promised versions that the evaluator has named.
  const std::set<std::uint64_t>& named() const { return named_; }

  // ---- updates ----

  /// Whether `version` is kept, as it has been promised.
  bool promises(std::uint64_t version) const { return policy_->evaluates(version); }
  /// Whether an update of the chunk to `version` may begin; else it is held back.
  bool may_begin(std::uint32_t chunk, std::uint64_t version);
  /// The same of an update of all chunks, which others make.
  bool may_begin(std::uint64_t version);
  /// Updates have begun to make `version`, of some chunk.
  void begin(std::uint64_t version) { begun_ = std::max(begun_, version); }
  /// The chunks whose updates were held back, and have not been since something was released: once.
  std::set<std::uint32_t> take_freed() { return std::exchange(freed_, {}); }
  /// Whether updates are held back.
  bool holds_back() const { return !held_back_.empty() || holds_others_back_; }

  // ---- snapshots ----

  void keep(std::uint32_t chunk, std::uint64_t version, Snapshot snapshot) {
    chunks_[chunk].emplace(version, std::move(snapshot));
  }
  /// Null: there is none.
  const Snapshot* kept(std::uint32_t chunk, std::uint64_t version) const;
  const Snapshots& kept(std::uint32_t chunk) const { return chunks_[chunk]; }

 private:
  void free_held_back() { freed_.merge(held_back_); }

  ServerPolicy* policy_;
  std::uint64_t begun_;  // the latest version that an update has begun to make of any chunk
  std::set<std::uint64_t> named_;
  std::vector<Snapshots> chunks_;
  std::set<std::uint32_t> held_back_;  // chunks
  std::set<std::uint32_t> freed_;
  bool holds_others_back_ = false;
};

}  // namespace sterna::actors
