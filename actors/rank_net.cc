#include "actors/rank_net.h"

#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "kernels/scaler.h"
#include "kernels/ternary.h"

namespace sterna::actors {
namespace {

/// Packets wait for their neighbours until this many bytes are together: a message costs some 20 µs
/// of both ends' time, as much as 64 KB take on a local socket.
constexpr std::size_t kPushBytes = std::size_t{64} << 10;

/// The images as floats; received frames may be aligned to less, which x86 does not mind, but C++
/// does: those are copied.
std::span<const float> floats(const Bytes& bytes, std::vector<float>& scratch) {
  const std::size_t count = bytes.size() / sizeof(float);
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(float) == 0) {
    return {reinterpret_cast<const float*>(bytes.data()), count};
  }
  scratch.resize(count);
  std::memcpy(scratch.data(), bytes.data(), count * sizeof(float));
  return scratch;
}

}  // namespace

Result<std::shared_ptr<RankNet>> RankNet::make(const JobConfig& job, std::uint32_t rank) {
  STERNA_ASSIGN(const kernels::Isa isa, kernels::parse_isa(job.isa));
  const bool decays = job.optimizer.decay_at == DecayAt::WORKER;
  STERNA_ASSIGN(auto net,
                nets::make_net(
                    {.name = job.net,
                     .hidden = job.hidden,
                     .batch = job.batch,
                     .weight_decay = decays ? static_cast<float>(job.optimizer.weight_decay) : 0.0F,
                     .threads = static_cast<int>(job.threads),
                     .isa = job.isa}));
  return std::shared_ptr<RankNet>(new RankNet(job, rank, isa, std::move(net)));
}

void RankNet::set_table(std::shared_ptr<const ParameterTable> table, Events events) {
  table_ = std::move(table);
  events_ = std::move(events);
  pending_.resize(table_->shards);
}

Result<double> RankNet::step(std::uint64_t step, const Batch& batch) {
  const auto tensors = static_cast<std::uint32_t>(table_->tensors.size());
  step_ = step;
  lowest_ = tensors;
  error_.reset();
  settled_.store(tensors, std::memory_order_release);
  computing_.store(true, std::memory_order_release);
  for (std::uint32_t t = 0; t < tensors; ++t) net_->parameters_changed(t);
  std::vector<float> scratch;
  const auto labels =
      std::span(reinterpret_cast<const std::uint8_t*>(batch.labels.data()), batch.labels.size());
  const auto loss = net_->train_step(floats(batch.images, scratch), labels, *this);
  computing_.store(false, std::memory_order_release);
  settled_.store(0, std::memory_order_release);
  const auto where = [&] { return fmt::format("rank {}, step {}", rank_, step); };
  if (!loss) return Error(loss.error()).in(where());
  const double total = double{loss->cross_entropy} + double{loss->regularization};
  if (!std::isfinite(total)) {
    return Error{Errc::non_finite, fmt::format("{}: the loss is {}", where(), total)};
  }
  if (error_) return Error(*error_).in(where());
  for (std::uint32_t shard = 0; shard < pending_.size(); ++shard) send(shard);
  return total;
}

void RankNet::gradient(std::size_t index, std::span<const float> values) {
  const auto tensor = static_cast<std::uint32_t>(index);
  // A layer's gradients are complete before it passes on to the layer below, so that a report from
  // below says that all layers above are done with their parameters.
  if (tensor < lowest_) {
    const bool moved = settled_.exchange(lowest_, std::memory_order_acq_rel) != lowest_;
    lowest_ = tensor;
    if (moved) events_.settled();
  }
  if (error_) return;
  const Result<void> packed = pack(tensor, values);
  if (!packed) error_ = Error(packed.error()).in(table_->tensors[tensor].spec.name);
}

Result<void> RankNet::pack(std::uint32_t index, std::span<const float> values) {
  const TableTensor& tensor = table_->tensors[index];
  const bool ternary = tensor.codec == Codec::TERNARY;
  // Without a clip factor this only looks for what is not finite.
  const float clip = ternary ? static_cast<float>(job_.gradient.clip) : 0.0F;
  STERNA_ASSIGN(const float scaler, kernels::scaler(values, clip, isa_));
  const std::size_t bytes = ternary ? kernels::planes_bytes(values.size()) : values.size_bytes();
  const std::shared_ptr<Buffer> buffer = pool_.take(bytes);
  if (ternary) {
    kernels::ternarize(values, scaler,
                       {.seed = job_.seed,
                        .step = static_cast<std::uint32_t>(step_),
                        .rank = rank_,
                        .tensor = index},
                       0, buffer->bytes(), isa_);
  } else {
    std::memcpy(buffer->data(), values.data(), bytes);
  }
  std::size_t at = 0;
  for (std::uint32_t c = tensor.first_chunk; c < tensor.first_chunk + tensor.chunks; ++c) {
    const TableChunk& chunk = table_->chunks[c];
    const std::size_t size = table_->packet_bytes(chunk);
    Pending& pending = pending_[chunk.shard];
    pending.packets.push_back({.chunk = c,
                               .codec = tensor.codec,
                               .scaler = ternary ? scaler : 1.0F,
                               .count = chunk.count,
                               .payload = Bytes(buffer, ByteView(buffer->data() + at, size))});
    pending.bytes += size;
    at += size;
  }
  for (std::uint32_t shard = 0; shard < pending_.size(); ++shard) {
    if (pending_[shard].bytes > kPushBytes) send(shard);
  }
  return {};
}

void RankNet::send(std::uint32_t shard) {
  Pending& pending = pending_[shard];
  if (pending.packets.empty()) return;
  events_.packets(step_, shard, std::exchange(pending.packets, {}));
  pending.bytes = 0;
}

void RankNet::write(std::uint32_t index, ByteView values) {
  const TableChunk& chunk = table_->chunks[index];
  std::memcpy(net_->parameter(chunk.tensor).data() + chunk.first, values.data(), values.size());
}

}  // namespace sterna::actors
