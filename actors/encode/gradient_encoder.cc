#include "actors/encode/gradient_encoder.h"

#include <algorithm>
#include <utility>

#include "actors/codecs/codec.h"

namespace sterna::actors {
namespace {

/// Packets wait for their neighbours until this many bytes are together: a message costs some 20 µs
/// of both ends' time, as much as 64 KB take on a local socket.
constexpr std::size_t kPushBytes = std::size_t{64} << 10;

}  // namespace

GradientEncoder::GradientEncoder(const JobConfig& job, std::shared_ptr<const ParameterTable> table,
                                 const Clock& clock, Events events,
                                 std::unique_ptr<EncodeArithmetic> arithmetic)
    : job_(job),
      table_(std::move(table)),
      clock_(clock),
      events_(std::move(events)),
      arithmetic_(std::move(arithmetic)),
      scalers_(scalers_by_tensor(*table_)),
      pending_(table_->shards),
      counts_(table_->tensors.size()),
      shared_(table_->scalers.size()) {}

void GradientEncoder::begin(std::uint64_t step) {
  step_ = step;
  arithmetic_->begin(step);
  held_.clear();
}

// ---- scalers ----

/// Of which step the scalers are that a step's trits stand for.
std::uint64_t GradientEncoder::step_of_scalers(std::uint64_t step) const {
  const bool has_last = step > job_.first_step || goes_on_;
  return job_.gradient.scaler == ScalerRule::last_step && has_last ? step - 1 : step;
}

void GradientEncoder::agree(std::uint64_t step, std::uint32_t index, float value) {
  const std::lock_guard lock(mutex_);
  shared_[index] = {.known = true, .step = step, .value = value};
}

bool GradientEncoder::may_begin(std::uint64_t step) const {
  // What the last step's scalers are needed for, and no rank may be offering those of a step that
  // others have not reached.
  if (!job_.shares_scalers() || step == job_.first_step) return true;
  const std::lock_guard lock(mutex_);
  return std::all_of(shared_.begin(), shared_.end(),
                     [&](const Shared& one) { return one.known && one.step == step - 1; });
}

Result<GradientEncoder::State> GradientEncoder::state() const {
  State state;
  STERNA_ASSIGN(state.residuals, arithmetic_->residuals());
  if (job_.gradient.scaler != ScalerRule::last_step) return state;
  const std::lock_guard lock(mutex_);
  // With a quorum a rank may have come by without knowing any.
  if (!std::ranges::all_of(shared_, &Shared::known)) return state;
  for (const Shared& one : shared_) state.scalers.push_back(one.value);
  return state;
}

void GradientEncoder::restore(State state) {
  arithmetic_->restore(state.residuals);
  const std::lock_guard lock(mutex_);
  if (state.scalers.size() != shared_.size() || shared_.empty()) return;
  goes_on_ = true;
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    shared_[i] = {.known = true, .step = job_.first_step - 1, .value = state.scalers[i]};
  }
}

std::optional<std::vector<float>> GradientEncoder::agreed(TableScalers range) const {
  const std::uint64_t wanted = step_of_scalers(step_);
  std::vector<float> values;
  const std::lock_guard lock(mutex_);
  for (std::uint32_t i = range.first; i < range.last; ++i) {
    const Shared& one = shared_[i];
    if (!one.known || (one.step != wanted && !job_.takes_newest_scalers())) {
      return std::nullopt;
    }
    values.push_back(shared_[i].value);
  }
  return values;
}

void GradientEncoder::offer(TableScalers range, const std::vector<float>& scalers) {
  std::vector<std::vector<Offer::OwnScaler>> by_shard(table_->shards);
  for (std::uint32_t i = range.first; i < range.last; ++i) {
    by_shard[table_->scalers[i].shard].push_back({i, scalers[i - range.first]});
  }
  for (std::uint32_t shard = 0; shard < by_shard.size(); ++shard) {
    if (!by_shard[shard].empty()) events_.offers(step_, shard, std::move(by_shard[shard]));
  }
}

// ---- packets ----

Result<void> GradientEncoder::add(std::uint32_t tensor, const nets::Gradient& gradient) {
  const Time began = clock_.now();
  const EncodeArithmetic::Order order = order_for(tensor, gradient);
  STERNA_TRY(start(order));
  if (!order.packs) held_.push_back({tensor, arithmetic_->keep(tensor, gradient)});
  counts_[tensor].encoding += clock_.now() - began;
  return start_held();
}

EncodeArithmetic::Order GradientEncoder::order_for(std::uint32_t tensor,
                                                   const nets::Gradient& gradient) const {
  EncodeArithmetic::Order order{.tensor = tensor, .gradient = gradient};
  if (!codec_of(table_->codec_at(tensor, job_, step_)).ternary()) {
    // Ranks agree at each step, also where they send floats.
    order.measures = table_->tensors[tensor].ternary && job_.offers_scalers();
    return order;
  }
  if (!job_.offers_scalers()) return order;
  order.measures = true;
  order.scalers = agreed(scalers_[tensor]);
  // Else with its own: where those of others are not waited for there are none yet.
  order.packs = order.scalers || job_.takes_newest_scalers();
  return order;
}

Result<void> GradientEncoder::start(const EncodeArithmetic::Order& order) {
  if (order.packs) ++counts_[order.tensor].steps;
  return arithmetic_->start(order, *this);
}

Result<void> GradientEncoder::start_held() {
  if (held_.empty()) return {};
  Result<void> started;
  arithmetic_->gather();
  std::erase_if(held_, [&](const Held& held) {
    auto shared = agreed(scalers_[held.tensor]);
    if (!started || !shared) return false;
    const Time began = clock_.now();
    started = start({.tensor = held.tensor,
                     .gradient = held.gradient,
                     .scalers = std::move(shared),
                     .kept = true});
    counts_[held.tensor].encoding += clock_.now() - began;
    return true;
  });
  const Result<void> launched = arithmetic_->launch();
  return started ? launched : started;
}

Result<void> GradientEncoder::encode_held() {
  STERNA_TRY(start_held());
  return arithmetic_->finish(*this);
}

void GradientEncoder::packed(std::uint32_t chunk, float scaler, Bytes payload,
                             std::uint64_t nonzero) {
  const TableChunk& place = table_->chunks[chunk];
  const GradientCodec codec = codec_of(table_->codec_at(place.tensor, job_, step_));
  if (payload.size() == 0) {  // it stays on its device, and who waits for it is to know at once
    std::vector<Packet> packets(1);
    packets.front().chunk = chunk;
    packets.front().codec = codec.wire;
    return events_.packets(step_, place.shard, std::move(packets));
  }
  Counts& counts = counts_[place.tensor];
  counts.bytes += payload.size();
  if (codec.ternary()) {
    counts.ternarized += place.count;
    counts.nonzero += nonzero;
  }
  gather({.chunk = chunk,
          .codec = codec.wire,
          .scaler = scaler,
          .count = place.count,
          .payload = std::move(payload)},
         place.shard);
}

void GradientEncoder::measured(std::uint32_t tensor, const Measured& found) {
  counts_[tensor].measured += found.elements;
  counts_[tensor].saturated += found.saturated;
  offer(scalers_[tensor], found.scalers);
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
