// What every net promises, shown on LeNet.
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

#include "tests/nets/net_fixture.h"

namespace sterna::nets {
namespace {

using testing::HasSubstr;

std::unique_ptr<Net> lenet(std::size_t batch, float weight_decay = 0, int threads = 1) {
  return initialized({.name = "lenet",
                      .batch = batch,
                      .weight_decay = weight_decay,
                      .backend = {.threads = threads}});
}

TEST(Net, HandsOutGradientsWhereTheyLieAndKeepsThemUntilTheNextPass) {
  struct Views final : GradientSink {
    void gradient(std::size_t index, const Gradient& gradient) override {
      views[index] = gradient.values;
      copies[index].assign(gradient.values.begin(), gradient.values.end());
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
  ASSERT_TRUE(net->infer(std::span<const float>{}, 0, {}).ok());
}

TEST(Net, MadeForInferenceGivesTheSameBitsAndMakesNothingOfABackwardPass) {
  for (const char* name : {"lenet", "cifarnet", "resnet_20"}) {
    NetOptions options{.name = name, .images = find_net(name)->usual, .batch = 4};
    const auto trains = initialized(options);
    options.trains = false;
    const auto infers = initialized(options);
    const std::size_t pixels = element_count(trains->input_shape());
    std::vector<float> images(4 * pixels), expected(4 * trains->classes());
    for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(i % 31) / 31;
    std::vector<float> logits(expected.size());
    ASSERT_TRUE(trains->infer(images, 4, expected).ok());
    ASSERT_TRUE(infers->infer(images, 4, logits).ok());
    EXPECT_EQ(logits, expected) << name;
    // Each is one primitive, which owns what it needs: a convolution's gradient a copy of the
    // weights.
    EXPECT_LE(2 * infers->implementations().size(), trains->implementations().size()) << name;
    EXPECT_LT(infers->activation_memory().bytes, trains->activation_memory().bytes) << name;
  }
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

TEST(Net, LosesTheLossOfBrokenParametersWhereverTheyAre) {
  const auto expect_each = [](const NetOptions& options) {
    const auto net = initialized(options);
    std::vector<float> images(options.images.values(), 0.5F);
    const std::vector<std::uint16_t> labels{3};
    for (std::uint32_t i = 0; i < net->trained(); ++i) {
      const std::span<float> values = net->parameter(i);
      const std::vector<float> whole(values.begin(), values.end());
      std::ranges::fill(values, std::numeric_limits<float>::quiet_NaN());
      net->parameters_changed(i);
      Recorder recorder;
      const auto result = net->train_step(images, labels, recorder);
      ASSERT_TRUE(result.ok()) << result.error().message;
      EXPECT_TRUE(std::isnan(result->cross_entropy))
          << options.name << ", " << net->parameters()[i].name;
      std::ranges::copy(whole, values.begin());
      net->parameters_changed(i);
    }
  };
  expect_each({.name = "lenet", .batch = 1});
  expect_each({.name = "mlp", .hidden = {20, 10}, .batch = 1});
  expect_each({.name = "cifarnet", .images = {24, 24, 3, 10}, .batch = 1});
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
  EXPECT_FALSE(make_net({.name = "lenet", .batch = 1, .backend = {.threads = 0}}).ok());
}

}  // namespace
}  // namespace sterna::nets
