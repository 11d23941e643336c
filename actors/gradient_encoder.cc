#include "actors/gradient_encoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/scaler.h"
#include "kernels/ternary.h"

namespace sterna::actors {
namespace {

/// Packets wait for their neighbours until this many bytes are together: a message costs some 20 µs
/// of both ends' time, as much as 64 KB take on a local socket.
constexpr std::size_t kPushBytes = std::size_t{64} << 10;

}  // namespace

GradientEncoder::GradientEncoder(const JobConfig& job, std::uint32_t rank, kernels::Isa isa,
                                 std::shared_ptr<const ParameterTable> table, Events events)
    : job_(job), rank_(rank), isa_(isa), table_(std::move(table)), events_(std::move(events)) {
  scalers_.resize(table_->tensors.size());
  pending_.resize(table_->shards);
  shared_.resize(table_->scalers.size());
  for (std::uint32_t i = 0; i < table_->scalers.size(); ++i) {
    Range& range = scalers_[table_->scalers[i].tensor];
    if (range.last == 0) range.first = i;
    range.last = i + 1;
  }
}

void GradientEncoder::begin(std::uint64_t step) {
  step_ = step;
  held_.clear();
}

// ---- scalers ----

/// Of which step the scalers are that a step's trits stand for.
std::uint64_t GradientEncoder::step_of_scalers(std::uint64_t step) const {
  return job_.gradient.scaler == ScalerRule::LAST_STEP && step > 0 ? step - 1 : step;
}

void GradientEncoder::agree(std::uint64_t step, std::uint32_t index, float value) {
  const std::lock_guard lock(mutex_);
  shared_[index] = {.known = true, .step = step, .value = value};
}

bool GradientEncoder::may_begin(std::uint64_t step) const {
  const std::uint64_t wanted = step_of_scalers(step);
  if (job_.gradient.scaler == ScalerRule::OWN || wanted == step) return true;
  const std::lock_guard lock(mutex_);
  return std::all_of(shared_.begin(), shared_.end(),
                     [&](const Shared& one) { return one.known && one.step == wanted; });
}

std::vector<float> GradientEncoder::agreed(Range range) const {
  const std::uint64_t wanted = step_of_scalers(step_);
  std::vector<float> values;
  const std::lock_guard lock(mutex_);
  for (std::uint32_t i = range.first; i < range.last; ++i) {
    if (!shared_[i].known || shared_[i].step != wanted) return {};
    values.push_back(shared_[i].value);
  }
  return values;
}

Result<std::vector<float>> GradientEncoder::own_scalers(std::uint32_t tensor,
                                                        std::span<const float> values) const {
  const Range range = scalers_[tensor];
  std::vector<float> scalers;
  for (std::uint32_t i = range.first; i < range.last; ++i) {
    const TableScaler& of = table_->scalers[i];
    STERNA_ASSIGN(const float scaler,
                  kernels::scaler(values.subspan(of.first, of.count),
                                  static_cast<float>(job_.gradient.clip), isa_));
    scalers.push_back(scaler);
  }
  return scalers;
}

void GradientEncoder::offer(Range range, const std::vector<float>& scalers) {
  std::vector<std::vector<Offer::OwnScaler>> by_shard(table_->shards);
  for (std::uint32_t i = range.first; i < range.last; ++i) {
    by_shard[table_->scalers[i].shard].push_back({i, scalers[i - range.first]});
  }
  for (std::uint32_t shard = 0; shard < by_shard.size(); ++shard) {
    if (!by_shard[shard].empty()) events_.offers(step_, shard, std::move(by_shard[shard]));
  }
}

// ---- packets ----

Result<void> GradientEncoder::add(std::uint32_t tensor, std::span<const float> values) {
  if (table_->tensors[tensor].codec != Codec::TERNARY) {
    // Without a clip factor this only looks for what is not finite.
    STERNA_TRY(kernels::scaler(values, 0, isa_));
    encode(tensor, values, {});
    return {};
  }
  STERNA_ASSIGN(const std::vector<float> own, own_scalers(tensor, values));
  if (job_.gradient.scaler == ScalerRule::OWN) {
    encode(tensor, values, own);
    return {};
  }
  offer(scalers_[tensor], own);
  if (const std::vector<float> shared = agreed(scalers_[tensor]); !shared.empty()) {
    encode(tensor, values, shared);
  } else {
    held_.push_back({tensor, values});
  }
  encode_held();
  return {};
}

void GradientEncoder::encode_held() {
  std::erase_if(held_, [this](const Held& held) {
    const std::vector<float> shared = agreed(scalers_[held.tensor]);
    if (shared.empty()) return false;
    encode(held.tensor, held.values, shared);
    return true;
  });
}

void GradientEncoder::encode(std::uint32_t index, std::span<const float> values,
                             const std::vector<float>& scalers) {
  const TableTensor& tensor = table_->tensors[index];
  const bool ternary = tensor.codec == Codec::TERNARY;
  const std::size_t bytes = ternary ? kernels::planes_bytes(values.size()) : values.size_bytes();
  const std::shared_ptr<Buffer> buffer = pool_.take(bytes);
  std::size_t at = 0;
  for (std::uint32_t c = tensor.first_chunk; c < tensor.first_chunk + tensor.chunks; ++c) {
    const TableChunk& chunk = table_->chunks[c];
    const std::size_t size = table_->packet_bytes(chunk);
    const std::span<const float> part = values.subspan(chunk.first, chunk.count);
    const MutableBytes payload = buffer->bytes().subspan(at, size);
    const float scaler = ternary ? scalers[chunk.scaler - scalers_[index].first] : 1.0F;
    if (ternary) {
      kernels::ternarize(part, scaler,
                         {.seed = job_.seed,
                          .step = static_cast<std::uint32_t>(step_),
                          .rank = rank_,
                          .tensor = index},
                         chunk.first, payload, isa_);
    } else {
      std::memcpy(payload.data(), part.data(), size);
    }
    gather({.chunk = c,
            .codec = tensor.codec,
            .scaler = scaler,
            .count = chunk.count,
            .payload = Bytes(buffer, payload)},
           chunk.shard);
    at += size;
  }
}

void GradientEncoder::gather(Packet packet, std::uint32_t shard) {
  Pending& pending = pending_[shard];
  pending.bytes += packet.payload.size();
  pending.packets.push_back(std::move(packet));
  if (pending.bytes > kPushBytes) send(shard);
}

void GradientEncoder::send(std::uint32_t shard) {
  Pending& pending = pending_[shard];
  if (pending.packets.empty()) return;
  events_.packets(step_, shard, std::exchange(pending.packets, {}));
  pending.bytes = 0;
}

void GradientEncoder::flush() {
  for (std::uint32_t shard = 0; shard < pending_.size(); ++shard) send(shard);
}

}  // namespace sterna::actors
