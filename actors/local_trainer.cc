#include "actors/local_trainer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "actors/shard.h"

namespace sterna::actors {
namespace {

/// The update is out of place, parameters are not: it goes tile by tile through the L1 cache.
constexpr std::size_t kTile = 2048;

}  // namespace

/// Keeps each gradient's place; they stay valid until the next pass.
class LocalTrainer::Updates final : public nets::GradientSink {
 public:
  explicit Updates(std::size_t tensors) : gradients(tensors) {}
  void gradient(std::size_t index, std::span<const float> values) override {
    gradients[index] = values;
  }
  std::vector<std::span<const float>> gradients;
};

Result<LocalTrainer> LocalTrainer::make(const JobConfig& job) {
  LocalTrainer trainer;
  const bool server_decays = job.optimizer.decay_at == DecayAt::SERVER;
  const auto decay = static_cast<float>(job.optimizer.weight_decay);
  STERNA_ASSIGN(trainer.isa_, kernels::parse_isa(job.isa));
  STERNA_ASSIGN(trainer.options_.optimizer, parse_optimizer(job.optimizer));
  STERNA_ASSIGN(trainer.schedule_, parse_schedule(job.optimizer, job.steps));
  STERNA_ASSIGN(trainer.net_, nets::make_net({.name = job.net,
                                              .hidden = job.hidden,
                                              .batch = job.batch,
                                              .weight_decay = server_decays ? 0.0F : decay,
                                              .threads = static_cast<int>(job.threads),
                                              .isa = job.isa}));
  trainer.settings_ = optimizer_settings(job.optimizer);
  trainer.server_decay_ = server_decays ? decay : 0.0F;
  const auto& specs = trainer.net_->parameters();
  trainer.slots_.resize(specs.size());
  for (std::uint32_t i = 0; i < specs.size(); ++i) {
    nets::initialize(trainer.net_->parameter(i), specs[i], job.seed, i);
    trainer.slots_[i].assign(trainer.options_.optimizer.slots,
                             std::vector<float>(specs[i].count()));
  }
  return trainer;
}

Result<double> LocalTrainer::step(std::uint64_t step, std::span<const float> images,
                                  std::span<const std::uint8_t> labels) {
  const auto& specs = net_->parameters();
  for (std::size_t i = 0; i < specs.size(); ++i) net_->parameters_changed(i);
  Updates updates(specs.size());
  STERNA_ASSIGN(const nets::Net::Loss loss, net_->train_step(images, labels, updates));
  const double total = double{loss.cross_entropy} + double{loss.regularization};
  if (!std::isfinite(total)) {
    return Error{Errc::non_finite, fmt::format("step {}: the loss is {}", step, total)};
  }
  options_.constants =
      options_.optimizer.constants(settings_, kernels::learning_rate(schedule_, step), step);
  alignas(64) float next[kTile];
  std::vector<std::span<float>> slots(options_.optimizer.slots);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    options_.weight_decay = specs[i].decay ? server_decay_ : 0.0F;
    const std::span<float> values = net_->parameter(i);
    for (std::size_t at = 0; at < values.size(); at += kTile) {
      const std::size_t count = std::min(kTile, values.size() - at);
      const kernels::Packet packet{
          .packing = kernels::Packing::fp32,
          .payload = std::as_bytes(updates.gradients[i].subspan(at, count))};
      for (std::size_t j = 0; j < slots.size(); ++j) {
        slots[j] = std::span(slots_[i][j]).subspan(at, count);
      }
      kernels::update(
          std::span(&packet, 1), options_,
          {.current = values.subspan(at, count), .slots = slots, .next = std::span(next, count)},
          isa_);
      std::copy_n(next, count, values.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  return total;
}

}  // namespace sterna::actors
