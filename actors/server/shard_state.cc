// What of a shard goes into checkpoints, and comes from them.
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "actors/checkpoint/state_part.h"
#include "actors/server/shard.h"
#include "kernels/sums/bf16.h"

namespace sterna::actors {

std::vector<std::uint32_t> Shard::changing() const {
  std::vector<std::uint32_t> changing = table_.chunks_of(index_);
  std::erase_if(changing, [&](std::uint32_t chunk) { return table_.frozen(chunk); });
  return changing;
}

std::vector<StatePiece> Shard::pieces_of(std::uint32_t index,
                                         const std::vector<std::shared_ptr<Buffer>>& slots,
                                         const std::shared_ptr<Buffer>& residual) const {
  const Chunk& chunk = chunks_[index];
  const TableChunk& place = table_.chunks[index];
  const std::string& tensor = table_.tensors[place.tensor].spec.name;
  std::vector<StatePiece> pieces;
  const auto add = [&](std::string_view kind, const std::shared_ptr<const Buffer>& values) {
    pieces.push_back({array_of(kind, tensor), place.first, share(values)});
  };
  add(kParameterState, chunk.parameters);
  if (chunk.average != nullptr) add(kAverageState, chunk.average);
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    add(slot_state(job_.optimizer.name, slot), slots[slot]);
  }
  if (residual != nullptr) add(kDownResidualState, residual);
  return pieces;
}

std::vector<StatePiece> Shard::frozen_pieces() const {
  std::vector<StatePiece> pieces;
  for (const std::uint32_t index : table_.chunks_of(index_)) {
    if (table_.frozen(index)) pieces.push_back(pieces_of(index, {}, nullptr).front());
  }
  return pieces;
}

std::optional<StatePart> Shard::take_kept() {
  std::optional<StatePart> part = kept_.take();
  if (!part) return part;
  for (StatePiece& piece : frozen_pieces()) part->pieces.push_back(std::move(piece));
  if (index_ == 0 && rule_.slots_begin() > 0) {
    const std::array<float, 2> note = note_of(rule_.slots_begin());
    part->pieces.push_back(
        {slots_begin_state(job_.optimizer.name), 0, copy_bytes(std::as_bytes(std::span(note)))});
  }
  return part;
}

std::vector<Shard::StatePlace> Shard::state_places() {
  std::vector<StatePlace> places;
  for (const std::uint32_t index : table_.chunks_of(index_)) {
    const TableChunk& place = table_.chunks[index];
    const std::string& tensor = table_.tensors[place.tensor].spec.name;
    Chunk& chunk = chunks_[index];
    const auto add = [&](std::string_view kind, Buffer& into, bool needed,
                         std::span<const float> otherwise = {}) {
      places.push_back(
          {{array_of(kind, tensor), place.first, into.as<float>()}, needed, otherwise});
    };
    add(kParameterState, *chunk.parameters, true);
    if (chunk.average != nullptr) {
      add(kAverageState, *chunk.average, false, chunk.parameters->as<float>());
    }
    for (std::size_t slot = 0; slot < chunk.slots.size(); ++slot) {
      add(slot_state(job_.optimizer.name, slot), *chunk.slots[slot], false);
    }
    if (chunk.residual != nullptr) add(kDownResidualState, *chunk.residual, false);
  }
  return places;
}

void Shard::restored() {
  if (job_.gradient.down != Down::parameters_bf16) return;
  // As workers would have got this version from the step that led to it.
  for (const std::uint32_t index : changing()) {
    const TableChunk& place = table_.chunks[index];
    if (table_.tensors[place.tensor].spec.role == nets::Role::statistic) continue;
    Chunk& chunk = chunks_[index];
    const auto rounded = pool_.take(place.count * 2);
    kernels::encode_bf16(chunk.parameters->as<float>(), rounded->bytes(), isa_);
    chunk.down = {.chunk = index, .codec = Codec::BF16, .payload = share(rounded)};
  }
}

bool Shard::keep(std::uint64_t version) {
  // An update may be under way that leads to the next version.
  const std::vector<std::uint32_t> mine = changing();
  if (mine.empty()) {
    kept_.name(version);
    return kept_.gathers(version);
  }
  const bool near = std::ranges::any_of(
      mine, [&](std::uint32_t index) { return chunks_[index].version + 2 > version; });
  if (!near) kept_.name(version);
  return !near;
}

std::uint64_t Shard::newest() const {
  std::uint64_t newest = 0;
  for (const Chunk& chunk : chunks_) newest = std::max(newest, chunk.version);
  return newest;
}

}  // namespace sterna::actors
