#include "actors/parameters/update_rule.h"

#include <algorithm>
#include <utility>

#include "kernels/optimizer/moving_average.h"

namespace sterna::actors {

Result<kernels::LearningRate> learning_rate_of(const JobConfig& job) {
  const auto schedule = kernels::find_schedule(job.optimizer.schedule);
  if (!schedule) return schedule.error().in("optimizer.schedule");
  kernels::LearningRate rate = schedule->over(job.course(), job.optimizer.numbers);
  if (job.optimizer.warm_up > 0) rate = kernels::warmed_up(std::move(rate), job.optimizer.warm_up);
  if (job.optimizer.scale_by_ranks) rate = kernels::scaled(std::move(rate), job.ranks);
  return rate;
}

Result<UpdateRule> UpdateRule::make(const JobConfig& job) {
  UpdateRule rule;
  const auto optimizer = kernels::find_optimizer(job.optimizer.name);
  if (!optimizer) return optimizer.error().in("optimizer.name");
  rule.optimizer_ = *optimizer;
  rule.constants_ = optimizer->constants(job.optimizer.numbers);
  STERNA_ASSIGN(rule.rate_, learning_rate_of(job));
  if (job.optimizer.decay_at == DecayAt::server) {
    rule.decay_ = static_cast<float>(job.optimizer.weight_decay);
  }
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
