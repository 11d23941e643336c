#include "actors/worker/ranks/rank_net.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "actors/codecs/codec.h"
#include "actors/encode/device_arithmetic.h"
#include "actors/encode/device_clip.h"
#include "actors/encode/device_sums.h"

namespace sterna::actors {
namespace {

Result<std::unique_ptr<AverageSums>> sums_on(
    const std::vector<std::shared_ptr<kernels::Device>>& devices, const ParameterTable& table) {
  if (devices.empty()) {
    return std::unique_ptr<AverageSums>(std::make_unique<HostSums>(table.tensors.size()));
  }
  std::vector<std::size_t> elements;
  for (const TableTensor& tensor : table.tensors) {
    elements.push_back(tensor.frozen ? 0 : tensor.count);
  }
  STERNA_ASSIGN(auto made, DeviceSums::make(devices, elements));
  return std::unique_ptr<AverageSums>(std::move(made));
}

}  // namespace

Result<std::unique_ptr<EncodeArithmetic>> arithmetic_for(
    const JobConfig& job, std::uint32_t rank, const Replica& replica,
    const std::shared_ptr<const ParameterTable>& table, bool copies, Residuals residuals,
    HostArithmetic::Sent sent) {
  const bool on_host = replica.device() == nullptr;
  auto host = std::make_unique<HostArithmetic>(job, rank, replica.isa(), table, copies && on_host,
                                               std::move(residuals), std::move(sent));
  if (on_host) return std::unique_ptr<EncodeArithmetic>(std::move(host));
  DeviceArithmetic::Places places;
  if (const ExchangedSteps* const steps = replica.exchanged()) {
    places = [steps, rank](std::uint32_t tensor, kernels::Packing packing) {
      return steps->place(tensor, rank, packing);
    };
  }
  STERNA_ASSIGN(auto made, DeviceArithmetic::make(job, rank, replica.isa(), table, replica.device(),
                                                  std::move(host), copies, std::move(places)));
  return std::unique_ptr<EncodeArithmetic>(std::move(made));
}

Result<std::shared_ptr<HostAverage>> average_for(
    const JobConfig& job, std::uint32_t rank, const Replica& replica,
    const std::vector<std::shared_ptr<kernels::Device>>& devices,
    const std::shared_ptr<const ParameterTable>& table, const Clock& clock,
    GradientEncoder::Events events, Residuals residuals) {
  STERNA_ASSIGN(auto arithmetic,
                arithmetic_for(job, rank, replica, table, false, std::move(residuals)));
  STERNA_ASSIGN(auto sums, sums_on(devices, *table));
  auto encoder = std::make_unique<GradientEncoder>(job, table, clock, std::move(events),
                                                   std::move(arithmetic));
  std::vector<EncodeArithmetic::Expected> expected;
  for (std::uint32_t tensor = 0; tensor < table->tensors.size(); ++tensor) {
    if (replica.device() == nullptr || table->tensors[tensor].frozen) continue;
    expected.push_back({tensor, sums->place(tensor)});
  }
  STERNA_TRY(encoder->expect(expected));
  return std::make_shared<HostAverage>(job, *table, std::move(sums), std::move(encoder));
}

Result<std::shared_ptr<RankNet>> RankNet::make(const JobConfig& job, std::uint32_t rank,
                                               std::shared_ptr<Replica> replica, bool shares,
                                               std::shared_ptr<const ParameterTable> table,
                                               const Clock& clock, GradientEncoder::Events events,
                                               Residuals residuals) {
  STERNA_ASSIGN(const Scheme scheme, find_scheme(job.scheme.name));
  std::shared_ptr<RankNet> made(new RankNet(job, rank, std::move(replica), table));
  STERNA_TRY(made->make_clip());
  STERNA_TRY(made->make_watch());
  HostArithmetic::Sent sent;
  const bool on_device = made->replica_->device() != nullptr;
  if (on_device && scheme.device_steps != nullptr) {
    STERNA_TRY(made->replica_->step_alone(rank, scheme));
    if (made->replica_->alone()->follows_what_is_sent()) {
      sent = [net = made.get()](const TableChunk& place, std::span<const float> decoded) {
        const Result<void> told = net->replica_->sent_alone(place, decoded);
        if (!told && !net->error_) net->error_ = told.error();
      };
    }
  } else if (scheme.local_steps != nullptr) {
    STERNA_ASSIGN(made->local_, scheme.local_steps(job, rank, table));
    if (made->local_->follows_what_is_sent()) {
      sent = [net = made.get()](const TableChunk& place, std::span<const float> decoded) {
        net->local_->sent(place, decoded, net->replica_->values(place));
      };
    }
  }
  if (made->watch_) {
    events.packets = [net = made.get(), send = std::move(events.packets)](
                         std::uint64_t step, std::uint32_t shard, std::vector<Packet> packets) {
      net->sent(packets);
      send(step, shard, std::move(packets));
    };
  }
  STERNA_ASSIGN(auto arithmetic, arithmetic_for(job, rank, *made->replica_, table, shares,
                                                std::move(residuals), std::move(sent)));
  made->encoder_ = std::make_shared<GradientEncoder>(job, std::move(table), clock,
                                                     std::move(events), std::move(arithmetic));
  if (on_device) STERNA_TRY(made->expect_gradients());
  return made;
}

Result<void> RankNet::expect_gradients() {
  std::vector<EncodeArithmetic::Expected> expected;
  for (std::uint32_t tensor = 0; tensor < table_->tensors.size(); ++tensor) {
    const TableTensor& of = table_->tensors[tensor];
    if (of.frozen) continue;
    if (replica_->alone() != nullptr) {
      expected.push_back({tensor, replica_->alone()->place(tensor)});
      continue;
    }
    expected.push_back({tensor, replica_->gradient_place(tensor)});
    if (clip_ == nullptr || of.spec.role == nets::Role::statistic) continue;
    expected.push_back({tensor, clip_->place(tensor)});
  }
  return encoder_->expect(expected);
}

Result<std::shared_ptr<RankNet>> RankNet::make_averaged(const JobConfig& job, std::uint32_t rank,
                                                        std::shared_ptr<Replica> replica,
                                                        std::shared_ptr<const ParameterTable> table,
                                                        std::shared_ptr<HostAverage> average) {
  std::shared_ptr<RankNet> made(new RankNet(job, rank, std::move(replica), std::move(table)));
  STERNA_TRY(made->make_clip());
  STERNA_TRY(made->make_watch());
  made->encoder_ = {average, &average->encoder()};
  made->average_ = std::move(average);
  return made;
}

RankNet::RankNet(const JobConfig& job, std::uint32_t rank, std::shared_ptr<Replica> replica,
                 std::shared_ptr<const ParameterTable> table)
    : job_(job),
      rank_(rank),
      replica_(std::move(replica)),
      table_(std::move(table)),
      kept_(table_->tensors.size()) {
  if (rank == 0 && job.summary.has_histograms()) watch_.emplace(job, table_, replica_->isa());
}

RankNet::~RankNet() {
  // Errors of the device have been told of, or nobody is left to be told.
  if (replica_->alone() != nullptr) static_cast<void>(replica_->finish_alone());
  if (average_ != nullptr) static_cast<void>(average_->wait(rank_));
}

Result<void> RankNet::make_clip() {
  if (job_.gradient.clip_norm == 0) return {};
  if (replica_->device() == nullptr) {
    clip_ = std::make_unique<HostClip>(table_->tensors.size());
    return {};
  }
  STERNA_ASSIGN(clip_, DeviceClip::make(replica_->device(), *table_));
  return {};
}

Result<void> RankNet::make_watch() {
  if (!watch_ || replica_->device() == nullptr) return {};
  STERNA_ASSIGN(watch_there_, DeviceWatch::make(replica_->device(), *table_));
  return {};
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

std::string RankNet::after_last_loss() const {
  if (!last_loss_) return "";
  return fmt::format(", after a loss of {:.4g} at step {}", last_loss_->loss, last_loss_->step);
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
  if (of.pushes && average_ == nullptr) encoder_->begin(of.push);
  if (local_ != nullptr) local_->begin(of);
  if (replica_->alone() != nullptr) replica_->alone()->begin(of);
  error_.reset();
  Span span;
  if (trace_) span = trace_->backward(step);
  computing_.store(true, std::memory_order_release);
  const Result<void> passed = replica_->backward(*this);
  // A device goes on with the pass while its first packets leave.
  const Result<void> encoded = !passed               ? passed
                               : average_ == nullptr ? encoder_->wait()
                                                     : average_->wait(rank_);
  auto loss = passed ? replica_->loss() : passed.error();
  computing_.store(false, std::memory_order_release);
  if (!loss) return Error(loss.error()).in(where(step));
  const double total = double{loss->cross_entropy} + double{loss->regularization};
  if (!std::isfinite(total)) {
    return Error{Errc::non_finite,
                 fmt::format("{}: the loss is {}{}; lower optimizer.learning_rate, or set "
                             "gradient.clip_norm",
                             where(step), std::isnan(total) ? "not a number" : "infinite",
                             after_last_loss())};
  }
  last_loss_ = {step, total};
  const Result<void> taken = keeps_gradients() ? take_kept() : encoded;
  if (!error_ && !encoded) error_ = encoded.error();
  if (!error_ && !taken) error_ = taken.error();
  // A gradient that is not finite ends the run as a loss does, and no later one is told.
  if (error_ && error_->code == Errc::non_finite)
    return Error(*error_).in(fmt::format("{}, with a loss of {:.4g}", where(step), total));
  if (error_) return Error(*error_).in(where(step));
  STERNA_TRY(average_ == nullptr ? encode_held() : average_->end());
  return loss;
}

void RankNet::gradient(std::size_t index, const nets::Gradient& gradient) {
  const auto tensor = static_cast<std::uint32_t>(index);
  if (trace_) trace_->layer_done(tensor);
  if (watch_ && watch_->watches(tensor)) {
    const Result<void> watched = watch_gradient(tensor, gradient);
    if (!watched && !error_) error_ = watched.error();
  }
  // What is clipped together, or steps by itself, waits for the end of the passes.
  const bool statistic = table_->tensors[tensor].spec.role == nets::Role::statistic;
  if (statistic ? steps_alone() : keeps_gradients()) {
    kept_[tensor] = gradient;
  } else {
    encode(tensor, gradient);
  }
  if (trace_) trace_->layer_begins();
}

Result<void> RankNet::watch_gradient(std::uint32_t tensor, const nets::Gradient& gradient) {
  if (watch_there_ == nullptr) {
    const std::lock_guard lock(watching_);
    watch_->gradient(tensor, gradient.values, replica_->values(tensor));
    return {};
  }
  for (const TableChunk& chunk : table_->chunks_of(table_->tensors[tensor])) {
    STERNA_ASSIGN(const std::span<const float> values, watch_there_->gradient(gradient, chunk));
    const std::span<float> weights = watch_there_->room(chunk);
    STERNA_TRY(replica_->read(chunk, weights));
    const std::lock_guard lock(watching_);
    watch_->gradient(tensor, values, weights);
  }
  return {};
}

Result<void> RankNet::watch_packet(std::uint32_t tensor, Codec codec) {
  if (!watch_->watches(tensor)) return {};
  const kernels::Packing packing = codec_of(codec).packing;
  const PacketPlace place = replica_->exchanged()->place(tensor, rank_, packing);
  for (const TableChunk& chunk : table_->chunks_of(table_->tensors[tensor])) {
    STERNA_ASSIGN(const kernels::Packet packet, watch_there_->packet(place, packing, chunk));
    watch_->sent(chunk, packet);
  }
  return {};
}

void RankNet::encode(std::uint32_t tensor, const nets::Gradient& gradient) {
  if (error_) return;
  Span span;
  if (trace_) span = trace_->encode(tensor);
  const Result<void> added = average_ == nullptr ? encoder_->add(tensor, gradient)
                                                 : average_->add(rank_, tensor, gradient);
  if (!added) error_ = Error(added.error()).in(table_->tensors[tensor].spec.name);
}

/// clip_norm / norm, the norm being that of all together.
Result<std::optional<float>> RankNet::clip_factor() {
  if (clip_ == nullptr) return std::optional<float>();
  std::vector<nets::Gradient> all;
  for (std::size_t tensor = 0; tensor < kept_.size(); ++tensor) {
    const bool trained = table_->tensors[tensor].spec.role != nets::Role::statistic;
    if (trained && !kept_[tensor].values.empty()) all.push_back(kept_[tensor]);
  }
  STERNA_ASSIGN(const double squares, clip_->squares(all));
  const double norm = std::sqrt(squares);
  if (!std::isfinite(norm) || norm <= job_.gradient.clip_norm) return std::optional<float>();
  return std::optional(static_cast<float>(job_.gradient.clip_norm / norm));
}

/// Each gradient, scaled down where all together are too long, goes where the scheme says.
Result<void> RankNet::take_kept() {
  STERNA_ASSIGN(const std::optional<float> factor, clip_factor());
  average_ == nullptr ? encoder_->gather() : average_->gather();
  for (auto tensor = static_cast<std::uint32_t>(kept_.size()); tensor-- > 0;) {
    nets::Gradient gradient = kept_[tensor];
    if (gradient.values.empty()) continue;  // statistics that are on their way, and what is frozen
    if (factor && table_->tensors[tensor].spec.role != nets::Role::statistic) {
      STERNA_ASSIGN(gradient, clip_->scaled(tensor, gradient, *factor));
    }
    if (steps_alone()) {
      STERNA_ASSIGN(gradient, step_alone(tensor, gradient));
    }
    if (!gradient.values.empty()) encode(tensor, gradient);
  }
  if (average_ == nullptr) return encoder_->launch();
  STERNA_TRY(average_->launch());
  return average_->wait(rank_);
}

Result<nets::Gradient> RankNet::step_alone(std::uint32_t tensor, const nets::Gradient& gradient) {
  if (local_ == nullptr) return replica_->step_alone(tensor, gradient);
  return nets::Gradient{local_->gradient(tensor, gradient.values, replica_->values(tensor))};
}

Result<void> RankNet::encode_held() {
  Span span;
  if (trace_) span = trace_->encode(table_->tensors.size());
  STERNA_TRY(encoder_->encode_held());
  encoder_->flush();
  return error_ ? Result<void>(*error_) : Result<void>();
}

void RankNet::sent(std::span<const Packet> packets) {
  if (!watch_) return;
  const std::lock_guard lock(watching_);
  const bool stays = replica_->exchanged() != nullptr && packets.front().payload.size() == 0;
  if (!stays) return watch_->sent(packets);
  const Packet& of = packets.front();
  const Result<void> watched = watch_packet(table_->chunks[of.chunk].tensor, of.codec);
  if (!watched && !error_) error_ = watched.error();
}

std::optional<Watched> RankNet::take_watched() { return watch_ ? watch_->take() : std::nullopt; }

Result<std::vector<KeptArray>> RankNet::kept() {
  if (replica_->alone() != nullptr) return replica_->kept_alone();
  return local_ == nullptr ? std::vector<KeptArray>() : local_->kept();
}

Result<void> RankNet::restored(bool place) {
  if (replica_->alone() != nullptr) return replica_->restored_alone(place);
  if (!place) return {};
  for (std::uint32_t tensor = 0; tensor < table_->tensors.size(); ++tensor) {
    const TableTensor& one = table_->tensors[tensor];
    if (one.spec.role == nets::Role::statistic || one.frozen) continue;
    local_->restored(tensor, replica_->values(tensor));
  }
  return {};
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
