#include "actors/parameters/update_rule.h"

#include <algorithm>
#include <utility>

#include "kernels/optimizer/moving_average.h"

namespace sterna::actors {

namespace {

/// As if all examples had come in the job's own batches: those before a checkpoint may have come in
/// others, and epochs are counted by examples.
kernels::LearningRate by_examples(kernels::LearningRate rate, const JobConfig& job) {
  const std::uint64_t each = examples_per_version(job.scheme, job.batch, job.ranks);
  return [rate = std::move(rate), each, step_there = job.first_step,
          seen = job.first_position](std::uint64_t step) {
    return rate(step < step_there ? step : (seen + (step - step_there) * each) / each);
  };
}

Result<kernels::LearningRate> rate_of(const OptimizerSection& optimizer, const JobConfig& job) {
  const auto schedule = kernels::find_schedule(optimizer.schedule);
  if (!schedule) return schedule.error().in("schedule");
  kernels::Course course = job.course();
  course.initial = optimizer.learning_rate;
  kernels::LearningRate rate = schedule->over(course, optimizer.numbers);
  if (schedule->counts_epochs) rate = by_examples(std::move(rate), job);
  if (optimizer.warm_up > 0) rate = kernels::warmed_up(std::move(rate), optimizer.warm_up);
  if (optimizer.scale_by_ranks) rate = kernels::scaled(std::move(rate), job.ranks);
  return rate;
}

}  // namespace

bool decays_locally(const JobConfig& job) {
  const auto local = kernels::find_optimizer(job.local_optimizer.name);
  return job.facts().differences && local && local->decays;
}

Result<kernels::LearningRate> learning_rate_of(const JobConfig& job) {
  return rate_of(job.optimizer, job).in("optimizer");
}

Result<UpdateRule> UpdateRule::make(const OptimizerSection& chosen, const JobConfig& job) {
  UpdateRule rule;
  const auto optimizer = kernels::find_optimizer(chosen.name);
  if (!optimizer) return optimizer.error().in("name");
  rule.optimizer_ = *optimizer;
  rule.constants_ = optimizer->constants(chosen.numbers);
  STERNA_ASSIGN(rule.rate_, rate_of(chosen, job));
  return rule;
}

Result<UpdateRule> UpdateRule::make(const JobConfig& job) {
  STERNA_ASSIGN(UpdateRule rule, make(job.optimizer, job).in("optimizer"));
  if (job.optimizer.decay_at == DecayAt::server) {
    rule.decay_ = static_cast<float>(job.optimizer.weight_decay);
  }
  return rule;
}

Result<UpdateRule> UpdateRule::make_local(const JobConfig& job) {
  STERNA_ASSIGN(UpdateRule rule, make(job.local_optimizer, job).in("local_optimizer"));
  if (decays_locally(job)) rule.decay_ = static_cast<float>(job.optimizer.weight_decay);
  return rule;
}

UpdateRule UpdateRule::make_adding() {
  UpdateRule rule;
  rule.optimizer_ = kernels::find_optimizer("gd").value();
  rule.constants_ = rule.optimizer_.constants(initial_numbers());
  rule.rate_ = [](std::uint64_t) { return -1.0; };
  return rule;
}

std::vector<std::shared_ptr<Buffer>> UpdateRule::make_slots(const nets::ParameterSpec& parameter,
                                                            std::size_t elements) const {
  std::vector<std::shared_ptr<Buffer>> slots;
  if (parameter.role == nets::Role::statistic) return slots;
  for (const float start : optimizer_.slots) {
    const auto& slot = slots.emplace_back(make_buffer(elements * sizeof(float)));
    if (start != 0) std::ranges::fill(slot->as<float>(), start);
  }
  return slots;
}

std::vector<float> UpdateRule::initial_slots(std::size_t elements) const {
  std::vector<float> slots;
  for (const float start : optimizer_.slots) slots.insert(slots.end(), elements, start);
  return slots;
}

kernels::UpdateOptions UpdateRule::options(const nets::ParameterSpec& parameter,
                                           const kernels::StepConstants& constants) const {
  return {.optimizer = optimizer_,
          .constants = constants,
          .weight_decay = parameter.decay ? decay_ : 0.0F};
}

kernels::UpdateOptions UpdateRule::options_at(const nets::ParameterSpec& parameter,
                                              std::uint64_t step) const {
  if (parameter.role != nets::Role::statistic) return options(parameter, constants(step));
  return {.optimizer = kernels::statistics_rule(),
          .constants = {{kernels::average_part(parameter.moving_decay, step)}}};
}

}  // namespace sterna::actors
