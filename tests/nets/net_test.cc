// LeNet as a whole, against the double-precision reference and its own promises.
#include "nets/net.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "net_fixture.h"
#include "reference.h"

namespace sterna::nets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<Net> lenet(std::size_t batch, float weight_decay = 0, int threads = 1) {
  return initialized(
      {.name = "lenet", .batch = batch, .weight_decay = weight_decay, .threads = threads});
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

TEST(Net, HandsOutGradientsWhereTheyLieAndKeepsThemUntilTheNextPass) {
  struct Views final : GradientSink {
    void gradient(std::size_t index, std::span<const float> values) override {
      views[index] = values;
      copies[index].assign(values.begin(), values.end());
    }
    std::span<const float> views[8];
    std::vector<float> copies[8];
  } sink;
  const auto net = lenet(2, 0.01F);
  const Batch batch(2);
  ASSERT_TRUE(net->train_step(batch.images, batch.labels, sink).ok());
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_TRUE(std::equal(sink.views[i].begin(), sink.views[i].end(), sink.copies[i].begin()));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(sink.views[i].data()) % 64, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(net->parameter(i).data()) % 64, 0U);
  }
}

TEST(Net, GivesTheSameBitsTwice) {
  for (const int threads : {1, 2}) {
    const auto one = lenet(8, 0.01F, threads);
    // The second net lies elsewhere in memory.
    const std::vector<std::unique_ptr<char[]>> holes = [] {
      std::vector<std::unique_ptr<char[]>> made;
      for (std::size_t i = 1; i < 40; ++i) made.push_back(std::make_unique<char[]>(i * 1000 + 24));
      return made;
    }();
    const auto other = lenet(8, 0.01F, threads);
    const Batch batch(8);
    EXPECT_EQ(descend(*one, batch, 3, 0.05F), descend(*other, batch, 3, 0.05F));
    for (std::size_t i = 0; i < 8; ++i)
      EXPECT_EQ(std::memcmp(one->parameter(i).data(), other->parameter(i).data(),
                            one->parameter(i).size_bytes()),
                0)
          << one->parameters()[i].name << " on " << threads << " threads";
  }
}

TEST(Net, GivesTheSameBitsInAThreadThatDidNotMakeItAndBesideOthers) {
  const auto alone = lenet(4);
  const Batch batch(4);
  const auto expected = descend(*alone, batch, 3, 0.05F);
  const auto first = lenet(4), second = lenet(4);
  std::vector<float> a, b;
  std::thread one([&] { a = descend(*first, batch, 3, 0.05F); });
  std::thread two([&] { b = descend(*second, batch, 3, 0.05F); });
  one.join();
  two.join();
  EXPECT_EQ(a, expected);
  EXPECT_EQ(b, expected);
}

TEST(Net, ReadsParametersThatChanged) {
  const auto net = lenet(1);
  const Batch batch(1);
  std::vector<float> before(10), after(10);
  for (const std::size_t index : {0U, 1U, 2U, 4U, 7U}) {
    ASSERT_TRUE(net->infer(batch.images, 1, before).ok());
    for (float& value : net->parameter(index)) value += 0.1F;
    net->parameters_changed(index);
    ASSERT_TRUE(net->infer(batch.images, 1, after).ok());
    EXPECT_NE(before, after) << net->parameters()[index].name;
  }
}

TEST(Net, InfersASmallerBatchLikeAFullOne) {
  const auto net = lenet(6);
  const Batch batch(6);
  std::vector<float> full(60), part(20);
  ASSERT_TRUE(net->infer(batch.images, 6, full).ok());
  ASSERT_TRUE(net->infer(std::span(batch.images).first(1568), 2, part).ok());
  full.resize(20);
  EXPECT_EQ(part, full);
  ASSERT_TRUE(net->infer({}, 0, {}).ok());
}

TEST(Net, RefusesBatchesThatDoNotFit) {
  const auto net = lenet(2);
  const Batch batch(3);
  const std::span images(batch.images);
  const std::span labels(batch.labels);
  Recorder recorder;
  std::vector<float> logits(30);
  EXPECT_EQ(net->train_step(images, labels, recorder).error().code, Errc::invalid_argument);
  EXPECT_EQ(net->train_step(images.first(1568), labels.first(1), recorder).error().code,
            Errc::invalid_argument);
  EXPECT_EQ(net->infer(images, 3, logits).error().code, Errc::invalid_argument);
  EXPECT_EQ(net->infer(images.first(784), 1, logits).error().code, Errc::invalid_argument);
  EXPECT_TRUE(recorder.order.empty());
}

TEST(Net, RefusesALabelThatIsNoClass) {
  const auto net = lenet(2);
  Batch batch(2);
  batch.labels[1] = 10;
  Recorder recorder;
  const auto result = net->train_step(batch.images, batch.labels, recorder);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Errc::invalid_argument);
  EXPECT_THAT(result.error().message, HasSubstr("label 10 of image 1"));
  EXPECT_TRUE(recorder.order.empty());
}

TEST(Net, ReturnsALossThatIsNotANumberAsItIs) {
  const auto net = lenet(1);
  Batch batch(1);
  net->parameter(7)[3] = std::numeric_limits<float>::quiet_NaN();
  net->parameters_changed(7);
  Recorder recorder;
  const auto result = net->train_step(batch.images, batch.labels, recorder);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(std::isnan(result->cross_entropy));
}

TEST(MakeNet, NamesTheNetsThereAre) {
  const auto made = make_net({.name = "lennet", .batch = 1});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Errc::invalid_argument);
  EXPECT_THAT(made.error().message, HasSubstr("lenet"));
}

TEST(MakeNet, RefusesWhatMakesNoSense) {
  EXPECT_FALSE(make_net({.name = "lenet", .batch = 0}).ok());
  EXPECT_FALSE(make_net({.name = "lenet", .batch = 1, .weight_decay = -1}).ok());
  EXPECT_FALSE(make_net({.name = "lenet", .batch = 1, .weight_decay = NAN}).ok());
  EXPECT_FALSE(make_net({.name = "lenet", .batch = 1, .threads = 0}).ok());
}

TEST(Initialize, DependsOnSeedAndIndexOnly) {
  const ParameterSpec spec{.name = "w", .shape = {40, 50}, .stddev = 0.05F};
  std::vector<float> a(2000), b(2000), c(2000), d(2000);
  initialize(a, spec, 1, 0);
  initialize(b, spec, 1, 0);
  initialize(c, spec, 2, 0);
  initialize(d, spec, 1, 4);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_NE(a, d);
  for (const float value : a) EXPECT_LE(std::abs(value), 0.1F);
  initialize(a, {.name = "b", .shape = {2000}, .constant = 0.1F}, 1, 1);
  EXPECT_EQ(a, std::vector<float>(2000, 0.1F));
}

}  // namespace
}  // namespace sterna::nets
