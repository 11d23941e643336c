#include "actors/worker/rank_net.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace sterna::actors {

Result<std::shared_ptr<RankNet>> RankNet::make(const JobConfig& job, std::uint32_t rank,
                                               std::shared_ptr<Replica> replica, bool shares,
                                               std::shared_ptr<const ParameterTable> table,
                                               const Clock& clock, GradientEncoder::Events events,
                                               Residuals residuals) {
  STERNA_ASSIGN(const Scheme scheme, find_scheme(job.scheme.name));
  std::shared_ptr<RankNet> made(new RankNet(job, rank, std::move(replica), table));
  if (scheme.local_steps != nullptr) {
    STERNA_ASSIGN(made->local_, scheme.local_steps(job, rank, table));
    if (made->local_->follows_what_is_sent()) {
      events.sent = [net = made.get()](const TableChunk& place, std::span<const float> decoded) {
        net->local_->sent(place, decoded, net->replica_->values(place));
      };
    }
  }
  if (rank == 0 && job.summary.has_histograms()) {
    made->watch_.emplace(job, table, made->replica_->isa());
    events.packets = [watch = &*made->watch_, send = std::move(events.packets)](
                         std::uint64_t step, std::uint32_t shard, std::vector<Packet> packets) {
      watch->sent(packets);
      send(step, shard, std::move(packets));
    };
  }
  made->kept_.resize(table->tensors.size());
  made->clipped_.resize(table->tensors.size());
  made->encoder_.emplace(job, rank, made->replica_->isa(), std::move(table), clock,
                         std::move(events), shares, std::move(residuals));
  return made;
}

void RankNet::set_trace(const std::shared_ptr<Tracer>& tracer) {
  if (!tracer->started()) return;
  std::vector<std::string> names;
  for (const TableTensor& tensor : table_->tensors) names.push_back(tensor.spec.name);
  trace_.emplace(tracer, rank_, names);
}

std::string RankNet::where(std::uint64_t step) const {
  return fmt::format("rank {}, step {}", rank_, step);
}

Result<bool> RankNet::forward(std::uint64_t step, const Batch& batch, std::uint32_t readable) {
  Span span;
  if (trace_) span = trace_->forward(step);
  if (watch_ && watch_->begin(step, batch)) {
    replica_->watch_activations([watch = &*watch_](const std::string& layer, const auto values) {
      watch->activation(layer, values);
    });
  }
  return replica_->forward(step, rank_, batch, readable).in(where(step));
}

Result<nets::Net::Loss> RankNet::backward(const RankStep& of) {
  const std::uint64_t step = of.step;
  if (of.pushes) encoder_->begin(of.push);
  if (local_ != nullptr) local_->begin(of);
  error_.reset();
  Span span;
  if (trace_) span = trace_->backward(step);
  computing_.store(true, std::memory_order_release);
  auto loss = replica_->backward(*this);
  computing_.store(false, std::memory_order_release);
  if (!loss) return Error(loss.error()).in(where(step));
  const double total = double{loss->cross_entropy} + double{loss->regularization};
  if (!std::isfinite(total)) {
    return Error{Errc::non_finite, fmt::format("{}: the loss is {}", where(step), total)};
  }
  if (keeps_gradients()) take_kept();
  if (error_) return Error(*error_).in(where(step));
  encode_held();
  return loss;
}

void RankNet::gradient(std::size_t index, std::span<const float> values) {
  const auto tensor = static_cast<std::uint32_t>(index);
  if (trace_) trace_->layer_done(tensor);
  if (watch_) watch_->gradient(tensor, values, replica_->values(tensor));
  // What is clipped together, or steps by itself, waits for the end of the passes.
  const bool statistic = table_->tensors[tensor].spec.role == nets::Role::statistic;
  if (statistic ? local_ != nullptr : keeps_gradients()) {
    kept_[tensor] = values;
  } else {
    encode(tensor, values);
  }
  if (trace_) trace_->layer_begins();
}

void RankNet::encode(std::uint32_t tensor, std::span<const float> values) {
  if (error_) return;
  Span span;
  if (trace_) span = trace_->encode(tensor);
  const Result<void> added = encoder_->add(tensor, values);
  if (!added) error_ = Error(added.error()).in(table_->tensors[tensor].spec.name);
}

/// All gradients times clip_norm / max(norm, clip_norm), the norm being that of all together; then
/// each goes where the scheme says.
void RankNet::take_kept() {
  double squares = 0;
  const auto statistic = [&](std::size_t tensor) {
    return table_->tensors[tensor].spec.role == nets::Role::statistic;
  };
  const bool may_clip = job_.gradient.clip_norm > 0;
  for (std::size_t tensor = 0; may_clip && tensor < kept_.size(); ++tensor) {
    if (statistic(tensor)) continue;
    for (const float value : kept_[tensor]) squares += double{value} * double{value};
  }
  const double norm = std::sqrt(squares);
  const bool clips = may_clip && std::isfinite(norm) && norm > job_.gradient.clip_norm;
  const auto factor = static_cast<float>(job_.gradient.clip_norm / norm);
  for (auto tensor = static_cast<std::uint32_t>(kept_.size()); tensor-- > 0;) {
    std::span<const float> values = kept_[tensor];
    if (values.empty()) continue;  // statistics that are on their way, and what is frozen
    if (clips && !statistic(tensor)) {
      std::vector<float>& clipped = clipped_[tensor];
      clipped.resize(values.size());
      std::transform(values.begin(), values.end(), clipped.begin(),
                     [factor](float value) { return value * factor; });
      values = clipped;
    }
    if (local_ != nullptr) values = local_->gradient(tensor, values, replica_->values(tensor));
    if (!values.empty()) encode(tensor, values);
  }
}

void RankNet::encode_held() {
  Span span;
  if (trace_) span = trace_->encode(table_->tensors.size());
  encoder_->encode_held();
  encoder_->flush();
}

std::optional<Watched> RankNet::take_watched() { return watch_ ? watch_->take() : std::nullopt; }

std::vector<KeptArray> RankNet::kept() {
  return local_ == nullptr ? std::vector<KeptArray>() : local_->kept();
}

void RankNet::restored() {
  for (std::uint32_t tensor = 0; tensor < table_->tensors.size(); ++tensor) {
    const TableTensor& place = table_->tensors[tensor];
    if (place.spec.role == nets::Role::statistic || place.frozen) continue;
    local_->restored(tensor, replica_->values(tensor));
  }
}

GradientEncoder::Counts RankNet::counts() const {
  GradientEncoder::Counts sum;
  for (std::uint32_t t = 0; t < table_->tensors.size(); ++t) {
    const GradientEncoder::Counts& one = encoder_->counts(t);
    sum.nonzero += one.nonzero;
    sum.measured += one.measured;
    sum.saturated += one.saturated;
  }
  return sum;
}

void RankNet::add_to(std::vector<TensorTotals>& totals) const {
  for (std::uint32_t t = 0; t < totals.size(); ++t) {
    const GradientEncoder::Counts& own = encoder_->counts(t);
    totals[t].pushes += own.steps;
    totals[t].bytes_up += own.bytes;
    totals[t].ternarized += own.ternarized;
    totals[t].nonzero += own.nonzero;
    totals[t].measured += own.measured;
    totals[t].saturated += own.saturated;
    totals[t].encode_seconds += std::chrono::duration<double>(own.encoding).count();
  }
}

}  // namespace sterna::actors
