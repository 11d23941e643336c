#include "nets/backend/eltwise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/sums/bf16.h"
#include "tests/nets/bf16_fixture.h"
#include "tests/nets/finite_differences.h"

namespace sterna::nets {
namespace {

TEST(Relu, AgreesWithFiniteDifferences) {
  SeededRandom random(4);
  const Values x = random_values(77, 1, random), dy = random_values(77, 1, random);
  const auto engine = backend();
  const auto operation = engine->eltwise({.count = 77});
  Tensor y_ = tensor({77}, Layout::row_major, x), dx_ = tensor({77}, Layout::row_major, dy);
  operation->forward(y_);
  operation->backward(y_, dx_);
  expect_near(reference::relu(x), row_major(y_), "y");
  expect_near(finite_differences(reference::relu, x, dy), row_major(dx_), "dx");
  expect_near(reference::relu_backward(x, dy), row_major(dx_), "reference dx");
}

TEST(Relu, PassesNoGradientAtZero) {
  const auto engine = backend();
  Tensor y({3}), dx = tensor({3}, Layout::row_major, Values{1, 1, 1});
  engine->eltwise({.count = 3})->backward(y, dx);
  EXPECT_EQ(row_major(dx), (Values{0, 0, 0}));
}

TEST(Relu, LeavesWhatIsNoNumber) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto engine = backend();
  Tensor y = tensor({37}, Layout::row_major, Values(37, kNan));
  engine->eltwise({.count = 37})->forward(y);
  for (const double value : row_major(y)) EXPECT_TRUE(std::isnan(value));
}

class ReluInBf16 : public Bf16Test {};

TEST_F(ReluInBf16, IsRightOfEachBf16) {
  constexpr std::size_t kAll = 1U << 16U;
  const std::size_t count = kAll + 5;  // no multiple of what is done at once
  const auto engine = backend(1, Element::bf16);
  const auto operation = engine->eltwise({.count = count, .element = Element::bf16});
  Tensor y({count}, Layout::row_major, Element::bf16),
      dy({count}, Layout::row_major, Element::bf16);
  for (std::size_t i = 0; i < count; ++i) {
    y.bf16()[i] = static_cast<std::uint16_t>(i);
    dy.bf16()[i] = 0x4040;
  }
  operation->forward(y);
  for (std::size_t i = 0; i < count; ++i) {
    const float x = kernels::from_bf16(static_cast<std::uint16_t>(i));
    if (std::isnan(x)) {
      ASSERT_EQ(y.bf16()[i], i) << "a NaN";
    } else {
      ASSERT_EQ(kernels::from_bf16(y.bf16()[i]), std::max(x, 0.0F)) << i;
    }
    if (std::isnan(x)) y.bf16()[i] = 0;  // whose loss is lost anyway
  }
  operation->backward(y, dy);
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(dy.bf16()[i], kernels::from_bf16(y.bf16()[i]) > 0 ? 0x4040 : 0) << i;
}

}  // namespace
}  // namespace sterna::nets
