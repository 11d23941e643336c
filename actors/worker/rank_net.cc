#include "actors/worker/rank_net.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "actors/codecs/codec.h"
#include "actors/parameters/parameter_hash.h"
#include "kernels/sums/bf16.h"
#include "nets/tensor/tensor.h"

namespace sterna::actors {
namespace {

std::span<const std::uint8_t> pixels_of(const Batch& batch) {
  return {reinterpret_cast<const std::uint8_t*>(batch.pixels.data()), batch.pixels.size()};
}

}  // namespace

Result<std::shared_ptr<RankNet>> RankNet::make(const JobConfig& job, std::uint32_t rank) {
  STERNA_ASSIGN(const kernels::Isa isa, kernels::parse_isa(job.cpu_isa));
  STERNA_ASSIGN(const UpdateRule rule, UpdateRule::make(job));
  const bool decays = job.optimizer.decay_at == DecayAt::worker;
  nets::NetOptions options = net_options(job);
  options.weight_decay = decays ? static_cast<float>(job.optimizer.weight_decay) : 0.0F;
  STERNA_ASSIGN(auto net, nets::make_net(options));
  return std::shared_ptr<RankNet>(new RankNet(job, rank, isa, rule, std::move(net)));
}

std::size_t RankNet::image_bytes() const {
  return job_.picture.bytes() + std::size_t{2} * job_.picture.channels * sizeof(float);
}

Result<void> RankNet::set_table(std::shared_ptr<const ParameterTable> table, const Clock& clock,
                                Events events) {
  table_ = std::move(table);
  STERNA_ASSIGN(const Scheme scheme, find_scheme(job_.scheme.name));
  if (scheme.local_steps != nullptr) {
    STERNA_ASSIGN(local_, scheme.local_steps(job_, rank_, table_));
    if (local_->follows_what_is_sent()) {
      events.encoder.sent = [this](const TableChunk& place, std::span<const float> decoded) {
        local_->sent(place, decoded, values_of(place));
      };
    }
  }
  clock_ = &clock;
  down_.resize(table_->tensors.size());
  on_settled_ = std::move(events.settled);
  encoder_.emplace(job_, rank_, isa_, table_, clock, std::move(events.encoder));
  kept_.resize(table_->tensors.size());
  clipped_.resize(table_->tensors.size());
  slots_.resize(table_->chunks.size());
  return {};
}

std::string RankNet::where(std::uint64_t step) const {
  return fmt::format("rank {}, step {}", rank_, step);
}

Result<bool> RankNet::forward(std::uint64_t step, const Batch& batch, std::uint32_t readable) {
  if (begun_ != step) {
    const std::vector<float> levels = levels_of(batch);
    const nets::StepDraw draw{
        .seed = job_.seed, .step = static_cast<std::uint32_t>(step), .rank = rank_};
    STERNA_TRY(net_->begin_step(nets::PixelImages{pixels_of(batch), levels}, labels_of(batch), draw)
                   .in(where(step)));
    begun_ = step;
    readable_ = 0;
  }
  for (; readable_ < readable; ++readable_) {
    const bool changed = step == job_.first_step || !table_->tensors[readable_].frozen;
    if (changed) net_->parameters_changed(readable_);
  }
  return net_->forward(readable).in(where(step));
}

Result<double> RankNet::backward(const RankStep& of) {
  const std::uint64_t step = of.step;
  const auto tensors = static_cast<std::uint32_t>(table_->tensors.size());
  if (of.pushes) encoder_->begin(of.push);
  if (local_ != nullptr) local_->begin(of);
  lowest_ = tensors;
  error_.reset();
  settled_.store(tensors, std::memory_order_release);
  computing_.store(true, std::memory_order_release);
  const auto loss = net_->finish_step(*this);
  computing_.store(false, std::memory_order_release);
  settled_.store(0, std::memory_order_release);
  if (!loss) return Error(loss.error()).in(where(step));
  const double total = double{loss->cross_entropy} + double{loss->regularization};
  if (!std::isfinite(total)) {
    return Error{Errc::non_finite, fmt::format("{}: the loss is {}", where(step), total)};
  }
  if (keeps_gradients()) take_kept();
  if (error_) return Error(*error_).in(where(step));
  encode_held();
  return total;
}

void RankNet::gradient(std::size_t index, std::span<const float> values) {
  const auto tensor = static_cast<std::uint32_t>(index);
  if (table_->tensors[tensor].spec.role == nets::Role::statistic) {
    if (local_ == nullptr) return encode(tensor, values);
    kept_[tensor] = values;
    return;
  }
  // A layer's gradients are complete before it passes on to the layer below, so that a report from
  // below says that all layers above are done with their parameters.
  if (tensor < lowest_) {
    const bool moved = settled_.exchange(lowest_, std::memory_order_acq_rel) != lowest_;
    lowest_ = tensor;
    if (moved) on_settled_();
  }
  if (table_->tensors[tensor].frozen) return;
  down_[tensor].completed = clock_->now();
  down_[tensor].missing = table_->tensors[tensor].chunks;
  if (keeps_gradients()) {
    kept_[tensor] = values;
  } else {
    encode(tensor, values);
  }
}

void RankNet::encode(std::uint32_t tensor, std::span<const float> values) {
  if (error_) return;
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
    if (local_ != nullptr) values = local_->gradient(tensor, values, net_->parameter(tensor));
    if (!values.empty()) encode(tensor, values);
  }
}

void RankNet::encode_held() {
  encoder_->encode_held();
  encoder_->flush();
}

std::span<float> RankNet::values_of(const TableChunk& chunk) {
  return net_->parameter(chunk.tensor).subspan(chunk.first, chunk.count);
}

void RankNet::take(const Parameters& answer, std::size_t index) {
  Down& down = down_[table_->chunks[answer.chunks[index].chunk].tensor];
  const Time began = clock_->now();
  apply(answer, index);
  if (down.missing == 0) return;  // the first version, which no gradient led to
  const Time ended = clock_->now();
  down.decoding += ended - began;
  if (--down.missing > 0) return;
  down.exchanging += ended - down.completed;
  ++down.exchanges;
}

void RankNet::count_down(std::uint32_t chunk, std::uint64_t bytes) {
  down_[table_->chunks[chunk].tensor].bytes += bytes;
}

GradientEncoder::Counts RankNet::counts() const {
  GradientEncoder::Counts sum;
  for (std::uint32_t t = 0; t < down_.size(); ++t) {
    const GradientEncoder::Counts& one = encoder_->counts(t);
    sum.nonzero += one.nonzero;
    sum.measured += one.measured;
    sum.saturated += one.saturated;
  }
  return sum;
}

std::vector<TensorTotals> RankNet::totals() const {
  const auto seconds = [](Duration duration) {
    return std::chrono::duration<double>(duration).count();
  };
  std::vector<TensorTotals> totals;
  for (std::uint32_t t = 0; t < down_.size(); ++t) {
    const GradientEncoder::Counts& up = encoder_->counts(t);
    const Down& down = down_[t];
    totals.push_back({.tensor = table_->tensors[t].spec.name,
                      .codec = table_->tensors[t].codec,
                      .steps = down.exchanges,
                      .pushes = up.steps,
                      .elements = table_->tensors[t].count,
                      .bytes_up = up.bytes,
                      .bytes_down = down.bytes,
                      .ternarized = up.ternarized,
                      .nonzero = up.nonzero,
                      .measured = up.measured,
                      .saturated = up.saturated,
                      .encode_seconds = seconds(up.encoding),
                      .decode_seconds = seconds(down.decoding),
                      .exchange_seconds = seconds(down.exchanging)});
  }
  return totals;
}

void RankNet::apply(const Parameters& answer, std::size_t index) {
  const ParameterChunk& taken = answer.chunks[index];
  const TableChunk& place = table_->chunks[taken.chunk];
  const std::span<float> values = values_of(place);
  if (answer.kind == PayloadKind::PARAMETERS) {
    if (local_ != nullptr) {
      came_.resize(values.size());
      if (taken.codec == Codec::BF16) {
        kernels::decode_bf16(taken.payload.view(), came_, isa_);
      } else {
        std::memcpy(came_.data(), taken.payload.data(), values.size_bytes());
      }
      local_->came(place, came_, values);
    } else if (taken.codec == Codec::BF16) {
      kernels::decode_bf16(taken.payload.view(), values, isa_);
    } else {
      std::memcpy(values.data(), taken.payload.data(), values.size_bytes());
    }
    return;
  }
  kernels::StepConstants constants;
  std::copy(answer.constants.begin(), answer.constants.end(), constants.value);
  const kernels::UpdateOptions options =
      rule_.options(table_->tensors[place.tensor].spec, constants);
  const std::vector<std::span<float>> own = slots(taken.chunk);
  const kernels::Parameters parameters{.current = values, .slots = own, .next = values};
  if (codec_of(taken.codec).ternary()) {
    const kernels::SumStep step{{answer.ranks, taken.scaler, taken.payload.view()}, options};
    kernels::update(std::span(&step, 1), parameters, isa_);
  } else {
    const kernels::Packet average{.packing = kernels::Packing::fp32,
                                  .payload = taken.payload.view()};
    kernels::update(std::span(&average, 1), options, parameters, isa_);
  }
}

std::vector<std::span<float>> RankNet::slots(std::uint32_t chunk) {
  const TableChunk& place = table_->chunks[chunk];
  auto& buffers = slots_[chunk];
  if (buffers.empty()) buffers = rule_.make_slots(table_->tensors[place.tensor].spec, place.count);
  std::vector<std::span<float>> slots;
  for (const auto& slot : buffers) slots.push_back(slot->as<float>());
  return slots;
}

std::vector<Hash> RankNet::hashes() {
  std::vector<Hash> hashes;
  for (const TableChunk& chunk : table_->chunks) {
    hashes.push_back(hash_of(std::as_bytes(values_of(chunk))));
  }
  return hashes;
}

}  // namespace sterna::actors
