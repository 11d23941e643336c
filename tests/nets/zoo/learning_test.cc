// What every net of the zoo promises, with few channels and the smallest images that it takes.
#include <gtest/gtest.h>

#include "nets/zoo/zoo.h"
#include "tests/nets/bf16_fixture.h"
#include "tests/nets/net_fixture.h"

namespace sterna::nets {
namespace {

constexpr std::size_t kClasses = 3;

/// An eighth of resnet_20's channels would be two, which a dead ReLU or two leave without a way.
NetOptions small(std::string_view name, std::size_t batch, float keep) {
  const std::size_t size = find_net(name)->smallest;
  return {.name = std::string(name),
          .images = {.rows = size, .columns = size, .channels = 3, .classes = kClasses},
          .batch = batch,
          .keep = keep,
          .label_smoothing = 0,
          .divisor = name == "resnet_20" ? 2U : 8U};
}

bool has_batch_norm(const Net& net) { return net.trained() < net.parameters().size(); }

/// A net without batch norm starts by He's rule: the originals' deviations suit the originals'
/// widths, and let nothing through at an eighth of them.
std::unique_ptr<Net> started(const NetOptions& options) {
  auto net = make_net(options).value();
  const bool normed = has_batch_norm(*net);
  for (std::uint32_t i = 0; i < net->parameters().size(); ++i) {
    ParameterSpec spec = net->parameters()[i];
    if (spec.role == Role::weight && !normed) {
      spec.stddev = 0;
      spec.limit =
          std::sqrt(6.0F * static_cast<float>(spec.shape[0]) / static_cast<float>(spec.count()));
    }
    initialize(net->parameter(i), spec, {123, i});
    net->parameters_changed(i);
  }
  return net;
}

/// Images of noise around one colour for each class.
struct Colours {
  Colours(const Net& net, std::uint64_t seed) {
    SeededRandom random(seed);
    const std::vector<std::size_t> shape = net.input_shape();
    for (std::size_t n = 0; n < net.batch(); ++n) {
      labels.push_back(static_cast<std::uint16_t>(n % kClasses));
      for (const double noise : random_values(element_count(shape), 0.3, random)) {
        const bool own = images.size() % shape[0] == labels.back();
        images.push_back(static_cast<float>((own ? 1.0 : -0.5) + noise));
      }
    }
  }
  std::vector<float> images;
  std::vector<std::uint16_t> labels;
};

class ZooInBf16 : public Bf16Test {};

void expect_the_same_gradients_twice(Element precision) {
  for (const std::string_view name : net_names()) {
    NetOptions options = small(name, 2, 0.5F);
    options.backend.precision = precision;
    const auto net = started(options);
    const Colours batch(*net, 1);
    Recorder first, second;
    const auto loss = net->train_step(batch.images, batch.labels, first);
    ASSERT_TRUE(loss.ok()) << name << ": " << loss.error().message;
    EXPECT_TRUE(std::isfinite(loss->cross_entropy)) << name;
    ASSERT_TRUE(net->train_step(batch.images, batch.labels, second).ok());
    EXPECT_EQ(first.order.size(), net->parameters().size()) << name;
    EXPECT_EQ(first.order, second.order) << name;
    for (std::size_t i = 0; i < first.gradients.size(); ++i) {
      EXPECT_EQ(first.gradients[i], second.gradients[i]) << name << net->parameters()[i].name;
      EXPECT_TRUE(std::ranges::all_of(first.gradients[i], [](float g) { return std::isfinite(g); }))
          << name << net->parameters()[i].name;
    }
  }
}

TEST(Zoo, EachNetGivesTheSameGradientsTwice) { expect_the_same_gradients_twice(Element::fp32); }

TEST_F(ZooInBf16, EachNetGivesTheSameGradientsTwice) {
  expect_the_same_gradients_twice(Element::bf16);
}

/// The least loss of so many steps of gradient descent with momentum over the first one's.
float descended(Net& net, const Colours& batch, int steps, float rate) {
  Gradients velocity(net.trained());
  float first = 0, least = 0;
  for (int step = 0; step < steps; ++step) {
    Recorder recorder;
    const float loss = net.train_step(batch.images, batch.labels, recorder).value().cross_entropy;
    if (step == 0) first = least = loss;
    least = std::min(least, loss);
    if (least < 0.1F * first) break;
    for (std::size_t i = 0; i < net.trained(); ++i) {
      const std::span<float> values = net.parameter(i);
      velocity[i].resize(values.size());
      for (std::size_t j = 0; j < values.size(); ++j) {
        velocity[i][j] = 0.9F * velocity[i][j] + recorder.gradients[i][j];
        values[j] -= rate * velocity[i][j];
      }
      net.parameters_changed(i);
    }
  }
  return least / first;
}

// Of a deep net with batch norm no bound says much: where nothing is trained yet, weights that are
// rounded to bf16 turn its gradient in fp32 by as much as all of bf16 does (inception_v3: cosine
// 0.3).
TEST_F(ZooInBf16, LossAndGradientsAreNearThoseInFp32) {
  for (const std::string_view name : net_names()) {
    NetOptions options = small(name, 8, 0.5F);
    const auto exact = started(options);
    options.backend.precision = Element::bf16;
    const auto net = started(options);
    EXPECT_LT(net->activation_memory().bytes, 0.6 * exact->activation_memory().bytes) << name;
    const Colours batch(*net, 1);
    Recorder in_bf16, in_fp32;
    const auto loss = net->train_step(batch.images, batch.labels, in_bf16);
    ASSERT_TRUE(loss.ok()) << name << ": " << loss.error().message;
    const auto expected = exact->train_step(batch.images, batch.labels, in_fp32);
    if (has_batch_norm(*net)) continue;
    EXPECT_NEAR(loss->cross_entropy, expected->cross_entropy, 0.02 * expected->cross_entropy)
        << name;
    EXPECT_GT(cosine(in_bf16.gradients, in_fp32.gradients), 0.99) << name;
  }
}

// At rates between those at which the slowest is too slow and the least stable too fast.
void expect_to_learn_by_heart(Element precision) {
  for (const std::string_view name : net_names()) {
    NetOptions options = small(name, 32, 1);
    options.backend.precision = precision;
    const auto net = started(options);
    const Colours batch(*net, 2);
    const float least = has_batch_norm(*net) ? descended(*net, batch, 100, 0.025F)
                                             : descended(*net, batch, 400, 0.0075F);
    EXPECT_LT(least, 0.1F) << name;
  }
}

TEST(Zoo, EachNetLearnsAFewImagesByHeart) { expect_to_learn_by_heart(Element::fp32); }

TEST_F(ZooInBf16, EachNetLearnsAFewImagesByHeart) { expect_to_learn_by_heart(Element::bf16); }

}  // namespace
}  // namespace sterna::nets
