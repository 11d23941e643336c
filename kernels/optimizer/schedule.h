// Learning rates as a function of the global step, with the defaults and formulas of TernGrad's
// published trainer.
#pragma once

#include <cstdint>

namespace sterna::kernels {

enum class Policy {
  fixed,        ///< lr0
  exponential,  ///< lr0 * decay_factor ^ floor(step / decay_steps), a staircase
  polynomial,   ///< lr0 * (1 - min(step, max_steps) / max_steps) ^ power: 0 at the end
};

struct Schedule {
  Policy policy = Policy::fixed;
  double initial = 0;             ///< lr0
  double decay_factor = 1;        ///< exponential
  std::uint64_t decay_steps = 1;  ///< exponential, > 0
  std::uint64_t max_steps = 1;    ///< polynomial, > 0
  double power = 0.5;             ///< polynomial
};

/// The learning rate of `step` (the first is 0). Computed in double; the server rounds it to fp32
/// once and everyone uses that.
double learning_rate(const Schedule& schedule, std::uint64_t step);

}  // namespace sterna::kernels
