// By rejection under a flat envelope: x uniform on (-2, 2) is kept with probability exp(-x^2 / 2),
// which keeps 60 % and is exactly the truncated distribution. No logarithm or cosine of the C
// library takes part: their last bits differ between machines.
#include "kernels/random/initializer.h"

#include <array>

#include "kernels/random/philox.h"
#include "kernels/random/stream.h"

namespace sterna::kernels {
namespace {

// exp(-y) for 0 <= y <= 2, to about 1e-15: Taylor's series at y / 16, then four squarings.
double exp_minus(double y) {
  const double z = -y / 16;
  double sum = 1;
  for (int n = 10; n >= 1; --n) sum = 1 + sum * z / n;
  for (int i = 0; i < 4; ++i) sum *= sum;
  return sum;
}

// Draws with word 0 = element and word 1 = attempt until one is kept; each call holds two draws.
double standard_truncated(std::uint32_t element, std::uint32_t tensor, std::uint64_t seed) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    const auto words =
        philox({element, attempt, tensor, static_cast<std::uint32_t>(Stream::initializer)}, seed);
    for (std::size_t i = 0; i < words.size(); i += 2) {
      const double x = (words[i] + 0.5) * 0x1p-30 - 2;
      if (words[i + 1] * 0x1p-32 < exp_minus(x * x / 2)) return x;
    }
  }
}

}  // namespace

void truncated_normal(std::span<float> out, float stddev, std::uint64_t seed,
                      std::uint32_t tensor) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double x = standard_truncated(static_cast<std::uint32_t>(i), tensor, seed);
    out[i] = static_cast<float>(x * double{stddev});
  }
}

}  // namespace sterna::kernels
