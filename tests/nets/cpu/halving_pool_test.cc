#include "nets/cpu/halving_pool.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <vector>

#include "nets/tensor/elementwise.h"
#include "runtime/base/random.h"

namespace sterna::nets {
namespace {

Tensor made(std::size_t size, Element element) {
  return Tensor({size}, Layout::row_major, element);
}

std::vector<std::byte> bits(const Tensor& tensor) {
  return {tensor.memory(), tensor.memory() + tensor.bytes()};
}

void expect_the_bits_of_scalar(kernels::Isa isa, Element element) {
  SeededRandom random(1);
  for (const std::size_t channels : {1U, 7U, 8U, 9U, 15U, 16U, 17U, 20U, 50U}) {
    const HalvingPool pool{.rows = 3, .columns = 2, .channels = channels};
    const std::size_t count = pool.rows * pool.columns * channels;
    // Few distinct values, so that windows have ties; and what is not finite.
    const float choices[] = {-1,
                             -0.0F,
                             0,
                             2,
                             std::numeric_limits<float>::quiet_NaN(),
                             std::numeric_limits<float>::infinity()};
    std::vector<float> values(4 * count);
    for (float& value : values) value = choices[random.below(6)];
    Tensor x = made(4 * count, element), dx = made(4 * count, element),
           dx_fast = made(4 * count, element);
    Tensor y = made(count, element), y_fast = made(count, element);
    write(values, x, 0);
    std::vector<std::uint8_t> winner(count), winner_fast(count);
    halving_pool_forward(pool, kernels::Isa::scalar, Team(1), x, y, winner.data());
    halving_pool_forward(pool, isa, Team(1), x, y_fast, winner_fast.data());
    EXPECT_EQ(winner, winner_fast);
    EXPECT_EQ(bits(y), bits(y_fast));
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 255 + 1);
    write(std::span(values).first(count), y, 0);
    halving_pool_backward(pool, kernels::Isa::scalar, Team(1), y, winner.data(), dx);
    halving_pool_backward(pool, isa, Team(1), y, winner.data(), dx_fast);
    EXPECT_EQ(bits(dx), bits(dx_fast));
    EXPECT_NE(bits(dx), bits(made(4 * count, element)));
  }
}

TEST(HalvingPool, HasTheSameBitsInEveryInstructionSet) {
  if (kernels::best_isa() == kernels::Isa::scalar) GTEST_SKIP() << "no AVX2 here";
  for (const kernels::Isa isa : {kernels::Isa::avx2, kernels::Isa::avx512}) {
    if (isa > kernels::best_isa()) continue;
    SCOPED_TRACE(kernels::name(isa));
    expect_the_bits_of_scalar(isa, Element::fp32);
    expect_the_bits_of_scalar(isa, Element::bf16);
  }
}

}  // namespace
}  // namespace sterna::nets
