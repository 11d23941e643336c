#include "actors/local_trainer.h"

#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "actors/weights/initial_weights.h"

namespace sterna::actors {

/// Keeps each gradient's place; they stay valid until the next pass.
class LocalTrainer::Updates final : public nets::GradientSink {
 public:
  explicit Updates(std::size_t tensors) : gradients(tensors) {}
  void gradient(std::size_t index, const nets::Gradient& gradient) override {
    gradients[index] = gradient;
  }
  std::vector<nets::Gradient> gradients;
};

Result<LocalTrainer> LocalTrainer::make(const JobConfig& job,
                                        std::shared_ptr<kernels::Device> device) {
  LocalTrainer trainer;
  const bool server_decays = job.optimizer.decay_at == DecayAt::server;
  const auto decay = static_cast<float>(job.optimizer.weight_decay);
  STERNA_ASSIGN(trainer.isa_, kernels::parse_isa(job.cpu_isa));
  STERNA_ASSIGN(trainer.rule_, UpdateRule::make(job));
  nets::NetOptions options = net_options(job);
  options.weight_decay = server_decays ? 0.0F : decay;
  if (device != nullptr) {
    options.backend.name = "device";
    options.backend.device = device;
  }
  STERNA_ASSIGN(trainer.net_, nets::make_net(options));
  trainer.seed_ = job.seed;
  trainer.init_ = job.init;
  STERNA_TRY(trainer.initialize(job));
  if (device != nullptr) {
    STERNA_ASSIGN(trainer.steps_,
                  TrainerSteps::make(job, trainer.rule_, std::move(device), *trainer.net_));
    return trainer;
  }
  for (const nets::ParameterSpec& spec : trainer.net_->parameters()) {
    trainer.slots_.push_back(trainer.rule_.make_slots(spec, spec.count()));
  }
  return trainer;
}

Result<void> LocalTrainer::initialize(const JobConfig& job) {
  const auto& specs = net_->parameters();
  std::optional<InitialWeights> weights;
  if (!job.init.from.empty()) {
    STERNA_ASSIGN(weights, InitialWeights::open(job, specs));
  }
  for (std::uint32_t i = 0; i < specs.size(); ++i) {
    std::vector<float> values(specs[i].count());
    nets::initialize(values, specs[i], {.seed = job.seed, .tensor = i}, isa_);
    if (weights) STERNA_TRY(weights->read(i, 0, values));
    STERNA_TRY(net_->write_parameter(i, 0, values));
  }
  return {};
}

Result<double> LocalTrainer::step(std::uint64_t step, const nets::PixelImages& images,
                                  std::span<const std::uint16_t> labels) {
  const std::size_t tensors = net_->parameters().size();
  for (std::size_t i = 0; i < tensors; ++i) net_->parameters_changed(i);
  Updates updates(tensors);
  STERNA_ASSIGN(const nets::Net::Loss loss,
                net_->train_step(images, labels, updates,
                                 {.seed = seed_, .step = static_cast<std::uint32_t>(step)}));
  const double total = double{loss.cross_entropy} + double{loss.regularization};
  if (!std::isfinite(total)) {
    return Error{Errc::non_finite, fmt::format("step {}: the loss is {}", step, total)};
  }
  if (steps_ == nullptr) {
    step_here(updates, step);
    return total;
  }
  for (std::size_t i = 0; i < tensors; ++i) {
    STERNA_TRY(steps_->step(*net_, i, updates.gradients[i], step));
  }
  return total;
}

void LocalTrainer::step_here(const Updates& updates, std::uint64_t step) {
  const auto& specs = net_->parameters();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const bool statistic = specs[i].role == nets::Role::statistic;
    if (!statistic && !init_.trains(specs[i].name)) continue;
    const kernels::Packet packet{.packing = kernels::Packing::fp32,
                                 .payload = std::as_bytes(updates.gradients[i].values)};
    const std::span<float> values = net_->parameter(i);
    std::vector<std::span<float>> slots;
    for (const auto& slot : slots_[i]) slots.push_back(slot->as<float>());
    kernels::update(std::span(&packet, 1), rule_.options_at(specs[i], step),
                    {.current = values, .slots = slots, .next = values}, isa_);
  }
}

}  // namespace sterna::actors
