#include "actors/local_trainer.h"

#include <cmath>

#include <fmt/format.h>

#include "actors/weights/initial_weights.h"

namespace sterna::actors {

/// Keeps each gradient's place; they stay valid until the next pass.
class LocalTrainer::Updates final : public nets::GradientSink {
 public:
  explicit Updates(std::size_t tensors) : gradients(tensors) {}
  void gradient(std::size_t index, const nets::Gradient& gradient) override {
    gradients[index] = gradient.values;
  }
  std::vector<std::span<const float>> gradients;
};

Result<LocalTrainer> LocalTrainer::make(const JobConfig& job) {
  LocalTrainer trainer;
  const bool server_decays = job.optimizer.decay_at == DecayAt::server;
  const auto decay = static_cast<float>(job.optimizer.weight_decay);
  STERNA_ASSIGN(trainer.isa_, kernels::parse_isa(job.cpu_isa));
  STERNA_ASSIGN(trainer.rule_, UpdateRule::make(job));
  nets::NetOptions options = net_options(job);
  options.weight_decay = server_decays ? 0.0F : decay;
  STERNA_ASSIGN(trainer.net_, nets::make_net(options));
  trainer.seed_ = job.seed;
  const auto& specs = trainer.net_->parameters();
  trainer.slots_.resize(specs.size());
  for (std::uint32_t i = 0; i < specs.size(); ++i) {
    nets::initialize(trainer.net_->parameter(i), specs[i], {.seed = job.seed, .tensor = i},
                     trainer.isa_);
    trainer.slots_[i] = trainer.rule_.make_slots(specs[i], specs[i].count());
  }
  if (!job.init.from.empty()) {
    STERNA_ASSIGN(const InitialWeights weights, InitialWeights::open(job, specs));
    for (std::uint32_t i = 0; i < specs.size(); ++i) {
      STERNA_TRY(weights.read(i, 0, trainer.net_->parameter(i)));
    }
  }
  trainer.init_ = job.init;
  return trainer;
}

Result<double> LocalTrainer::step(std::uint64_t step, const nets::PixelImages& images,
                                  std::span<const std::uint16_t> labels) {
  const auto& specs = net_->parameters();
  for (std::size_t i = 0; i < specs.size(); ++i) net_->parameters_changed(i);
  Updates updates(specs.size());
  STERNA_ASSIGN(const nets::Net::Loss loss,
                net_->train_step(images, labels, updates,
                                 {.seed = seed_, .step = static_cast<std::uint32_t>(step)}));
  const double total = double{loss.cross_entropy} + double{loss.regularization};
  if (!std::isfinite(total)) {
    return Error{Errc::non_finite, fmt::format("step {}: the loss is {}", step, total)};
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const bool statistic = specs[i].role == nets::Role::statistic;
    if (!statistic && !init_.trains(specs[i].name)) continue;
    const kernels::Packet packet{.packing = kernels::Packing::fp32,
                                 .payload = std::as_bytes(updates.gradients[i])};
    const std::span<float> values = net_->parameter(i);
    std::vector<std::span<float>> slots;
    for (const auto& slot : slots_[i]) slots.push_back(slot->as<float>());
    kernels::update(std::span(&packet, 1), rule_.options_at(specs[i], step),
                    {.current = values, .slots = slots, .next = values}, isa_);
  }
  return total;
}

}  // namespace sterna::actors
