#include "actors/shard.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "kernels/sums.h"
#include "kernels/ternary.h"

namespace sterna::actors {
namespace {

Error broken(std::string message) { return {Errc::invalid_argument, std::move(message)}; }

/// The whole tensor's start, computed once per tensor that this shard has a part of.
std::vector<float> start_of(const ParameterTable& table, std::uint32_t tensor, std::uint64_t seed) {
  std::vector<float> values(table.tensors[tensor].count);
  nets::initialize(values, table.tensors[tensor].spec, seed, tensor);
  return values;
}

/// All exponent bits set: NaN or infinity. The payload may lie at any alignment.
bool all_finite(ByteView payload) {
  constexpr std::uint32_t kExponent = 0x7F800000;
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i + sizeof(float) <= payload.size(); i += sizeof(float)) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, payload.data() + i, sizeof(bits));
    bad |= static_cast<std::uint32_t>((bits & kExponent) == kExponent);
  }
  return bad == 0;
}

}  // namespace

void ChunkUpdates::run() {
  for (Update& update : updates_) run(update);
}

void ChunkUpdates::run(Update& update) const {
  std::vector<kernels::Packet> packets;
  for (const Packet& packet : update.packets) {
    packets.push_back({.packing = packet.codec == Codec::TERNARY ? kernels::Packing::planes
                                                                 : kernels::Packing::fp32,
                       .scaler = packet.scaler,
                       .payload = packet.payload.view()});
  }
  std::vector<std::span<float>> slots;
  for (const auto& slot : update.slots) slots.push_back(slot->as<float>());
  const kernels::Parameters parameters{
      .current = update.current->as<float>(), .slots = slots, .next = update.next->as<float>()};
  if (update.sums) {
    kernels::sum_trits(packets, update.sums->bytes(), isa_);
    const kernels::SumPacket sums{.ranks = static_cast<std::uint32_t>(packets.size()),
                                  .scaler = packets.front().scaler,
                                  .payload = update.sums->bytes()};
    kernels::update(sums, update.options, parameters, isa_);
    return;
  }
  if (update.average) {
    kernels::average(packets, update.average->as<float>(), isa_);
    const kernels::Packet average{.packing = kernels::Packing::fp32,
                                  .payload = update.average->bytes()};
    packets.assign(1, average);
  }
  kernels::update(packets, update.options, parameters, isa_);
}

std::vector<std::uint32_t> ChunkUpdates::chunks() const {
  std::vector<std::uint32_t> chunks;
  for (const Update& update : updates_) chunks.push_back(update.chunk);
  return chunks;
}

Shard::Shard(const JobConfig& job, ParameterTable table, std::uint32_t index, bool snapshots)
    : job_(job), table_(std::move(table)), index_(index), keep_snapshots_(snapshots) {}

Result<Shard> Shard::make(const JobConfig& job, ParameterTable table, std::uint32_t index,
                          bool snapshots) {
  Shard shard(job, std::move(table), index, snapshots);
  STERNA_ASSIGN(shard.isa_, kernels::parse_isa(job.isa));
  STERNA_ASSIGN(shard.rule_, UpdateRule::make(job));
  shard.chunks_.resize(shard.table_.chunks.size());
  std::vector<float> start;
  for (std::uint32_t c = 0; c < shard.chunks_.size(); ++c) {
    const TableChunk& place = shard.table_.chunks[c];
    if (place.shard != index) continue;
    if (start.empty() || place.first == 0 || !shard.holds(c - 1)) {
      start = start_of(shard.table_, place.tensor, job.seed);
    }
    Chunk& chunk = shard.chunks_[c];
    const std::size_t bytes = place.count * sizeof(float);
    const std::shared_ptr<Buffer> values = shard.pool_.take(bytes);
    std::memcpy(values->data(), start.data() + place.first, bytes);
    chunk.parameters = values;
    for (std::size_t i = 0; i < shard.rule_.slots(); ++i) {
      chunk.slots.push_back(make_buffer(bytes));
    }
    chunk.packets.resize(job.ranks);
    chunk.arrived.resize(job.ranks);
    chunk.counted.resize(job.ranks);
    chunk.missing = job.ranks;
  }
  return shard;
}

Result<void> Shard::check(const Packet& packet) const {
  if (!holds(packet.chunk)) {
    return broken(fmt::format("chunk {} is not in shard {}", packet.chunk, index_));
  }
  const TableChunk& place = table_.chunks[packet.chunk];
  const TableTensor& tensor = table_.tensors[place.tensor];
  if (packet.codec != tensor.codec) {
    return broken(fmt::format("chunk {} with another codec than the job's", packet.chunk));
  }
  if (packet.count != place.count || packet.payload.size() != table_.packet_bytes(place)) {
    return broken(fmt::format("chunk {}: {} elements in {} bytes; expected {} in {}", packet.chunk,
                              packet.count, packet.payload.size(), place.count,
                              table_.packet_bytes(place)));
  }
  if (!std::isfinite(packet.scaler) || packet.scaler < 0) {
    return broken(fmt::format("chunk {}: a scaler of {}", packet.chunk, packet.scaler));
  }
  if (packet.codec == Codec::TERNARY) {
    const Result<void> planes = kernels::check_planes(packet.payload.view(), place.count);
    if (!planes) return Error(planes.error()).in(fmt::format("chunk {}", packet.chunk));
  } else if (!all_finite(packet.payload.view())) {
    return broken(fmt::format("chunk {}: a gradient that is not finite", packet.chunk));
  }
  return {};
}

Result<void> Shard::check(const Push& push) const {
  if (push.epoch != job_.epoch) return broken(fmt::format("membership epoch {}", push.epoch));
  if (push.rank >= job_.ranks) return broken(fmt::format("rank {} of {}", push.rank, job_.ranks));
  if (push.step >= job_.steps) return broken(fmt::format("step {} of {}", push.step, job_.steps));
  if (push.kind != PayloadKind::GRADIENT) return broken("a push that is no gradient");
  if (push.examples != job_.batch) {
    return broken(fmt::format("{} examples in a batch of {}", push.examples, job_.batch));
  }
  // Synchronous steps: a gradient of step s is computed from version s.
  if (push.base_version != push.step) {
    return broken(fmt::format("step {} computed from version {}", push.step, push.base_version));
  }
  for (const Packet& packet : push.packets) {
    STERNA_TRY(check(packet));
    // Nobody has the parameters that a later step is computed from.
    if (push.step > chunks_[packet.chunk].version) {
      return broken(fmt::format("step {} of chunk {}, which is at version {}", push.step,
                                packet.chunk, chunks_[packet.chunk].version));
    }
    const Chunk& chunk = chunks_[packet.chunk];
    if (push.step == chunk.version && chunk.scaler && *chunk.scaler != packet.scaler) {
      return broken(fmt::format("chunk {}: a scaler of {}, and another rank's is {}", packet.chunk,
                                packet.scaler, *chunk.scaler));
    }
  }
  return {};
}

Result<std::vector<Verdict>> Shard::accept(Push push) {
  const Result<void> checked = check(push);
  if (!checked) {
    return Error(checked.error()).in(fmt::format("push of rank {}, step {}", push.rank, push.step));
  }
  std::vector<Verdict> verdicts;
  verdicts.reserve(push.packets.size());
  for (Packet& packet : push.packets) {
    const std::uint32_t index = packet.chunk;
    Chunk& chunk = chunks_[index];
    if (push.step < chunk.version) {
      const bool counted = push.step + 1 == chunk.version && chunk.counted[push.rank];
      verdicts.push_back(counted ? Verdict::DUPLICATE : Verdict::DROPPED);
    } else if (chunk.arrived[push.rank]) {
      verdicts.push_back(Verdict::DUPLICATE);
    } else {
      chunk.arrived[push.rank] = true;
      if (sums(table_.chunks[index])) chunk.scaler = packet.scaler;
      chunk.packets[push.rank] = std::move(packet);
      if (--chunk.missing == 0) ready_.push_back(index);
      verdicts.push_back(Verdict::ACCEPTED);
    }
  }
  return verdicts;
}

bool Shard::snapshots_full(const Chunk& chunk) const {
  return keep_snapshots_ && job_.evaluates(chunk.version + 1) &&
         chunk.snapshots.size() >= kMaxSnapshots;
}

/// Whether the packets of such a chunk are summed as integers.
bool Shard::sums(const TableChunk& place) const {
  return table_.tensors[place.tensor].codec == Codec::TERNARY && job_.shares_scalers();
}

ChunkUpdates Shard::take_ready(std::uint64_t most_elements) {
  ChunkUpdates updates;
  updates.isa_ = isa_;
  while (!ready_.empty()) {
    const std::uint32_t index = ready_.front();
    const TableChunk& place = table_.chunks[index];
    Chunk& chunk = chunks_[index];
    if (snapshots_full(chunk)) {
      held_back_.push_back(index);
      ready_.pop_front();
      continue;
    }
    if (!updates.empty() && updates.elements_ + place.count > most_elements) break;
    ready_.pop_front();
    const std::size_t bytes = place.count * sizeof(float);
    ChunkUpdates::Update& update = updates.updates_.emplace_back();
    update = {
        .chunk = index,
        .packets = std::exchange(chunk.packets, {}),
        .options = rule_.options(table_.tensors[place.tensor].spec, rule_.constants(chunk.version)),
        .current = chunk.parameters,
        .slots = chunk.slots,
        .next = pool_.take(bytes),
        .sums = nullptr,
        .average = nullptr};
    if (sums(place)) {
      update.sums = pool_.take(kernels::sum_bytes(place.count, job_.ranks));
    } else if (job_.gradient.down == Down::AVERAGE) {
      update.average = pool_.take(bytes);
    }
    updates.elements_ += place.count;
  }
  return updates;
}

void Shard::publish(ChunkUpdates updates) {
  for (ChunkUpdates::Update& update : updates.updates_) {
    Chunk& chunk = chunks_[update.chunk];
    chunk.parameters = std::move(update.next);
    ++chunk.version;
    chunk.packets = std::move(update.packets);
    for (Packet& packet : chunk.packets) packet.payload = {};  // gives the frames back
    std::swap(chunk.counted, chunk.arrived);
    chunk.arrived.assign(job_.ranks, false);
    chunk.missing = job_.ranks;
    chunk.scaler.reset();
    if (job_.gradient.down == Down::AVERAGE) {
      chunk.average = {.chunk = update.chunk,
                       .codec = update.sums ? Codec::SUMS : Codec::FP32,
                       .payload = share(update.sums ? update.sums : update.average),
                       .scaler = chunk.packets.front().scaler};
    }
    if (job_.compares(chunk.version)) {
      if (chunk.compared.size() == kMostCompared) chunk.compared.erase(chunk.compared.begin());
      chunk.compared[chunk.version] = std::make_shared<HashedOnce>(share(chunk.parameters));
    }
    if (keep_snapshots_ && job_.evaluates(chunk.version)) {
      chunk.snapshots.emplace(chunk.version, chunk.parameters);
    }
  }
}

Result<bool> Shard::available(std::uint32_t index, std::uint64_t version, PayloadKind kind) const {
  if (!holds(index)) return broken(fmt::format("chunk {} is not in shard {}", index, index_));
  if (version > job_.steps) {
    return broken(fmt::format("version {} of a job of {} steps", version, job_.steps));
  }
  const bool average = kind == PayloadKind::GRADIENT;
  if (kind == PayloadKind::DIFFERENCE ||
      (average && (job_.gradient.down != Down::AVERAGE || version == 0))) {
    return broken("of what this job's servers do not send");
  }
  const Chunk& chunk = chunks_[index];
  if (version > chunk.version) return false;
  if (version == chunk.version || (!average && chunk.snapshots.contains(version))) return true;
  return broken(
      fmt::format("version {} of chunk {} is gone; it is at {}", version, index, chunk.version));
}

Bytes Shard::parameters(std::uint32_t index, std::uint64_t version) const {
  const Chunk& chunk = chunks_[index];
  return share(version == chunk.version ? chunk.parameters : chunk.snapshots.at(version));
}

Result<std::vector<std::shared_ptr<HashedOnce>>> Shard::compared(const Compare& compare) const {
  std::vector<std::shared_ptr<HashedOnce>> compared;
  for (const Compare::Fingerprint& one : compare.chunks) {
    if (!holds(one.chunk))
      return broken(fmt::format("chunk {} is not in shard {}", one.chunk, index_));
    const Chunk& chunk = chunks_[one.chunk];
    const auto kept = chunk.compared.find(compare.version);
    if (kept == chunk.compared.end()) {
      return broken(fmt::format("version {} of chunk {} is not compared now; it is at {}",
                                compare.version, one.chunk, chunk.version));
    }
    compared.push_back(kept->second);
  }
  return compared;
}

void Shard::release(std::uint64_t version) {
  for (Chunk& chunk : chunks_) {
    chunk.snapshots.erase(chunk.snapshots.begin(), chunk.snapshots.upper_bound(version));
  }
  ready_.insert(ready_.end(), held_back_.begin(), held_back_.end());
  held_back_.clear();
}

}  // namespace sterna::actors
