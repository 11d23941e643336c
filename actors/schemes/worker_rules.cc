#include "actors/schemes/worker_rules.h"

namespace sterna::actors {

Exchange WorkerRules::exchange(std::uint64_t step) const {
  const std::uint64_t own = step - job_.first_own_step();
  const std::uint64_t window = job_.window();
  return {.pulls = own % window == 0,
          .pushes = own % window == window - 1,
          .push = job_.first_step + own / window};
}

Need WorkerRules::need(std::uint64_t push) const {
  // Servers have the first version as it is, but for one that a checkpoint has kept.
  const bool later = push > job_.first_step || job_.resumes;
  const bool rounded = job_.gradient.down == Down::parameters_bf16 && later;
  return {.version = job_.first_step, .codec = rounded ? Codec::BF16 : Codec::FP32};
}

Contribution WorkerRules::contribution(std::uint64_t) const {
  return {.kind = job_.facts().differences ? PayloadKind::DIFFERENCE : PayloadKind::GRADIENT,
          .examples = static_cast<std::uint32_t>(job_.examples_per_push())};
}

}  // namespace sterna::actors
