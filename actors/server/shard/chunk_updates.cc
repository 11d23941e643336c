#include "actors/server/shard/chunk_updates.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "actors/codecs/codec.h"
#include "kernels/sums/bf16.h"
#include "kernels/sums/sums.h"
#include "kernels/trits/scaler.h"

namespace sterna::actors {

void ChunkUpdates::add(ChunkUpdate update) {
  elements_ += update.current->size() / sizeof(float);
  updates_.push_back(std::move(update));
}

std::vector<std::uint32_t> ChunkUpdates::chunks() const {
  std::vector<std::uint32_t> chunks;
  for (const ChunkUpdate& update : updates_) chunks.push_back(update.chunk);
  return chunks;
}

void ChunkUpdates::run() {
  const Span all = trace_.whole(updates_.empty() ? 0 : updates_.front().chunk);
  for (ChunkUpdate& update : updates_) {
    run(update);
    if (update.keeps) copy_kept(update);
  }
}

void ChunkUpdates::copy_kept(ChunkUpdate& update) {
  const auto copy = [](const std::shared_ptr<Buffer>& from) {
    auto to = make_buffer(from->size());
    std::ranges::copy(from->bytes(), to->bytes().begin());
    return to;
  };
  for (const auto& slot : update.slots) update.kept_slots.push_back(copy(slot));
  if (update.residual != nullptr) update.kept_residual = copy(update.residual);
}

/// What this step is made from stays, as the version before.
void ChunkUpdates::keep_before(ChunkUpdate& update) {
  update.before = update.current;
  if (update.next == update.current) update.next = pool_.take(update.current->size());
  for (const auto& slot : update.slots) {
    auto& copy = update.slots_before.emplace_back(pool_.take(slot->size()));
    std::ranges::copy(slot->bytes(), copy->bytes().begin());
  }
}

void ChunkUpdates::run(ChunkUpdate& update) {
  std::vector<kernels::Packet> packets;
  for (const Packet& packet : update.packets) {
    packets.push_back({.packing = codec_of(packet.codec).packing,
                       .scaler = packet.scaler,
                       .payload = packet.payload.view()});
  }
  std::vector<std::span<float>> slots;
  for (const auto& slot : update.slots) slots.push_back(slot->as<float>());
  update.down = {.chunk = update.chunk, .payload = {}};
  if (update.settles_before) {
    const Span stepping = trace_.optimizer();
    settle(update, slots);
  }
  if (update.keeps_before) keep_before(update);
  if (is_packed(update.combine)) {
    const Span summing = trace_.sum();
    update.combine == Combine::sums ? sum(update, packets) : ternarize(update, packets);
  }
  if (update.settles && !update.unsettled.empty()) {
    const Span stepping = trace_.optimizer();
    settle(update, slots);
  }
  const kernels::Parameters parameters = parameters_of(update, slots);
  Span stepping;
  if (!is_packed(update.combine)) stepping = trace_.both();
  switch (update.combine) {
    case Combine::parameters:
      if (!update.weights.empty()) {
        step_from_weighted(update, packets, parameters);
      } else {
        kernels::update(packets, update.options, parameters, isa_);
      }
      break;
    case Combine::sums:
    case Combine::ternary:
      break;  // settled, or left for later
    case Combine::average:
      step_from_average(update, packets, parameters);
      break;
    case Combine::vote:
      step_from_votes(update, packets, parameters);
      break;
  }
  if (!update.rounds) return;
  const std::shared_ptr<Buffer> rounded = pool_.take(parameters.next.size() * 2);
  kernels::encode_bf16(parameters.next, rounded->bytes(), isa_);
  update.down = {.chunk = update.chunk, .codec = Codec::BF16, .payload = share(rounded)};
}

kernels::Parameters ChunkUpdates::parameters_of(const ChunkUpdate& update,
                                                std::span<const std::span<float>> slots) {
  kernels::Parameters parameters{
      .current = update.current->as<float>(), .slots = slots, .next = update.next->as<float>()};
  if (update.average != nullptr) {
    parameters.average = update.average->as<float>();
    parameters.next_average = update.next_average->as<float>();
  }
  return parameters;
}

/// Makes the steps that are due; `current` is then what they led to.
void ChunkUpdates::settle(ChunkUpdate& update, std::span<const std::span<float>> slots) {
  std::vector<kernels::SumStep> steps;
  for (const SummedStep& step : update.unsettled) {
    steps.push_back({{step.ranks, step.scaler, step.sums.view()}, step.options});
  }
  kernels::update(steps, parameters_of(update, slots), isa_);
  update.unsettled.clear();
  update.current = update.next;
  update.average = update.next_average;
}

void ChunkUpdates::sum(ChunkUpdate& update, std::span<const kernels::Packet> packets) {
  const auto ranks = static_cast<std::uint32_t>(packets.size());
  const std::size_t count = update.current->size() / sizeof(float);
  const auto sums = pool_.take(kernels::sum_bytes(count, ranks));
  kernels::sum_trits(packets, sums->bytes(), isa_);
  update.down.codec = update.codec;
  update.down.scaler = packets.front().scaler;
  if (update.sends) update.down.payload = seal(update, sums, ranks);
  update.unsettled.push_back({share(sums), ranks, update.down.scaler, update.options});
}

/// From ((0 + w0 packet 0) + w1 packet 1) + ..., each operation with a rounding of its own.
void ChunkUpdates::step_from_weighted(ChunkUpdate& update, std::span<const kernels::Packet> packets,
                                      const kernels::Parameters& parameters) {
  const auto sum = pool_.take(parameters.current.size_bytes());
  const auto scratch = pool_.take(parameters.current.size_bytes());
  const std::span<float> sums = sum->as<float>();
  const std::span<float> values = scratch->as<float>();
  std::ranges::fill(sums, 0.0F);
  for (std::size_t p = 0; p < packets.size(); ++p) {
    kernels::average(packets.subspan(p, 1), values, isa_);
    for (std::size_t i = 0; i < values.size(); ++i) sums[i] += update.weights[p] * values[i];
  }
  const kernels::Packet packet{.packing = kernels::Packing::fp32, .payload = sum->bytes()};
  kernels::update(std::span(&packet, 1), update.options, parameters, isa_);
}

/// signSGD with majority vote (Bernstein et al. 2018, arXiv 1810.05291): a rank is a voice, however
/// large its gradient. A tie is 0.
void ChunkUpdates::step_from_votes(ChunkUpdate& update, std::span<const kernels::Packet> packets,
                                   const kernels::Parameters& parameters) {
  const auto votes = pool_.take(parameters.current.size_bytes());
  const auto scratch = pool_.take(parameters.current.size_bytes());
  const auto sign = [](float value) { return static_cast<float>((value > 0) - (value < 0)); };
  const std::span<float> sums = votes->as<float>();
  const std::span<float> values = scratch->as<float>();
  std::ranges::fill(sums, 0.0F);
  for (std::size_t p = 0; p < packets.size(); ++p) {
    kernels::average(packets.subspan(p, 1), values, isa_);
    for (std::size_t i = 0; i < values.size(); ++i) sums[i] += sign(values[i]);
  }
  std::ranges::transform(sums, sums.begin(), sign);
  const kernels::Packet packet{.packing = kernels::Packing::fp32, .payload = votes->bytes()};
  kernels::update(std::span(&packet, 1), update.options, parameters, isa_);
}

void ChunkUpdates::step_from_average(ChunkUpdate& update, std::span<const kernels::Packet> packets,
                                     const kernels::Parameters& parameters) {
  const auto average = pool_.take(parameters.current.size_bytes());
  kernels::average(packets, average->as<float>(), isa_);
  const kernels::Packet packet{.packing = kernels::Packing::fp32, .payload = average->bytes()};
  kernels::update(std::span(&packet, 1), update.options, parameters, isa_);
  update.down = {.chunk = update.chunk, .codec = Codec::FP32, .payload = share(average)};
}

/// The average is ternarized, and will be stepped from as the workers do. With feedback
/// (DoubleSqueeze, Tang et al. 2019) what ternarizing left of those before goes with it.
void ChunkUpdates::ternarize(ChunkUpdate& update, std::span<const kernels::Packet> packets) {
  const auto scratch = pool_.take(update.current->size());
  const std::span<float> average = scratch->as<float>();
  kernels::average(packets, average, isa_);
  const bool feeds_back = update.residual != nullptr;
  const std::span<float> values = feeds_back ? update.residual->as<float>() : average;
  if (feeds_back) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += average[i];
  }
  const Result<float> scaler = kernels::scaler(values, update.clip, isa_);
  update.down.codec = update.codec;
  // Packets are finite, but their sums or squares need not be: workers refuse such a scaler.
  update.down.scaler = scaler ? *scaler : std::numeric_limits<float>::infinity();
  const auto trits = pool_.take(kernels::planes_bytes(values.size()));
  kernels::ternarize(values, update.down.scaler, update.draw, update.first, trits->bytes(), isa_);
  if (feeds_back) {
    update.down.scaler = kernels::fed_back_scaler(update.down.scaler, update.clip);
    const std::span<float> sent = average;
    kernels::decode_sums({1, update.down.scaler, trits->bytes()}, sent, isa_);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= sent[i];
  }
  update.down.payload = seal(update, trits, 1);
  update.unsettled.push_back({share(trits), 1, update.down.scaler, update.options});
}

/// What travels of these planes.
Bytes ChunkUpdates::seal(const ChunkUpdate& update, const std::shared_ptr<Buffer>& planes,
                         std::uint32_t ranks) {
  const GradientCodec codec = codec_of(update.codec);
  if (codec.seal == nullptr) return share(planes);
  const Packed what{.count = update.current->size() / sizeof(float), .ranks = ranks};
  const std::shared_ptr<Buffer> sealed = pool_.take(codec.room(what));
  const std::size_t bytes = codec.seal(planes->bytes(), what, sealed->bytes(), isa_);
  aligned(sealed->bytes(), bytes);
  return share(sealed, bytes);
}

}  // namespace sterna::actors
