#include "actors/worker/gradient_encoder.h"

#include <algorithm>
#include <utility>

#include "kernels/trits/encode.h"
#include "kernels/trits/scaler.h"

namespace sterna::actors {
namespace {

/// Packets wait for their neighbours until this many bytes are together: a message costs some 20 µs
/// of both ends' time, as much as 64 KB take on a local socket.
constexpr std::size_t kPushBytes = std::size_t{64} << 10;

static_assert(kUnitElements == kernels::kChunkElements);  // chunks begin at its multiples

}  // namespace

GradientEncoder::GradientEncoder(const JobConfig& job, std::uint32_t rank, kernels::Isa isa,
                                 std::shared_ptr<const ParameterTable> table, const Clock& clock,
                                 Events events, bool copies, Residuals residuals)
    : job_(job),
      rank_(rank),
      isa_(isa),
      table_(std::move(table)),
      clock_(clock),
      events_(std::move(events)),
      copies_(copies),
      residuals_(residuals.none() ? Residuals(job, *table_) : std::move(residuals)) {
  scalers_.resize(table_->tensors.size());
  pending_.resize(table_->shards);
  counts_.resize(table_->tensors.size());
  shared_.resize(table_->scalers.size());
  for (std::uint32_t i = 0; i < table_->scalers.size(); ++i) {
    Range& range = scalers_[table_->scalers[i].tensor];
    if (range.last == 0) range.first = i;
    range.last = i + 1;
  }
}

void GradientEncoder::begin(std::uint64_t step) {
  step_ = step;
  residuals_.begin(step);
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

GradientEncoder::State GradientEncoder::state() const {
  State state;
  for (std::uint32_t t = 0; job_.gradient.error_feedback && t < table_->tensors.size(); ++t) {
    const std::span<const float> newest = residuals_.newest(t);
    state.residuals.emplace_back(newest.begin(), newest.end());
  }
  if (job_.gradient.scaler != ScalerRule::last_step) return state;
  const std::lock_guard lock(mutex_);
  // With a quorum a rank may have come by without knowing any.
  if (!std::ranges::all_of(shared_, &Shared::known)) return state;
  for (const Shared& one : shared_) state.scalers.push_back(one.value);
  return state;
}

void GradientEncoder::restore(State state) {
  for (std::uint32_t t = 0; t < state.residuals.size(); ++t) {
    if (feeds_back(t)) std::ranges::copy(state.residuals[t], residuals_.newest(t).begin());
  }
  const std::lock_guard lock(mutex_);
  if (state.scalers.size() != shared_.size() || shared_.empty()) return;
  goes_on_ = true;
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    shared_[i] = {.known = true, .step = job_.first_step - 1, .value = state.scalers[i]};
  }
}

std::vector<float> GradientEncoder::agreed(Range range) const {
  const std::uint64_t wanted = step_of_scalers(step_);
  std::vector<float> values;
  const std::lock_guard lock(mutex_);
  for (std::uint32_t i = range.first; i < range.last; ++i) {
    const Shared& one = shared_[i];
    if (!one.known || (one.step != wanted && !job_.takes_newest_scalers())) return {};
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
    const Result<float> scaler = kernels::scaler(values.subspan(of.first, of.count), clip(), isa_);
    if (!scaler) return kernels::non_finite(values);
    scalers.push_back(*scaler);
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
  const Time began = clock_.now();
  STERNA_TRY(encode_or_hold(tensor, values));
  counts_[tensor].encoding += clock_.now() - began;
  encode_held();
  return {};
}

Result<void> GradientEncoder::encode_or_hold(std::uint32_t tensor, std::span<const float> values) {
  const GradientCodec codec = codec_of(table_->codec_at(tensor, job_, step_));
  if (feeds_back(tensor)) values = with_residual(tensor, values);
  if (!codec.ternary()) {
    if (table_->tensors[tensor].ternary && job_.offers_scalers()) {
      // Ranks agree at each step, also where they send floats.
      STERNA_ASSIGN(const std::vector<float> own, own_scalers(tensor, values));
      offer(scalers_[tensor], own);
    }
    return copy(tensor, values);
  }
  if (job_.gradient.scaler == ScalerRule::own) {
    if (job_.gradient.buckets) return encode_buckets(tensor, values);
    STERNA_ASSIGN(const std::vector<float> own, own_scalers(tensor, values));
    encode(tensor, values, own);
    return {};
  }
  const Range range = scalers_[tensor];
  if (const std::vector<float> shared = agreed(range); !shared.empty()) {
    STERNA_ASSIGN(const std::vector<float> own, encode_and_measure(tensor, values, shared));
    offer(range, own);
  } else {
    STERNA_ASSIGN(const std::vector<float> own, own_scalers(tensor, values));
    offer(range, own);
    if (job_.takes_newest_scalers()) {  // of which there are none yet
      encode(tensor, values, own);
      return {};
    }
    Held& held = held_.emplace_back(Held{tensor, values});
    if (copies_ && !feeds_back(tensor)) {  // with feedback they are the residual's sums already
      held.copy.assign(values.begin(), values.end());
      held.values = held.copy;
    }
  }
  return {};
}

void GradientEncoder::encode_held() {
  std::erase_if(held_, [this](const Held& held) {
    const std::vector<float> shared = agreed(scalers_[held.tensor]);
    if (shared.empty()) return false;
    const Time began = clock_.now();
    encode(held.tensor, held.values, shared);
    counts_[held.tensor].encoding += clock_.now() - began;
    return true;
  });
}

Result<void> GradientEncoder::pack(std::uint32_t index, const Fill& fill) {
  const TableTensor& tensor = table_->tensors[index];
  const GradientCodec codec = codec_of(table_->codec_at(index, job_, step_));
  const std::span chunks = std::span(table_->chunks).subspan(tensor.first_chunk, tensor.chunks);
  ++counts_[index].steps;
  std::size_t room = 0;
  for (const TableChunk& chunk : chunks)
    room += (codec.room({.count = chunk.count, .choices = choices()}) + 7) / 8 * 8;  // aligned()
  const std::shared_ptr<Buffer> buffer = pool_.take(room);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < tensor.chunks; ++i) {
    const MutableBytes free = buffer->bytes().subspan(at);
    STERNA_ASSIGN(Filled filled, fill(codec, chunks[i], free));
    const MutableBytes payload = free.first(filled.bytes);
    const ByteView opened = codec.seal == nullptr ? ByteView(payload) : ByteView(planes_);
    counts_[index].bytes += filled.bytes;
    if (codec.ternary()) {
      counts_[index].ternarized += chunks[i].count;
      counts_[index].nonzero += kernels::nonzero_trits(opened, isa_);
    }
    if (feeds_back(index) && codec.ternary()) {
      filled.scaler = kernels::fed_back_scaler(filled.scaler, clip());
    }
    if (feeds_back(index) || events_.sent) {
      Bytes numbers;
      if (!codec.ternary()) {
        STERNA_ASSIGN(numbers,
                      codec.open(Bytes(buffer, payload), {.count = chunks[i].count}, pool_, isa_));
      }
      decode(chunks[i], {codec.packing, filled.scaler, codec.ternary() ? opened : numbers.view()});
      if (feeds_back(index)) keep_residual(chunks[i]);
      if (feeds_back(index) && i + 1 == tensor.chunks) residuals_.stamp(index);
      if (events_.sent) events_.sent(chunks[i], decoded_);
    }
    gather({.chunk = tensor.first_chunk + i,
            .codec = codec.wire,
            .scaler = filled.scaler,
            .count = chunks[i].count,
            .payload = Bytes(buffer, payload)},
           chunks[i].shard);
    at += aligned(buffer->bytes().subspan(at), filled.bytes);
  }
  return {};
}

/// Makes planes where they can travel from, or where they are sealed from.
Result<GradientEncoder::Filled> GradientEncoder::fill_planes(const GradientCodec& codec,
                                                             std::size_t count, MutableBytes out,
                                                             const MakePlanes& make) {
  const std::size_t bytes = kernels::planes_bytes(count);
  if (codec.seal == nullptr) {
    STERNA_ASSIGN(const float scaler, make(out.first(bytes)));
    return Filled{scaler, bytes};
  }
  planes_.resize(bytes);
  STERNA_ASSIGN(const float scaler, make(planes_));
  return Filled{scaler, codec.seal(planes_, {.count = count}, out, isa_)};
}

std::span<const float> GradientEncoder::with_residual(std::uint32_t tensor,
                                                      std::span<const float> values) {
  residuals_.open(tensor);
  const std::span<float> sum = residuals_.newest(tensor);
  const std::span<const float> before = residuals_.before(tensor);
  if (before.data() == sum.data()) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
  } else {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = before[i] + values[i];
  }
  return sum;
}

void GradientEncoder::decode(const TableChunk& chunk, const kernels::Packet& packet) {
  decoded_.resize(chunk.count);
  kernels::average(std::span(&packet, 1), decoded_, isa_);
}

/// What is left of a chunk, of which `decoded_` is on its way.
void GradientEncoder::keep_residual(const TableChunk& chunk) {
  float* residual = residuals_.newest(chunk.tensor).data() + chunk.first;
  for (std::size_t i = 0; i < chunk.count; ++i) residual[i] -= decoded_[i];
}

Result<void> GradientEncoder::give_back(const Packet& packet) {
  const TableChunk& chunk = table_->chunks[packet.chunk];
  if (!feeds_back(chunk.tensor)) return {};
  const GradientCodec codec = codec_of(packet.codec);
  STERNA_ASSIGN(const Bytes opened,
                codec.open(packet.payload, {.count = packet.count}, pool_, isa_));
  decode(chunk, {codec.packing, packet.scaler, opened.view()});
  float* residual = residuals_.newest(chunk.tensor).data() + chunk.first;
  for (std::size_t i = 0; i < chunk.count; ++i) residual[i] += decoded_[i];
  return {};
}

kernels::TernaryDraw GradientEncoder::draw(std::uint32_t tensor) const {
  return {.seed = job_.seed,
          .step = static_cast<std::uint32_t>(step_),
          .rank = rank_,
          .tensor = tensor};
}

Result<void> GradientEncoder::copy(std::uint32_t tensor, std::span<const float> values) {
  // Without a clip factor this only looks for what is not finite.
  STERNA_TRY(kernels::scaler(values, 0, isa_));
  return pack(
      tensor,
      [&](const GradientCodec& codec, const TableChunk& chunk, MutableBytes out) -> Result<Filled> {
        const auto part = values.subspan(chunk.first, chunk.count);
        const PackContext context{draw(tensor), chunk.first, choices()};
        return Filled{1.0F, codec.pack(part, context, out, isa_)};
      });
}

void GradientEncoder::encode(std::uint32_t tensor, std::span<const float> values,
                             const std::vector<float>& scalers) {
  const auto fill = [&](const GradientCodec& codec, const TableChunk& chunk, MutableBytes out) {
    const float scaler = scalers[chunk.scaler - scalers_[tensor].first];
    return fill_planes(codec, chunk.count, out, [&](MutableBytes planes) -> Result<float> {
      kernels::ternarize(values.subspan(chunk.first, chunk.count), scaler, draw(tensor),
                         chunk.first, planes, isa_);
      return scaler;
    });
  };
  static_cast<void>(pack(tensor, fill));  // the gradient was measured before: nothing can fail
}

Result<void> GradientEncoder::encode_buckets(std::uint32_t tensor, std::span<const float> values) {
  return pack(tensor, [&](const GradientCodec& codec, const TableChunk& chunk, MutableBytes out) {
    return fill_planes(codec, chunk.count, out, [&](MutableBytes planes) {
      return kernels::encode_bucket({values, chunk.first, chunk.count}, clip(), draw(tensor),
                                    planes, isa_);
    });
  });
}

Result<std::vector<float>> GradientEncoder::encode_and_measure(std::uint32_t tensor,
                                                               std::span<const float> values,
                                                               const std::vector<float>& scalers) {
  const std::uint32_t first = scalers_[tensor].first;
  std::vector<kernels::GradientStatistics> found(scalers.size());
  const auto fill = [&](const GradientCodec& codec, const TableChunk& chunk, MutableBytes out) {
    const float scaler = scalers[chunk.scaler - first];
    kernels::GradientStatistics& statistics = found[chunk.scaler - first];
    return fill_planes(codec, chunk.count, out, [&](MutableBytes planes) -> Result<float> {
      kernels::encode_with_scaler({values, chunk.first, chunk.count}, scaler, clip(), draw(tensor),
                                  planes, statistics, isa_);
      if (!statistics.finite()) return kernels::non_finite(values);
      return scaler;
    });
  };
  STERNA_TRY(pack(tensor, fill));
  std::vector<float> own;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const TableScaler& of = table_->scalers[first + i];
    STERNA_ASSIGN(const float scaler, found[i].scaler(clip(), values.subspan(of.first, of.count)));
    own.push_back(scaler);
    counts_[tensor].saturated += found[i].saturated();
    counts_[tensor].measured += found[i].elements();
  }
  return own;
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
