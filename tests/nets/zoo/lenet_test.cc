// LeNet as a whole, against the double-precision reference and its own promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/nets/net_fixture.h"

namespace sterna::nets {
namespace {

using testing::ElementsAre;

std::unique_ptr<Net> lenet(std::size_t batch, float weight_decay = 0, int threads = 1) {
  return initialized({.name = "lenet",
                      .batch = batch,
                      .weight_decay = weight_decay,
                      .backend = {.threads = threads}});
}

TEST(Lenet, HasTheParametersOfTheOriginal) {
  const auto net = make_net({.name = "lenet", .batch = 1}).value();
  const auto& specs = net->parameters();
  ASSERT_EQ(specs.size(), 8U);
  std::vector<std::string> names;
  std::size_t total = 0;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const ParameterSpec& spec = specs[i];
    names.push_back(spec.name);
    total += spec.count();
    EXPECT_EQ(net->parameter(i).size(), spec.count());
    EXPECT_EQ(spec.role, i % 2 == 0 ? Role::weight : Role::bias);
    EXPECT_EQ(spec.decay, spec.role == Role::weight) << "logits' weights too";
    EXPECT_EQ(spec.constant, 0.0F);
  }
  EXPECT_EQ(total, 1'256'080U);
  EXPECT_THAT(names, ElementsAre("conv1/weights", "conv1/biases", "conv2/weights", "conv2/biases",
                                 "fc3/weights", "fc3/biases", "logits/weights", "logits/biases"));
  EXPECT_THAT(specs[0].shape, ElementsAre(20, 1, 5, 5));
  EXPECT_THAT(specs[2].shape, ElementsAre(50, 20, 5, 5));
  EXPECT_THAT(specs[4].shape, ElementsAre(500, 2450));
  EXPECT_THAT(specs[6].shape, ElementsAre(10, 500));
  EXPECT_EQ(specs[0].stddev, 0.05F);
  EXPECT_EQ(specs[2].stddev, 0.05F);
  EXPECT_EQ(specs[4].stddev, 0.048F);
  EXPECT_EQ(specs[6].stddev, 0.0767F);
  EXPECT_THAT(net->input_shape(), ElementsAre(1, 28, 28));
  EXPECT_EQ(net->classes(), 10U);
}

TEST(Lenet, HasTheGradientsOfTheReference) {
  expect_reference_gradients(*lenet(3), reference::lenet, Batch(3), 0);
}
TEST(Lenet, AddsWeightDecayToTheWeightsGradientsAndToTheLoss) {
  expect_reference_gradients(*lenet(2, 0.01F), reference::lenet, Batch(2), 0.01F);
}
TEST(Lenet, HasTheGradientsOfFiniteDifferences) {
  expect_finite_differences(*lenet(1), reference::lenet, Batch(1));
}
TEST(Lenet, LearnsPatternsInAFewSteps) { expect_to_learn_patterns(*lenet(32, 5e-4F), 40); }

TEST(Lenet, HandsOutGradientsLastLayerFirst) {
  const auto net = lenet(2);
  const Batch batch(2);
  Recorder recorder;
  ASSERT_TRUE(net->train_step(batch.images, batch.labels, recorder).ok());
  EXPECT_THAT(recorder.order, ElementsAre(6, 7, 4, 5, 2, 3, 0, 1));
}

}  // namespace
}  // namespace sterna::nets
