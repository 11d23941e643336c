// A batch in several passes: the gradients, the loss and the statistics of one in a single pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "nets/describe_net.h"
#include "tests/nets/net_fixture.h"

namespace sterna::nets {
namespace {

using testing::HasSubstr;

/// Of images of noise.
struct Noise {
  Noise(const Net& net, std::uint64_t seed) {
    SeededRandom random(seed);
    const auto values = random_values(net.batch() * element_count(net.input_shape()), 1, random);
    images.assign(values.begin(), values.end());
    for (std::size_t i = 0; i < net.batch(); ++i) {
      labels.push_back(static_cast<std::uint16_t>(random.below(net.classes())));
    }
  }
  std::vector<float> images;
  std::vector<std::uint16_t> labels;
};

NetOptions small(const std::string& name, std::size_t size, std::size_t micro_batch) {
  return {.name = name,
          .images = {.rows = size, .columns = size, .channels = 3, .classes = 10},
          .batch = 12,
          .micro_batch = micro_batch,
          .weight_decay = 0.01F,
          .divisor = 8};
}

double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double error = 0, size = 1e-12;
  for (std::size_t i = 0; i < a.size(); ++i) {
    error = std::max(error, std::abs(double{a[i]} - double{b[i]}));
    size = std::max(size, std::abs(double{a[i]}));
  }
  return error / size;
}

struct Step {
  Net::Loss loss;
  Recorder recorder;
  std::size_t trained = 0;
};

Step second_step(const NetOptions& options) {
  const auto net = initialized(options);
  Step step;
  step.trained = net->trained();
  for (const std::uint64_t seed : {1U, 2U}) {  // nothing is left of the first
    step.recorder.order.clear();
    const Noise noise(*net, seed);
    step.loss = net->train_step(noise.images, noise.labels, step.recorder,
                                {.seed = 5, .step = static_cast<std::uint32_t>(seed)})
                    .value();
  }
  return step;
}

TEST(MicroBatch, GivesTheGradientOfTheWholeBatch) {
  // cifarnet and alexnet_v2 drop units, and must drop the same.
  for (const auto& [name, size] :
       {std::pair{"lenet", 28}, {"cifarnet", 24}, {"alexnet_v2", 67}, {"mlp", 10}}) {
    const Step whole = second_step(small(name, size, 0));
    for (const std::size_t micro : {1U, 4U, 6U}) {
      const Step parts = second_step(small(name, size, micro));
      EXPECT_NEAR(parts.loss.cross_entropy, whole.loss.cross_entropy, 1e-5) << name;
      EXPECT_EQ(parts.loss.regularization, whole.loss.regularization) << name;
      EXPECT_EQ(parts.recorder.order, whole.recorder.order) << name;
      for (std::size_t i = 0; i < whole.recorder.gradients.size(); ++i) {
        EXPECT_LT(difference(whole.recorder.gradients[i], parts.recorder.gradients[i]), 1e-5)
            << name << ", parameter " << i << ", " << micro << " at once";
      }
    }
  }
}

TEST(MicroBatch, HandsOutTheMeanOfItsStatistics) {
  const Step whole = second_step(small("resnet_20", 16, 0));
  const Step parts = second_step(small("resnet_20", 16, 6));
  // Of the first layer, which sees the same in both: the mean of means is the mean.
  const std::size_t mean = whole.trained;
  EXPECT_LT(difference(whole.recorder.gradients[mean], parts.recorder.gradients[mean]), 1e-5);
  const std::vector<float>& variance = parts.recorder.gradients[mean + 1];
  for (std::size_t i = 0; i < variance.size(); ++i) {
    EXPECT_GT(variance[i], 0);
    EXPECT_LE(variance[i], whole.recorder.gradients[mean + 1][i] * 1.00001F);
  }
}

TEST(MicroBatch, TakesBytesAsItTakesValues) {
  const auto net = initialized(small("cifarnet", 24, 4));
  std::vector<std::uint8_t> pixels(12 * 24 * 24 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 7);
  std::vector<float> levels;
  for (int image = 0; image < 12; ++image) {
    for (const float center : {0.5F, 0.4F, 0.1F * static_cast<float>(image)})
      levels.push_back(center);
    for (const float scale : {1.0F, 2.0F, 3.0F}) levels.push_back(scale);
  }
  const PixelImages images{pixels, levels};
  std::vector<float> values(pixels.size());
  to_values(images, 12, 3, values);
  const std::vector<std::uint16_t> labels(12, 3);
  Recorder from_bytes, from_values;
  ASSERT_TRUE(net->train_step(images, labels, from_bytes).ok());
  ASSERT_TRUE(net->train_step(values, labels, from_values).ok());
  EXPECT_EQ(from_bytes.gradients, from_values.gradients);
}

TEST(MicroBatch, TakesLessMemory) {
  const auto whole = describe_net(small("cifarnet", 24, 0)).value();
  const auto parts = describe_net(small("cifarnet", 24, 3)).value();
  EXPECT_LT(parts.activations.bytes * 3, whole.activations.bytes);
  EXPECT_EQ(parts.flops, whole.flops);
}

TEST(MicroBatch, MustDivideTheBatch) {
  for (const std::size_t micro : {5U, 24U}) {
    const auto made = make_net(small("lenet", 28, micro));
    ASSERT_FALSE(made.ok());
    EXPECT_THAT(made.error().message, HasSubstr("does not divide a batch of 12"));
  }
}

}  // namespace
}  // namespace sterna::nets
