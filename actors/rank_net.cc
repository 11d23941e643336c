#include "actors/rank_net.h"

#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace sterna::actors {
namespace {

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
  on_settled_ = std::move(events.settled);
  encoder_.emplace(job_, rank_, isa_, table_, std::move(events.encoder));
}

Result<double> RankNet::step(std::uint64_t step, const Batch& batch) {
  const auto tensors = static_cast<std::uint32_t>(table_->tensors.size());
  encoder_->begin(step);
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
  encode_held();
  return total;
}

void RankNet::gradient(std::size_t index, std::span<const float> values) {
  const auto tensor = static_cast<std::uint32_t>(index);
  // A layer's gradients are complete before it passes on to the layer below, so that a report from
  // below says that all layers above are done with their parameters.
  if (tensor < lowest_) {
    const bool moved = settled_.exchange(lowest_, std::memory_order_acq_rel) != lowest_;
    lowest_ = tensor;
    if (moved) on_settled_();
  }
  if (error_) return;
  const Result<void> added = encoder_->add(tensor, values);
  if (!added) error_ = Error(added.error()).in(table_->tensors[tensor].spec.name);
}

void RankNet::encode_held() {
  encoder_->encode_held();
  encoder_->flush();
}

void RankNet::write(std::uint32_t index, ByteView values) {
  const TableChunk& chunk = table_->chunks[index];
  std::memcpy(net_->parameter(chunk.tensor).data() + chunk.first, values.data(), values.size());
}

}  // namespace sterna::actors
