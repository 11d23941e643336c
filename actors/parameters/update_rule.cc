#include "actors/parameters/update_rule.h"

namespace sterna::actors {

Result<kernels::LearningRate> learning_rate_of(const JobConfig& job) {
  const auto schedule = kernels::find_schedule(job.optimizer.schedule);
  if (!schedule) return schedule.error().in("optimizer.schedule");
  return schedule->over(job.course(), job.optimizer.numbers);
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

kernels::UpdateOptions UpdateRule::options(const nets::ParameterSpec& parameter,
                                           const kernels::StepConstants& constants) const {
  return {.optimizer = optimizer_,
          .constants = constants,
          .weight_decay = parameter.decay ? decay_ : 0.0F};
}

}  // namespace sterna::actors
