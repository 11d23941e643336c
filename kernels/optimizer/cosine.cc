// end + (lr0 - end) * (1 + cos(pi * min(step, steps) / steps)) / 2: a cosine's half wave, without
// restarts (SGDR, Loshchilov and Hutter 2017).
#include <algorithm>
#include <numbers>

#include "kernels/optimizer/end_key.h"
#include "kernels/optimizer/schedule.h"

namespace sterna::kernels {
namespace {

constexpr NumberKey kKeys[] = {kEndKey};

/// 1 - z^2/(n (n + 1)) (1 - z^2/((n + 2) (n + 3)) (...)): of z = pi/4 the first term left out is
/// below 1e-19.
double series(double z, double n) {
  double sum = 1;
  for (double k = n + 16; k >= n; k -= 2) sum = 1 - z * z / (k * (k + 1)) * sum;
  return sum;
}

/// cos(pi x) for x from 0 to 1. Unlike a library's, the same bits on every machine.
double half_wave(double x) {
  if (x > 0.5) return -half_wave(1 - x);
  const double z = std::numbers::pi * (x <= 0.25 ? x : 0.5 - x);
  return x <= 0.25 ? series(z, 1) : z * series(z, 2);
}

LearningRate over(const Course& course, const Numbers& values) {
  return [initial = course.initial, steps = course.steps,
          end = values.at("end_learning_rate")](std::uint64_t step) {
    const double done = static_cast<double>(std::min(step, steps)) / static_cast<double>(steps);
    return end + (initial - end) * (1 + half_wave(done)) / 2;
  };
}

}  // namespace

Schedule cosine_schedule() { return {"cosine", over, kKeys}; }

}  // namespace sterna::kernels
