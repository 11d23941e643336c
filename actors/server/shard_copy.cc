// What of a shard goes to a server that holds the same and was lost, and comes from its partner.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "actors/codecs/codec.h"
#include "actors/server/shard.h"

namespace sterna::actors {
namespace {

Error malformed(std::string message) { return {Errc::malformed, std::move(message)}; }

/// Whose open() checks what the job's codec has opened.
Codec opened_codec(Codec codec) {
  switch (codec_of(codec).packing) {
    case kernels::Packing::planes:
      return Codec::TERNARY;
    case kernels::Packing::bf16:
      return Codec::BF16;
    case kernels::Packing::fp32:
      break;
  }
  return Codec::FP32;
}

Bytes shared_or_none(const std::shared_ptr<const Buffer>& buffer) {
  return buffer == nullptr ? Bytes() : share(buffer);
}

}  // namespace

bool Shard::is_early(std::uint32_t index, std::uint64_t base_version) const {
  return holds(index) && !table_.frozen(index) && base_version == chunks_[index].version + 1;
}

std::optional<std::uint32_t> Shard::behind(const Push& push) const {
  for (const Packet& packet : push.packets) {
    if (!holds(packet.chunk) || table_.frozen(packet.chunk)) continue;
    const Chunk& chunk = chunks_[packet.chunk];
    const std::uint64_t next = complete(chunk) ? 1 : 0;
    const std::uint64_t to_come = policy_->one() ? chunk.packets.waiting() : next;
    const bool early = packet.base_version > chunk.version;
    if (early && packet.base_version <= chunk.version + to_come) return packet.chunk;
  }
  return std::nullopt;
}

Result<bool> Shard::can_be_copied(std::uint32_t index, std::uint64_t version) const {
  if (!holds(index) || version > job_.steps) {
    return Error{Errc::invalid_argument, fmt::format("a copy of chunk {}, at version {}, which is "
                                                     "not in shard {}",
                                                     index, version, index_)};
  }
  const Chunk& chunk = chunks_[index];
  return table_.frozen(index) || (chunk.version >= version && !chunk.updating);
}

Shard::Copy Shard::copy(std::uint32_t index) {
  Chunk& chunk = chunks_[index];
  ChunkCopy rest;
  rest.version = chunk.version;
  if (chunk.residual != nullptr) {
    const auto residual = make_buffer(chunk.residual->size());
    std::ranges::copy(chunk.residual->as<float>(), residual->as<float>().begin());
    rest.residual = share(residual);
  }
  if (!job_.in_step() && !table_.frozen(index)) chunk.packets.add_to(rest);
  for (const auto& [version, snapshot] : promised_.kept(index)) {
    rest.snapshots.push_back({.version = version,
                              .parameters = shared_or_none(snapshot.parameters),
                              .average = shared_or_none(snapshot.average)});
  }
  return {{*chunk.parameters, chunk.slots, chunk.average.get(), chunk.unsettled, pool_},
          std::move(rest)};
}

std::uint64_t Shard::bytes_of_copy(std::uint32_t index) const {
  const std::size_t snapshots = 2 * kMaxSnapshots;
  const std::size_t waiting = job_.in_step() ? 0 : job_.ranks;
  const std::size_t arrays = 1 + chunks_[index].slots.size() + 2 + snapshots + waiting;
  return arrays * chunks_[index].parameters->size();
}

Result<void> Shard::take_copy(std::uint32_t index, const ChunkCopy& copy) {
  Chunk& chunk = chunks_[index];
  const auto fill = [&](ByteView& from, Buffer& into) {
    std::memcpy(into.bytes().data(), from.data(), into.size());
    from = from.subspan(into.size());
  };
  const std::size_t bytes = chunk.parameters->size();
  const std::size_t arrays = 1 + chunk.slots.size() + (chunk.average != nullptr ? 1 : 0);
  const std::size_t residual = chunk.residual != nullptr ? bytes : 0;
  if (copy.values.size() != arrays * bytes || copy.residual.size() != residual ||
      copy.version < job_.first_step || copy.version > job_.steps ||
      copy.snapshots.size() > kMaxSnapshots) {
    return malformed(fmt::format("chunk {}: a copy of something else", index));
  }
  ByteView values = copy.values.view();
  fill(values, *chunk.parameters);
  for (const auto& slot : chunk.slots) fill(values, *slot);
  if (chunk.average != nullptr) fill(values, *chunk.average);
  if (ByteView left = copy.residual.view(); chunk.residual != nullptr) fill(left, *chunk.residual);
  const auto taken = [&](const Bytes& from) -> std::shared_ptr<const Buffer> {
    if (from.size() != bytes) return nullptr;
    const auto buffer = pool_.take(bytes);
    ByteView view = from.view();
    fill(view, *buffer);
    return buffer;
  };
  for (const ChunkCopy::Snapshot& one : copy.snapshots) {
    promised_.keep(index, one.version,
                   {.parameters = taken(one.parameters), .average = taken(one.average)});
  }
  if (table_.frozen(index)) return {};
  if (!job_.in_step()) return take_ranks(index, copy);
  chunk.version = copy.version;
  chunk.packets.go_on_behind(copy.version);
  chunk.just_copied = copy.version < job_.steps;
  if (chunk.just_copied) ++just_copied_;
  promised_.begin(copy.version);
  return {};
}

/// Where ranks do not go in step: whose pushes are in the copy, or wait in it.
Result<void> Shard::take_ranks(std::uint32_t index, const ChunkCopy& copy) {
  const std::uint64_t count = table_.chunks[index].count;
  Chunk& chunk = chunks_[index];
  const Error wrong = malformed(fmt::format("chunk {}: a copy of other ranks", index));
  if (copy.waiting.size() > job_.ranks || !chunk.packets.go_on_from(copy)) return wrong;
  chunk.version = copy.version;
  for (const ChunkCopy::Waiting& one : copy.waiting) {
    Packet packet = one.packet;
    if (one.rank >= job_.ranks || chunk.packets.waits(one.rank) || packet.chunk != index ||
        packet.count != count || !std::isfinite(packet.scaler)) {
      return wrong;
    }
    STERNA_ASSIGN(
        packet.payload,
        codec_of(opened_codec(packet.codec)).open(packet.payload, {.count = count}, pool_, isa_));
    chunk.packets.wait(one.rank, std::move(packet));
    if (complete(chunk)) ready_.insert(index);
  }
  promised_.begin(copy.version);
  return {};
}

bool Shard::lacks_average(const std::vector<std::uint32_t>& chunks, std::uint64_t version) const {
  return std::ranges::any_of(chunks, [&](std::uint32_t index) {
    return holds(index) && chunks_[index].just_copied && chunks_[index].version == version;
  });
}

void Shard::copied() {
  restored();
  const std::uint64_t newest = std::min(this->newest(), job_.steps - 1);
  kept_.begin_behind(newest);
  for (const std::uint32_t index : changing()) {
    const Chunk& chunk = chunks_[index];
    if (chunk.version != job_.steps || !kept_.gathers(job_.steps)) continue;
    kept_.add(job_.steps, pieces_of(index, chunk.slots, chunk.residual));
  }
}

}  // namespace sterna::actors
