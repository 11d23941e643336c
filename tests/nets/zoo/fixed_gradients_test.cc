// The net that only moves gradients: its tensors, and that a step leaves them as they are.
#include "nets/zoo/fixed_gradients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "tests/nets/net_fixture.h"

namespace sterna::nets {
namespace {

using testing::ElementsAre;

std::unique_ptr<Net> fixed_gradients(std::vector<std::uint32_t> sizes) {
  return initialized({.name = kFixedGradientsName, .hidden = std::move(sizes), .batch = 2});
}

TEST(FixedGradients, HasTheTensorsItWasAskedForBesideItsLogits) {
  const auto net = fixed_gradients({3, 64});
  std::vector<std::string> names;
  for (const ParameterSpec& spec : net->parameters()) names.push_back(spec.name);
  EXPECT_THAT(names, ElementsAre("logits/weights", "logits/biases", "fixed0", "fixed1"));
  EXPECT_THAT(net->parameters()[2].shape, ElementsAre(3 * 1024));
  EXPECT_THAT(net->parameters()[3].shape, ElementsAre(64 * 1024));
  EXPECT_FALSE(net->parameters()[3].decay);
}

TEST(FixedGradients, HandsOutItsGradientsLastTensorFirst) {
  const auto net = fixed_gradients({1, 1});
  const Batch batch(2);
  Recorder recorder;
  ASSERT_TRUE(net->train_step(batch.images, batch.labels, recorder).ok());
  EXPECT_THAT(recorder.order, ElementsAre(3, 2, 0, 1));
}

TEST(FixedGradients, KeepsEachGradientWhateverItsParametersBecome) {
  const auto net = fixed_gradients({1, 64});
  const Batch batch(2);
  Recorder first;
  ASSERT_TRUE(net->train_step(batch.images, batch.labels, first).ok());
  for (const std::uint32_t tensor : {2U, 3U}) {
    for (float& value : net->parameter(tensor)) value += 1;
    net->parameters_changed(tensor);
  }
  Recorder second;
  ASSERT_TRUE(net->train_step(batch.images, batch.labels, second).ok());
  EXPECT_EQ(first.gradients[2], second.gradients[2]);
  EXPECT_EQ(first.gradients[3], second.gradients[3]);
}

TEST(FixedGradients, DrawsGradientsThatAreNormalAndDiffer) {
  const auto net = fixed_gradients({1, 64});
  const Batch batch(2);
  Recorder recorder;
  ASSERT_TRUE(net->train_step(batch.images, batch.labels, recorder).ok());
  double squares = 0;
  for (const float value : recorder.gradients[3]) squares += double{value} * value;
  const double deviation = std::sqrt(squares / 65536);
  EXPECT_NEAR(deviation, 0.88e-3, 0.02e-3) << "truncated at two of 1e-3";
  EXPECT_NE(recorder.gradients[2][0], recorder.gradients[3][0]);
}

TEST(FixedGradients, TakesTimeWhereItIsPaced) {
  const auto net = initialized({.name = kPacedFixedGradientsName, .hidden = {1, 1}, .batch = 2});
  const Batch batch(2);
  Recorder recorder;
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(net->train_step(batch.images, batch.labels, recorder).ok());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, kPacedForward + kPacedBackward);
}

}  // namespace
}  // namespace sterna::nets
