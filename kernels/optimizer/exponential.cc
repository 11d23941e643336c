// lr0 * decay_factor ^ floor(step / decay_steps), a staircase: one drop each epochs_per_decay.
#include <algorithm>

#include "kernels/optimizer/power.h"
#include "kernels/optimizer/schedule.h"

namespace sterna::kernels {
namespace {

constexpr NumberKey kKeys[] = {{"decay_factor",
                                0.1,
                                {.low = 0, .high = 1, .low_open = true},
                                "exponential: the factor of each drop"},
                               {"epochs_per_decay",
                                20,
                                {.low = 0, .high = 1e9, .low_open = true},
                                "exponential: epochs between drops"}};
/// No job has as many steps, and a double holds it as it is.
constexpr double kMostDecaySteps = 0x1p62;

LearningRate over(const Course& course, const Numbers& values) {
  const double steps = course.steps_per_epoch * values.at("epochs_per_decay");
  return
      [initial = course.initial, factor = values.at("decay_factor"),
       decay_steps = static_cast<std::uint64_t>(std::min(std::max(1.0, steps), kMostDecaySteps))](
          std::uint64_t step) { return initial * power(factor, step / decay_steps); };
}

}  // namespace

Schedule exponential_schedule() { return {"exponential", over, kKeys, true}; }

}  // namespace sterna::kernels
