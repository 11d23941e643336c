#include "nets/tensor/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/nets/random_values.h"
#include "tests/nets/reference.h"

namespace sterna::nets {
namespace {

std::vector<float> narrow(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

TEST(SoftmaxCrossEntropy, AgreesWithFiniteDifferences) {
  SeededRandom random(1);
  const std::vector<std::uint16_t> labels{0, 6, 3};
  reference::Values logits = random_values(21, 4, random);
  std::vector<float> gradient(21);
  const float loss = softmax_cross_entropy(narrow(logits), labels, 7, gradient);
  EXPECT_NEAR(loss, reference::cross_entropy(logits, labels), 1e-6);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double value = logits[i], h = 1e-5;
    logits[i] = value + h;
    const double above = reference::cross_entropy(logits, labels);
    logits[i] = value - h;
    const double below = reference::cross_entropy(logits, labels);
    logits[i] = value;
    EXPECT_NEAR(gradient[i], (above - below) / (2 * h), 1e-7) << i;
  }
}

TEST(SoftmaxCrossEntropy, DoesNotOverflow) {
  const std::vector<float> logits{1e30F, -1e30F};
  std::vector<float> gradient(2);
  EXPECT_EQ(softmax_cross_entropy(logits, std::vector<std::uint16_t>{0}, 2, gradient), 0.0F);
  EXPECT_EQ(gradient, (std::vector<float>{0, 0}));
}

TEST(SoftmaxCrossEntropy, PassesNanOn) {
  const std::vector<float> logits{std::numeric_limits<float>::quiet_NaN(), 0};
  std::vector<float> gradient(2);
  EXPECT_TRUE(
      std::isnan(softmax_cross_entropy(logits, std::vector<std::uint16_t>{1}, 2, gradient)));
}

TEST(AddDecay, AddsTheDerivativeOfItsLossTerm) {
  SeededRandom random(2);
  for (const std::size_t count : {1U, 16U, 4095U, 4097U, 10003U}) {
    const std::vector<float> w = narrow(random_values(count, 1, random));
    const std::vector<float> before = narrow(random_values(count, 1, random));
    std::vector<float> g = before;
    const double sum = add_decay(w, 0.25F, g);
    double expected = 0;
    for (std::size_t i = 0; i < count; ++i) {
      expected += static_cast<double>(w[i]) * w[i];
      ASSERT_EQ(g[i], before[i] + 0.25F * w[i]) << i;
    }
    EXPECT_NEAR(sum, expected, 1e-6 * expected);
  }
}

}  // namespace
}  // namespace sterna::nets
