#include "launcher/probe/gaussian.h"

#include <cmath>
#include <numbers>

#include "runtime/base/random.h"

namespace sterna::launcher {

void fill_gaussian(std::span<float> values, std::uint64_t seed) {
  SeededRandom random(seed);
  for (float& value : values) {
    const double u = (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53;
    const double v = static_cast<double>(random.next() >> 11) * 0x1p-53;
    value =
        static_cast<float>(0.01 * std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v));
  }
}

}  // namespace sterna::launcher
