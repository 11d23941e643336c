// lr0 * (1 - min(step, steps) / steps) ^ 0.5: 0 at the end. The square root is exact everywhere, as
// a library's pow need not be.
#include <algorithm>
#include <cmath>

#include "kernels/optimizer/schedule.h"

namespace sterna::kernels {
namespace {

LearningRate over(const Course& course, const Numbers&) {
  return [initial = course.initial, steps = course.steps](std::uint64_t step) {
    const auto done = static_cast<double>(std::min(step, steps));
    return initial * std::sqrt(1 - done / static_cast<double>(steps));
  };
}

}  // namespace

Schedule polynomial_schedule() { return {"polynomial", over}; }

}  // namespace sterna::kernels
