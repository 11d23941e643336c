// The multilayer perceptron, against the double-precision reference and its own promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/nets/net_fixture.h"

namespace sterna::nets {
namespace {

using testing::ElementsAre;

std::unique_ptr<Net> mlp(std::size_t batch, std::vector<std::uint32_t> hidden, float decay = 0,
                         int threads = 1) {
  return initialized({.name = "mlp",
                      .hidden = std::move(hidden),
                      .batch = batch,
                      .weight_decay = decay,
                      .backend = {.threads = threads}});
}

TEST(Mlp, HasADenseLayerForEachWidthAndTheLogits) {
  const auto net = make_net({.name = "mlp", .hidden = {4096, 512}, .batch = 1}).value();
  std::vector<std::string> names;
  std::size_t total = 0;
  for (const ParameterSpec& spec : net->parameters()) {
    names.push_back(spec.name);
    total += spec.count();
    EXPECT_EQ(spec.decay, spec.role == Role::weight);
  }
  EXPECT_EQ(total, 5'318'154U);
  EXPECT_THAT(names, ElementsAre("fc1/weights", "fc1/biases", "fc2/weights", "fc2/biases",
                                 "logits/weights", "logits/biases"));
  EXPECT_THAT(net->parameters()[0].shape, ElementsAre(4096, 784));
  EXPECT_THAT(net->parameters()[2].shape, ElementsAre(512, 4096));
  EXPECT_THAT(net->parameters()[4].shape, ElementsAre(10, 512));
  EXPECT_THAT(net->input_shape(), ElementsAre(1, 28, 28));
  EXPECT_EQ(net->classes(), 10U);
}

TEST(Mlp, StartsLikeLenetsDenseLayers) {
  const auto specs = make_net({.name = "mlp", .hidden = {500}, .batch = 1}).value()->parameters();
  EXPECT_NEAR(specs[2].stddev, 0.0767, 5e-5) << "LeNet's logits, 500 to 10";
  EXPECT_EQ(specs[3].constant, 0.0F);
  const auto wide = make_net({.name = "mlp", .hidden = {800, 500}, .batch = 1}).value();
  EXPECT_NEAR(wide->parameters()[2].stddev, 0.048, 5e-5) << "LeNet's fc3, Caffe's 800 to 500";
}

TEST(Mlp, HasTheGradientsOfTheReference) {
  expect_reference_gradients(*mlp(3, {}), reference::mlp, Batch(3), 0);
  expect_reference_gradients(*mlp(3, {40}), reference::mlp, Batch(3), 0);
  expect_reference_gradients(*mlp(4, {60, 33, 20}, 0.01F), reference::mlp, Batch(4), 0.01F);
}

TEST(Mlp, HasTheGradientsOfFiniteDifferences) {
  expect_finite_differences(*mlp(1, {50, 30}), reference::mlp, Batch(1));
}

TEST(Mlp, LearnsPatternsInAFewSteps) { expect_to_learn_patterns(*mlp(32, {300, 100}, 5e-4F), 40); }

TEST(Mlp, GivesTheSameBitsTwiceAndMovesNothingBetweenFormats) {
  const auto one = mlp(8, {300, 100}, 0, 2), other = mlp(8, {300, 100}, 0, 2);
  const Batch batch(8);
  EXPECT_EQ(descend(*one, batch, 3, 0.05F), descend(*other, batch, 3, 0.05F));
  EXPECT_EQ(one->reorders(), 0U);
}

TEST(Mlp, RefusesWidthsThatMakeNoSense) {
  EXPECT_FALSE(make_net({.name = "mlp", .hidden = {300, 0}, .batch = 1}).ok());
  EXPECT_FALSE(make_net({.name = "lenet", .hidden = {300}, .batch = 1}).ok());
}

}  // namespace
}  // namespace sterna::nets
