// end + (lr0 - end) * (1 - min(step, steps) / steps) ^ power. TernGrad's has a power of 0.5 and
// falls to 0; TF-Slim's has 1 and 1e-4.
#include <algorithm>

#include "kernels/optimizer/end_key.h"
#include "kernels/optimizer/power.h"
#include "kernels/optimizer/schedule.h"

namespace sterna::kernels {
namespace {

constexpr NumberKey kKeys[] = {{"power",
                                0.5,
                                {.low = 0, .high = 100, .low_open = true},
                                "polynomial: the exponent of the part of the steps that is left"},
                               kEndKey};

LearningRate over(const Course& course, const Numbers& values) {
  return [initial = course.initial, steps = course.steps, exponent = values.at("power"),
          end = values.at("end_learning_rate")](std::uint64_t step) {
    const auto done = static_cast<double>(std::min(step, steps));
    return end + (initial - end) * real_power(1 - done / static_cast<double>(steps), exponent);
  };
}

}  // namespace

Schedule polynomial_schedule() { return {"polynomial", over, kKeys}; }

}  // namespace sterna::kernels
