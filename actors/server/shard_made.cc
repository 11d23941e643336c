// Chunks of a shard whose versions a worker of the same process makes on its devices
// (gradient.exchange). Their values come here only where somebody wants them.
#include <algorithm>
#include <utility>

#include "actors/server/shard.h"

namespace sterna::actors {

bool Shard::may_begin(std::uint64_t version) {
  others_wait_ = policy_->evaluates(version) && std::ranges::any_of(chunks_, [](const Chunk& one) {
                   return one.snapshots.size() >= kMaxSnapshots;
                 });
  return !others_wait_;
}

Shard::Wanted Shard::begin(std::uint64_t version) {
  begun_ = std::max(begun_, version);
  return {.evaluated = policy_->evaluates(version), .kept = kept_.gathers(version)};
}

std::vector<std::shared_ptr<const Buffer>> Shard::first_averages() const {
  std::vector<std::shared_ptr<const Buffer>> averages;
  for (const Chunk& chunk : chunks_) averages.push_back(chunk.average);
  return averages;
}

void Shard::made(std::uint64_t version, Wanted wanted, Made made) {
  Chunk& chunk = chunks_[made.chunk];
  chunk.version = version;
  chunk.parameters = std::move(made.parameters);
  chunk.slots = std::move(made.slots);
  chunk.average = std::move(made.average);
  if (wanted.kept) kept_.add(version, pieces_of(made.chunk, chunk.slots, nullptr));
  if (wanted.evaluated) take_snapshot(chunk);
}

}  // namespace sterna::actors
