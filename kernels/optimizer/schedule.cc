#include "kernels/optimizer/schedule.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace sterna::kernels {
namespace {

// base ^ exponent by squaring: unlike std::pow, the same bits with every C library.
double power_of(double base, std::uint64_t exponent) {
  double result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base) {
    if ((exponent & 1) != 0) result *= base;
  }
  return result;
}

// The square root, the usual power, is exact everywhere; std::pow need not be.
double fraction_power(double base, double power) {
  return power == 0.5 ? std::sqrt(base) : std::pow(base, power);
}

}  // namespace

double learning_rate(const Schedule& schedule, std::uint64_t step) {
  switch (schedule.policy) {
    case Policy::fixed:
      break;
    case Policy::exponential:
      assert(schedule.decay_steps > 0);
      return schedule.initial * power_of(schedule.decay_factor, step / schedule.decay_steps);
    case Policy::polynomial: {
      assert(schedule.max_steps > 0);
      const auto done = static_cast<double>(std::min(step, schedule.max_steps));
      const double left = 1 - done / static_cast<double>(schedule.max_steps);
      return schedule.initial * fraction_power(left, schedule.power);
    }
  }
  return schedule.initial;
}

}  // namespace sterna::kernels
