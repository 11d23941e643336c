#include "actors/parameters/update_rule.h"

#include <algorithm>

#include <fmt/format.h>

namespace sterna::actors {

Result<kernels::Schedule> parse_schedule(const OptimizerConfig& config, std::uint64_t steps) {
  kernels::Schedule schedule{.initial = config.learning_rate, .max_steps = steps};
  if (config.schedule == "fixed") {
    schedule.policy = kernels::Policy::fixed;
  } else if (config.schedule == "exponential") {
    schedule.policy = kernels::Policy::exponential;
    schedule.decay_factor = config.decay_factor;
    schedule.decay_steps = std::max<std::uint64_t>(1, config.decay_steps);
  } else if (config.schedule == "polynomial") {
    schedule.policy = kernels::Policy::polynomial;
  } else {
    return Error{Errc::invalid_argument,
                 fmt::format("optimizer.schedule: \"{}\" is none of fixed, exponential, polynomial",
                             config.schedule)};
  }
  return schedule;
}

Result<UpdateRule> UpdateRule::make(const JobConfig& job) {
  UpdateRule rule;
  Result<kernels::Optimizer> optimizer = kernels::find_optimizer(job.optimizer.name);
  if (!optimizer) return Error(optimizer.error()).in("optimizer.name");
  rule.optimizer_ = *optimizer;
  STERNA_ASSIGN(rule.schedule_, parse_schedule(job.optimizer, job.steps));
  rule.settings_ = {.momentum = job.optimizer.momentum,
                    .beta1 = job.optimizer.beta1,
                    .beta2 = job.optimizer.beta2,
                    .epsilon = job.optimizer.epsilon};
  if (job.optimizer.decay_at == DecayAt::SERVER) {
    rule.decay_ = static_cast<float>(job.optimizer.weight_decay);
  }
  return rule;
}

kernels::StepConstants UpdateRule::constants(std::uint64_t step) const {
  return optimizer_.constants(settings_, kernels::learning_rate(schedule_, step), step);
}

kernels::UpdateOptions UpdateRule::options(const nets::ParameterSpec& parameter,
                                           const kernels::StepConstants& constants) const {
  return {.optimizer = optimizer_,
          .constants = constants,
          .weight_decay = parameter.decay ? decay_ : 0.0F};
}

}  // namespace sterna::actors
