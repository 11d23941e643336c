// By rejection under a flat envelope: x uniform on (-2, 2) is kept with probability exp(-x^2 / 2),
// which keeps 60 % and is exactly the truncated distribution. No logarithm or cosine of the C
// library takes part: their last bits differ between machines.
#include "kernels/random/initializer.h"

#include <algorithm>
#include <array>

#include "kernels/random/initializer_draws.h"
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

// The same to kUnsure.
float about_exp_minus(float y) {
  const float z = y * -0.125F;
  float sum = 1 + z * (1.0F / 5);
  sum = 1 + z * (1.0F / 4) * sum;
  sum = 1 + z * (1.0F / 3) * sum;
  sum = 1 + z * 0.5F * sum;
  sum = 1 + z * sum;
  for (int i = 0; i < 3; ++i) sum *= sum;
  return sum;
}

double position(std::uint32_t word) { return (word + 0.5) * 0x1p-30 - 2; }

bool keeps(std::uint32_t where, std::uint32_t uniform) {
  const float about = static_cast<float>(where) * 0x1p-30F - 2;
  const float above =
      static_cast<float>(uniform) * 0x1p-32F - about_exp_minus(about * about * 0.5F);
  if (above < -kUnsure) return true;
  if (above > kUnsure) return false;
  const double x = position(where);
  return uniform * 0x1p-32 < exp_minus(x * x / 2);
}

}  // namespace

// Draws with word 0 = element and word 1 = attempt until one is kept; each call holds two draws.
float truncated_normal_of(std::uint32_t element, float stddev, const InitialDraw& draw) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    const auto words =
        philox({element, attempt, draw.tensor, static_cast<std::uint32_t>(Stream::initializer)},
               draw.seed);
    for (std::size_t i = 0; i < words.size(); i += 2) {
      if (!keeps(words[i], words[i + 1])) continue;
      return static_cast<float>(position(words[i]) * double{stddev});
    }
  }
}

// As above under an envelope of -6 to 6, which keeps 21 %.
void normal(std::span<float> out, float stddev, const InitialDraw& draw) {
  const auto place = [](std::uint32_t word) { return (word + 0.5) * 0x3p-30 - 6; };
  const auto density = [](double x) {  // exp(-x^2 / 2)
    double root = exp_minus(x * x / 32);
    for (int i = 0; i < 4; ++i) root *= root;
    return root;
  };
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint32_t element = draw.first + static_cast<std::uint32_t>(i);
    bool kept = false;
    for (std::uint32_t attempt = 0; !kept; ++attempt) {
      const auto words =
          philox({element, attempt, draw.tensor, static_cast<std::uint32_t>(Stream::initializer)},
                 draw.seed);
      for (std::size_t pair = 0; pair < words.size() && !kept; pair += 2) {
        const double x = place(words[pair]);
        kept = words[pair + 1] * 0x1p-32 < density(x);
        if (kept) out[i] = static_cast<float>(x * double{stddev});
      }
    }
  }
}

namespace {

void truncated_normal_scalar(float* out, std::size_t count, float stddev, const InitialDraw& draw) {
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = truncated_normal_of(draw.first + static_cast<std::uint32_t>(i), stddev, draw);
  }
}

void uniform_scalar(float* out, std::size_t count, float limit, const InitialDraw& draw) {
  std::array<std::uint32_t, kUniformShares> words{};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t element = draw.first + static_cast<std::uint32_t>(i);
    const std::uint32_t share = element % kUniformShares;
    if (i == 0 || share == 0) {
      words = philox({element / kUniformShares, 0, draw.tensor,
                      static_cast<std::uint32_t>(Stream::initializer)},
                     draw.seed);
    }
    out[i] = static_cast<float>(position(words[share]) / 2 * double{limit});
  }
}

}  // namespace

void uniform(std::span<float> out, float limit, const InitialDraw& draw, Isa isa) {
  const std::size_t begun = -std::size_t{draw.first} % kUniformShares;  // of a draw before
  const std::size_t head = std::min(begun, out.size());
  uniform_scalar(out.data(), head, limit, draw);
  const std::span<float> rest = out.subspan(head);
  twin(isa, uniform_scalar, uniform_avx2, uniform_avx512)(
      rest.data(), rest.size(), limit,
      {draw.seed, draw.tensor, draw.first + static_cast<std::uint32_t>(head)});
}

void truncated_normal(std::span<float> out, float stddev, const InitialDraw& draw, Isa isa) {
  twin(isa, truncated_normal_scalar, truncated_normal_avx2, truncated_normal_avx512)(
      out.data(), out.size(), stddev, draw);
}

}  // namespace sterna::kernels
