#include "actors/encode/host_arithmetic.h"

#include <algorithm>
#include <utility>

#include "kernels/trits/encode.h"
#include "kernels/trits/scaler.h"

namespace sterna::actors {

static_assert(kUnitElements == kernels::kChunkElements);  // chunks begin at its multiples

HostArithmetic::HostArithmetic(const JobConfig& job, std::uint32_t rank, kernels::Isa isa,
                               std::shared_ptr<const ParameterTable> table, bool copies,
                               Residuals residuals, Sent sent)
    : job_(job),
      rank_(rank),
      isa_(isa),
      table_(std::move(table)),
      copies_(copies),
      sent_(std::move(sent)),
      scalers_(scalers_by_tensor(*table_)),
      residuals_(residuals.none() ? Residuals(job, *table_) : std::move(residuals)),
      copied_(table_->tensors.size()) {}

void HostArithmetic::begin(std::uint64_t step) {
  step_ = step;
  copied_.assign(copied_.size(), {});
  residuals_.begin(step);
}

Result<void> HostArithmetic::start(const Order& order, Listener& listener) {
  const std::uint32_t tensor = order.tensor;
  std::span<const float> values = order.gradient.values;
  if (feeds_back(tensor) && !order.kept) values = with_residual(tensor, values);
  if (order.scalers) {
    if (!order.measures) {
      encode(tensor, values, *order.scalers, listener);
      if (order.kept) copied_[tensor] = {};
      return {};
    }
    STERNA_ASSIGN(const Listener::Measured found,
                  encode_and_measure(tensor, values, *order.scalers, listener));
    listener.measured(tensor, found);
    return {};
  }
  const bool ternary = codec_of(table_->codec_at(tensor, job_, step_)).ternary();
  std::vector<float> own;
  if (order.measures || (ternary && !job_.gradient.buckets)) {
    STERNA_ASSIGN(own, own_scalers(tensor, values));
  }
  if (order.measures) listener.measured(tensor, {.scalers = own});
  if (!order.packs) return {};
  if (!ternary) return copy(tensor, values, listener);
  if (own.empty()) return encode_buckets(tensor, values, listener);
  encode(tensor, values, own, listener);
  return {};
}

nets::Gradient HostArithmetic::keep(std::uint32_t tensor, const nets::Gradient& gradient) {
  // With feedback they are the residual's sums already.
  if (feeds_back(tensor)) return {std::as_const(residuals_).newest(tensor)};
  if (!copies_) return gradient;
  copied_[tensor].assign(gradient.values.begin(), gradient.values.end());
  return {copied_[tensor]};
}

Result<std::vector<std::vector<float>>> HostArithmetic::residuals() {
  std::vector<std::vector<float>> all;
  for (std::uint32_t t = 0; job_.gradient.error_feedback && t < table_->tensors.size(); ++t) {
    const std::span<const float> newest = std::as_const(residuals_).newest(t);
    all.emplace_back(newest.begin(), newest.end());
  }
  return all;
}

void HostArithmetic::restore(const std::vector<std::vector<float>>& residuals) {
  for (std::uint32_t t = 0; t < residuals.size(); ++t) {
    if (feeds_back(t)) std::ranges::copy(residuals[t], residuals_.newest(t).begin());
  }
}

Result<std::vector<float>> HostArithmetic::own_scalers(std::uint32_t tensor,
                                                       std::span<const float> values) const {
  const TableScalers range = scalers_[tensor];
  std::vector<float> scalers;
  for (std::uint32_t i = range.first; i < range.last; ++i) {
    const TableScaler& of = table_->scalers[i];
    const Result<float> scaler = kernels::scaler(values.subspan(of.first, of.count), clip(), isa_);
    if (!scaler) return kernels::non_finite(values);
    scalers.push_back(*scaler);
  }
  return scalers;
}

Result<void> HostArithmetic::pack(std::uint32_t index, const Fill& fill, Listener& listener) {
  const TableTensor& tensor = table_->tensors[index];
  const GradientCodec codec = codec_of(table_->codec_at(index, job_, step_));
  const std::span<const TableChunk> chunks = table_->chunks_of(tensor);
  std::size_t room = 0;
  for (const TableChunk& chunk : chunks)
    room += (codec.room({.count = chunk.count, .choices = choices()}) + 7) / 8 * 8;  // aligned()
  const std::shared_ptr<Buffer> buffer = pool_.take(room);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < tensor.chunks; ++i) {
    const MutableBytes free = buffer->bytes().subspan(at);
    STERNA_ASSIGN(Filled filled, fill(codec, chunks[i], free));
    const Bytes payload = share(buffer).part(at, filled.bytes);
    const ByteView opened = codec.seal == nullptr ? payload.view() : ByteView(planes_);
    const std::uint64_t nonzero = codec.ternary() ? kernels::nonzero_trits(opened, isa_) : 0;
    if (feeds_back(index) && codec.ternary()) {
      filled.scaler = kernels::fed_back_scaler(filled.scaler, clip());
    }
    if (feeds_back(index) || sent_) {
      Bytes numbers;
      if (!codec.ternary()) {
        STERNA_ASSIGN(numbers, codec.open(payload, {.count = chunks[i].count}, pool_, isa_));
      }
      decode(chunks[i], {codec.packing, filled.scaler, codec.ternary() ? opened : numbers.view()});
      if (feeds_back(index)) keep_residual(chunks[i]);
      if (feeds_back(index) && i + 1 == tensor.chunks) residuals_.stamp(index);
      if (sent_) sent_(chunks[i], decoded_);
    }
    listener.packed(tensor.first_chunk + i, filled.scaler, payload, nonzero);
    at += aligned(buffer->bytes().subspan(at), filled.bytes);
  }
  return {};
}

/// Makes planes where they can travel from, or where they are sealed from.
Result<HostArithmetic::Filled> HostArithmetic::fill_planes(const GradientCodec& codec,
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

std::span<const float> HostArithmetic::with_residual(std::uint32_t tensor,
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

void HostArithmetic::decode(const TableChunk& chunk, const kernels::Packet& packet) {
  decoded_.resize(chunk.count);
  kernels::average(std::span(&packet, 1), decoded_, isa_);
}

/// What is left of a chunk, of which `decoded_` is on its way.
void HostArithmetic::keep_residual(const TableChunk& chunk) {
  float* residual = residuals_.newest(chunk.tensor).data() + chunk.first;
  for (std::size_t i = 0; i < chunk.count; ++i) residual[i] -= decoded_[i];
}

Result<void> HostArithmetic::give_back(const Packet& packet) {
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

kernels::TernaryDraw HostArithmetic::draw(std::uint32_t tensor) const {
  return {.seed = job_.seed,
          .step = static_cast<std::uint32_t>(step_),
          .rank = rank_,
          .tensor = tensor};
}

Result<void> HostArithmetic::copy(std::uint32_t tensor, std::span<const float> values,
                                  Listener& listener) {
  // Without a clip factor this only looks for what is not finite.
  STERNA_TRY(kernels::scaler(values, 0, isa_));
  return pack(
      tensor,
      [&](const GradientCodec& codec, const TableChunk& chunk, MutableBytes out) -> Result<Filled> {
        const auto part = values.subspan(chunk.first, chunk.count);
        const PackContext context{draw(tensor), chunk.first, choices()};
        return Filled{1.0F, codec.pack(part, context, out, isa_)};
      },
      listener);
}

void HostArithmetic::encode(std::uint32_t tensor, std::span<const float> values,
                            const std::vector<float>& scalers, Listener& listener) {
  const auto fill = [&](const GradientCodec& codec, const TableChunk& chunk, MutableBytes out) {
    const float scaler = scalers[chunk.scaler - scalers_[tensor].first];
    return fill_planes(codec, chunk.count, out, [&](MutableBytes planes) -> Result<float> {
      kernels::ternarize(values.subspan(chunk.first, chunk.count), scaler, draw(tensor),
                         chunk.first, planes, isa_);
      return scaler;
    });
  };
  static_cast<void>(
      pack(tensor, fill, listener));  // the gradient was measured before: nothing can fail
}

Result<void> HostArithmetic::encode_buckets(std::uint32_t tensor, std::span<const float> values,
                                            Listener& listener) {
  return pack(
      tensor,
      [&](const GradientCodec& codec, const TableChunk& chunk, MutableBytes out) {
        return fill_planes(codec, chunk.count, out, [&](MutableBytes planes) {
          return kernels::encode_bucket({values, chunk.first, chunk.count}, clip(), draw(tensor),
                                        planes, isa_);
        });
      },
      listener);
}

Result<HostArithmetic::Listener::Measured> HostArithmetic::encode_and_measure(
    std::uint32_t tensor, std::span<const float> values, const std::vector<float>& scalers,
    Listener& listener) {
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
  STERNA_TRY(pack(tensor, fill, listener));
  Listener::Measured own;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const TableScaler& of = table_->scalers[first + i];
    STERNA_ASSIGN(const float scaler, found[i].scaler(clip(), values.subspan(of.first, of.count)));
    own.scalers.push_back(scaler);
    own.saturated += found[i].saturated();
    own.elements += found[i].elements();
  }
  return own;
}

}  // namespace sterna::actors
