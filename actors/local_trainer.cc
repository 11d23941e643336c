#include "actors/local_trainer.h"

#include <cmath>

#include <fmt/format.h>

namespace sterna::actors {

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
  const bool server_decays = job.optimizer.decay_at == DecayAt::server;
  const auto decay = static_cast<float>(job.optimizer.weight_decay);
  STERNA_ASSIGN(trainer.isa_, kernels::parse_isa(job.cpu_isa));
  STERNA_ASSIGN(trainer.rule_, UpdateRule::make(job));
  STERNA_ASSIGN(
      trainer.net_,
      nets::make_net({.name = job.net,
                      .hidden = job.hidden,
                      .batch = job.batch,
                      .weight_decay = server_decays ? 0.0F : decay,
                      .backend = {.threads = static_cast<int>(job.threads), .isa = job.cpu_isa}}));
  const auto& specs = trainer.net_->parameters();
  trainer.slots_.resize(specs.size());
  for (std::uint32_t i = 0; i < specs.size(); ++i) {
    nets::initialize(trainer.net_->parameter(i), specs[i], job.seed, i);
    trainer.slots_[i].assign(trainer.rule_.slots(), std::vector<float>(specs[i].count()));
  }
  return trainer;
}

Result<double> LocalTrainer::step(std::uint64_t step, std::span<const float> images,
                                  std::span<const std::uint16_t> labels) {
  const auto& specs = net_->parameters();
  for (std::size_t i = 0; i < specs.size(); ++i) net_->parameters_changed(i);
  Updates updates(specs.size());
  STERNA_ASSIGN(const nets::Net::Loss loss, net_->train_step(images, labels, updates));
  const double total = double{loss.cross_entropy} + double{loss.regularization};
  if (!std::isfinite(total)) {
    return Error{Errc::non_finite, fmt::format("step {}: the loss is {}", step, total)};
  }
  const kernels::StepConstants constants = rule_.constants(step);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const kernels::Packet packet{.packing = kernels::Packing::fp32,
                                 .payload = std::as_bytes(updates.gradients[i])};
    const std::span<float> values = net_->parameter(i);
    const std::vector<std::span<float>> slots(slots_[i].begin(), slots_[i].end());
    kernels::update(std::span(&packet, 1), rule_.options(specs[i], constants),
                    {.current = values, .slots = slots, .next = values}, isa_);
  }
  return total;
}

}  // namespace sterna::actors
