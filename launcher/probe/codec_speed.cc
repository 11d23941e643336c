#include "launcher/probe/codec_speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "actors/codecs/codec.h"
#include "actors/encode/gradient_encoder.h"
#include "actors/encode/host_arithmetic.h"
#include "actors/server/shard.h"
#include "kernels/sums/sums.h"
#include "launcher/probe/gaussian.h"
#include "runtime/base/median.h"

namespace sterna::launcher {
namespace {

/// 4 MB of gradient, and as much of each of the parameters, their next version and the slots.
constexpr std::size_t kElements = std::size_t{1} << 20;
/// So many are drawn, and repeated: every place in the tensor has a draw of its own anyway.
constexpr std::size_t kDrawn = 65536;
/// Each rank's gradient is the same numbers from another one on.
constexpr std::size_t kApart = 4096;
/// More ranks are extrapolated.
constexpr std::uint32_t kMostRanks = 8;
/// The first finds no buffers in place.
constexpr std::uint64_t kSteps = 8;

/// One rank's encoder, and what it has said in this step.
struct Rank {
  std::unique_ptr<actors::GradientEncoder> encoder;
  std::vector<actors::Packet> packets;
  std::vector<actors::Offer::OwnScaler> offers;
};

std::vector<Rank> make_ranks(const actors::JobConfig& job, kernels::Isa isa,
                             const std::shared_ptr<const actors::ParameterTable>& table,
                             const Clock& clock) {
  std::vector<Rank> ranks(job.ranks);
  for (std::uint32_t i = 0; i < job.ranks; ++i) {
    Rank& rank = ranks[i];
    actors::GradientEncoder::Events events;
    events.packets = [&rank](std::uint64_t, std::uint32_t, std::vector<actors::Packet> packets) {
      std::move(packets.begin(), packets.end(), std::back_inserter(rank.packets));
    };
    events.offers = [&rank](std::uint64_t, std::uint32_t,
                            std::vector<actors::Offer::OwnScaler> offers) { rank.offers = offers; };
    rank.encoder = std::make_unique<actors::GradientEncoder>(
        job, table, clock, std::move(events),
        std::make_unique<actors::HostArithmetic>(job, i, isa, table));
  }
  return ranks;
}

/// All ranks' gradients of a step become packets.
Result<void> encode(std::vector<Rank>& ranks, std::uint64_t step, std::span<const float> drawn) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].packets.clear();
    ranks[i].offers.clear();
    ranks[i].encoder->begin(step);
    STERNA_TRY(ranks[i].encoder->add(0, {drawn.subspan(i * kApart, kElements)}));
  }
  for (Rank& rank : ranks) {
    // Any rank's will do: they are the same but for what the others' places hold.
    for (const auto& offer : ranks.front().offers)
      rank.encoder->agree(step, offer.index, offer.value);
    STERNA_TRY(rank.encoder->encode_held());
    rank.encoder->flush();
  }
  return {};
}

/// The server's part of a step.
Result<void> update(actors::Shard& shard, std::vector<Rank>& ranks,
                    const actors::WorkerPolicy& policy, std::uint64_t step) {
  const actors::Contribution made = policy.contribution(step);
  for (std::uint32_t i = 0; i < ranks.size(); ++i) {
    actors::Push push;
    push.rank = i;
    push.step = step;
    push.examples = made.examples;
    push.kind = made.kind;
    push.packets = std::move(ranks[i].packets);
    for (actors::Packet& packet : push.packets) packet.base_version = step;
    STERNA_TRY(shard.accept(std::move(push)));
  }
  while (true) {
    actors::ChunkUpdates updates = shard.take_ready(actors::kUnitsPerChunk * actors::kUnitElements);
    if (updates.empty()) return {};
    updates.run();
    shard.publish(std::move(updates));
  }
}

/// A worker takes the version that the shard has now; the result is the bytes that it came as. The
/// optimizer's step is left out: it is the same whatever the codec.
Result<double> take(actors::Shard& shard, const actors::JobConfig& job, const actors::Need& need,
                    std::span<float> values, actors::BufferPool& pool, kernels::Isa isa) {
  const actors::ParameterTable& table = shard.table();
  const bool averages = need.kind == actors::PayloadKind::GRADIENT;
  double bytes = 0;
  for (std::uint32_t c = 0; c < table.chunks.size(); ++c) {
    const actors::ParameterChunk chunk =
        averages ? shard.average(c) : shard.parameters(c, need.version, need.codec);
    bytes += static_cast<double>(chunk.payload.size());
    const actors::TableChunk& place = table.chunks[c];
    const std::span<float> out = values.subspan(place.first, place.count);
    const actors::GradientCodec codec = actors::codec_of(chunk.codec);
    const std::uint32_t ranks = averages ? job.ranks_down() : 1;
    STERNA_ASSIGN(const Bytes opened,
                  codec.open(chunk.payload, {.count = place.count, .ranks = ranks}, pool, isa));
    if (codec.ternary()) {
      kernels::decode_sums({ranks, chunk.scaler, opened.view()}, out, isa);
    } else {
      const kernels::Packet packet{.packing = codec.packing, .payload = opened.view()};
      kernels::average(std::span(&packet, 1), out, isa);
    }
  }
  return bytes;
}

/// One codec's shard and ranks, which exchange a step whenever it is its turn.
class Trial {
 public:
  static Result<std::unique_ptr<Trial>> make(const actors::JobConfig& job, const Clock& clock) {
    STERNA_ASSIGN(const kernels::Isa isa, kernels::parse_isa(job.cpu_isa));
    const nets::ParameterSpec spec{.name = "tensor", .shape = {kElements}};
    const auto table = std::make_shared<const actors::ParameterTable>(std::vector{spec}, job, 1U);
    STERNA_ASSIGN(actors::Shard shard, actors::Shard::make(job, *table, 0, false));
    shard.start();
    return std::unique_ptr<Trial>(new Trial(job, clock, isa, std::move(shard), table));
  }

  Result<void> exchange(std::uint64_t step, const actors::WorkerPolicy& policy,
                        std::span<const float> drawn) {
    const Time begin = clock_.now();
    STERNA_TRY(encode(ranks_, step, drawn));
    const Time encoded = clock_.now();
    double up = 0;
    for (const actors::Packet& packet : ranks_.front().packets) {
      up += static_cast<double>(packet.payload.size());
    }
    STERNA_TRY(update(shard_, ranks_, policy, step));
    const Time updated = clock_.now();
    STERNA_ASSIGN(const double down,
                  take(shard_, job_, policy.need(step + 1), values_, pool_, isa_));
    if (step == 0) return {};
    bytes_up_ = up / kAll;
    bytes_down_ = down / kAll;
    worker_.push_back(
        (in_seconds(encoded - begin) / job_.ranks + in_seconds(clock_.now() - updated)) / kAll);
    server_.push_back(in_seconds(updated - encoded) / kAll);
    return {};
  }

  /// Of one element.
  CodecCost cost(const std::string& codec) const {
    return {codec, bytes_up_, bytes_down_, median(worker_), median(server_)};
  }

 private:
  static constexpr auto kAll = static_cast<double>(kElements);

  Trial(const actors::JobConfig& job, const Clock& clock, kernels::Isa isa, actors::Shard shard,
        const std::shared_ptr<const actors::ParameterTable>& table)
      : job_(job),
        clock_(clock),
        isa_(isa),
        shard_(std::move(shard)),
        ranks_(make_ranks(job_, isa, table, clock)),
        values_(kElements) {}

  actors::JobConfig job_;
  const Clock& clock_;
  kernels::Isa isa_;
  actors::Shard shard_;
  std::vector<Rank> ranks_;
  std::vector<float> values_;  ///< a worker's
  actors::BufferPool pool_;
  double bytes_up_ = 0;
  double bytes_down_ = 0;
  std::vector<double> worker_;  ///< seconds an element, step by step
  std::vector<double> server_;
};

}  // namespace

Result<std::vector<CodecCost>> measure_codecs(const actors::JobConfig& job,
                                              const std::vector<std::string>& codecs) {
  actors::JobConfig one = job;
  one.ranks = std::min(job.pushing_ranks(), kMostRanks);
  one.averaged_ranks = 1;
  one.first_step = 0;
  one.steps = kSteps;
  one.evaluation.every = 0;
  one.gradient.tensors.clear();
  one.gradient.min_size = 1;
  one.gradient.logits = true;
  one.gradient.floating_grad_epoch = 0;
  std::vector<float> drawn(kElements + kMostRanks * kApart);
  fill_gaussian(std::span(drawn).first(kDrawn), 1);
  for (std::size_t i = kDrawn; i < drawn.size(); ++i) drawn[i] = drawn[i - kDrawn];
  // Whatever the scheme, a codec costs what it costs in a step of all.
  one.scheme = {};
  one.local_optimizer = {};
  STERNA_ASSIGN(const actors::Scheme scheme, actors::find_scheme(one.scheme.name));
  const std::unique_ptr<actors::WorkerPolicy> policy = scheme.worker(one);
  const SteadyClock clock;
  std::vector<std::unique_ptr<Trial>> trials;
  for (const std::string& name : codecs) {
    if (!actors::find_codec(name))
      return Error{Errc::invalid_argument, fmt::format("there is no codec \"{}\"", name)};
    one.gradient.codec = name;
    STERNA_ASSIGN(auto trial, Trial::make(one, clock));
    trials.push_back(std::move(trial));
  }
  // In turns: what else this machine does meanwhile is then borne by all alike.
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    for (const auto& trial : trials) STERNA_TRY(trial->exchange(step, *policy, drawn));
  }
  const bool averages = policy->need(kSteps).kind == actors::PayloadKind::GRADIENT;
  std::vector<CodecCost> costs;
  for (std::size_t i = 0; i < codecs.size(); ++i) {
    CodecCost cost = trials[i]->cost(codecs[i]);
    cost.server_seconds *= static_cast<double>(job.pushing_ranks()) / one.ranks;
    if (averages && actors::find_codec(codecs[i])->ternary()) {
      cost.bytes_down *= static_cast<double>(kernels::sum_planes(job.ranks_down())) /
                         static_cast<double>(kernels::sum_planes(one.ranks_down()));
    }
    costs.push_back(cost);
  }
  return costs;
}

}  // namespace sterna::launcher
