#include "nets/onednn/halving_pool.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <vector>

#include "runtime/base/random.h"

namespace sterna::nets {
namespace {

TEST(HalvingPool, HasTheSameBitsInEveryInstructionSet) {
  if (kernels::best_isa() != kernels::Isa::avx512) GTEST_SKIP() << "no AVX-512 here";
  SeededRandom random(1);
  for (const std::size_t channels : {1U, 15U, 16U, 17U, 50U}) {
    const HalvingPool pool{.rows = 3, .columns = 2, .channels = channels};
    const std::size_t count = pool.rows * pool.columns * channels;
    // Few distinct values, so that windows have ties; and what is not finite.
    const float choices[] = {-1,
                             -0.0F,
                             0,
                             2,
                             std::numeric_limits<float>::quiet_NaN(),
                             std::numeric_limits<float>::infinity()};
    std::vector<float> x(4 * count), y(count), y_fast(count), dx(4 * count), dx_fast(4 * count);
    std::vector<std::uint8_t> winner(count), winner_fast(count);
    for (float& value : x) value = choices[random.below(6)];
    halving_pool_forward(pool, kernels::Isa::scalar, x.data(), y.data(), winner.data());
    halving_pool_forward(pool, kernels::Isa::avx512, x.data(), y_fast.data(), winner_fast.data());
    EXPECT_EQ(winner, winner_fast);
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_EQ(std::bit_cast<std::uint32_t>(y[i]), std::bit_cast<std::uint32_t>(y_fast[i]));
    for (std::size_t i = 0; i < count; ++i) y[i] = static_cast<float>(i + 1);
    halving_pool_backward(pool, kernels::Isa::scalar, y.data(), winner.data(), dx.data());
    halving_pool_backward(pool, kernels::Isa::avx512, y.data(), winner.data(), dx_fast.data());
    EXPECT_EQ(dx, dx_fast);
  }
}

}  // namespace
}  // namespace sterna::nets
