// Schlag's net: its table, how it starts, and its gradients by finite differences of its own loss.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/nets/net_fixture.h"

namespace sterna::nets {
namespace {

using testing::ElementsAre;

TEST(Schlag, HasTheTableOfTheTutorial) {
  const auto net = make_net({.name = "schlag", .batch = 1}).value();
  std::vector<std::string> names;
  std::size_t total = 0;
  for (const ParameterSpec& spec : net->parameters()) {
    names.push_back(spec.name);
    total += spec.count();
  }
  EXPECT_THAT(names, ElementsAre("fc1/weights", "fc1/biases", "logits/weights", "logits/biases"));
  EXPECT_EQ(total, 79'510U);
}

TEST(Schlag, StartsFromAWholeNormalAndZeros) {
  const auto net = make_net({.name = "schlag", .batch = 1}).value();
  std::vector<float> weights(net->parameters()[0].count());
  initialize(weights, net->parameters()[0], {.seed = 4, .tensor = 0});
  double squares = 0;
  for (const float w : weights) squares += double{w} * w;
  EXPECT_NEAR(squares / static_cast<double>(weights.size()), 1, 0.02);
  EXPECT_GT(*std::ranges::max_element(weights), 3.5F);
  std::vector<float> biases(100, 1.0F);
  initialize(biases, net->parameters()[1], {.seed = 4, .tensor = 1});
  EXPECT_EQ(biases, std::vector<float>(100));
}

/// Softmax cross-entropy behind 100 sigmoids, in double precision.
double loss_of(const std::vector<reference::Values>& p, const Batch& batch) {
  double loss = 0;
  const std::size_t count = batch.labels.size();
  for (std::size_t n = 0; n < count; ++n) {
    std::vector<double> hidden(100);
    for (std::size_t h = 0; h < 100; ++h) {
      double sum = p[1][h];
      for (std::size_t i = 0; i < 784; ++i) sum += p[0][h * 784 + i] * batch.images[n * 784 + i];
      hidden[h] = 1 / (1 + std::exp(-sum));
    }
    std::vector<double> z(10);
    double total = 0;
    for (std::size_t k = 0; k < 10; ++k) {
      z[k] = p[3][k];
      for (std::size_t h = 0; h < 100; ++h) z[k] += p[2][k * 100 + h] * hidden[h];
      total += std::exp(z[k]);
    }
    loss += std::log(total) - z[batch.labels[n]];
  }
  return loss / static_cast<double>(count);
}

TEST(Schlag, HasTheGradientsOfFiniteDifferences) {
  const auto net = initialized({.name = "schlag", .batch = 2});
  for (float& w : net->parameter(0)) w *= 0.1F;  // else most sigmoids are flat
  net->parameters_changed(0);
  expect_finite_differences(
      *net,
      [](const auto& parameters, const auto&, std::span<const std::uint16_t>,
         std::vector<reference::Values>*) { return loss_of(parameters, Batch(2)); },
      Batch(2));
}

}  // namespace
}  // namespace sterna::nets
