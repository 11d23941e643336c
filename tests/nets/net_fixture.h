// What the tests of whole nets share: images to learn, a sink that remembers, and the checks that
// every net must pass against its double-precision reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "nets/net.h"
#include "tests/nets/random_values.h"
#include "tests/nets/reference.h"

namespace sterna::nets {

using Gradients = std::vector<std::vector<float>>;

/// Keeps a copy of each gradient, and the order in which they came.
class Recorder final : public GradientSink {
 public:
  void gradient(std::size_t index, const Gradient& gradient) override {
    order.push_back(index);
    if (gradients.size() <= index) gradients.resize(index + 1);
    gradients[index].assign(gradient.values.begin(), gradient.values.end());
  }
  std::vector<std::size_t> order;
  Gradients gradients;
};

/// The cosine between all gradients of two steps.
inline double cosine(const Gradients& a, const Gradients& b) {
  double both = 0, squares_a = 0, squares_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[i].size(); ++j) {
      both += double{a[i][j]} * double{b[i][j]};
      squares_a += double{a[i][j]} * double{a[i][j]};
      squares_b += double{b[i][j]} * double{b[i][j]};
    }
  }
  return both / std::sqrt(squares_a * squares_b);
}

/// A net with initial parameters, and biases that differ.
inline std::unique_ptr<Net> initialized(const NetOptions& options) {
  auto made = make_net(options);
  if (!made) throw std::runtime_error(made.error().message);
  auto net = std::move(made).value();
  for (std::uint32_t i = 0; i < net->parameters().size(); ++i) {
    initialize(net->parameter(i), net->parameters()[i], {123, i});
    // A layer whose biases are all zero would hide a bias that is read wrongly.
    if (net->parameters()[i].role == Role::bias)
      for (std::size_t j = 0; j < net->parameter(i).size(); ++j)
        net->parameter(i)[j] = 0.01F * static_cast<float>(j % 7);
    net->parameters_changed(i);
  }
  return net;
}

/// Images of noise around one of ten patterns, which is the label.
struct Batch {
  explicit Batch(std::size_t count, std::uint64_t seed = 7) {
    SeededRandom noise(seed);
    for (std::size_t i = 0; i < count; ++i) {
      labels.push_back(static_cast<std::uint16_t>(noise.below(10)));
      SeededRandom pattern(1000 + labels.back());
      const auto shape = random_values(784, 1, pattern), rest = random_values(784, 0.3, noise);
      for (std::size_t p = 0; p < 784; ++p)
        images.push_back(static_cast<float>(shape[p] + rest[p]));
    }
  }
  std::vector<float> images;
  std::vector<std::uint16_t> labels;
};

/// A net's loss without decay, and its gradients in the order of the parameter table where wanted.
using ReferenceNet = std::function<double(
    const std::vector<reference::Values>& parameters, const reference::Values& images,
    std::span<const std::uint16_t> labels, std::vector<reference::Values>* gradients)>;

/// Gradients and loss against the reference's.
inline void expect_reference_gradients(Net& net, const ReferenceNet& reference, const Batch& batch,
                                       float decay) {
  std::vector<reference::Values> parameters, expected;
  for (std::size_t i = 0; i < net.parameters().size(); ++i)
    parameters.emplace_back(net.parameter(i).begin(), net.parameter(i).end());
  const reference::Values images(batch.images.begin(), batch.images.end());
  const double loss = reference(parameters, images, batch.labels, &expected);
  double regularization = 0;
  for (std::size_t i = 0; i < parameters.size(); i += 2)
    for (std::size_t j = 0; j < parameters[i].size(); ++j) {
      regularization += 0.5 * decay * parameters[i][j] * parameters[i][j];
      expected[i][j] += decay * parameters[i][j];
    }

  Recorder recorder;
  const auto result = net.train_step(batch.images, batch.labels, recorder);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_NEAR(result->cross_entropy, loss, 1e-5);
  EXPECT_NEAR(result->regularization, regularization, 1e-5 * regularization);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double error = 0, size = 0;
    for (std::size_t j = 0; j < expected[i].size(); ++j) {
      error = std::max(error, std::abs(expected[i][j] - recorder.gradients[i][j]));
      size = std::max(size, std::abs(expected[i][j]));
    }
    EXPECT_LT(error, 2e-5 * size) << net.parameters()[i].name;
    EXPECT_GT(size, 0) << net.parameters()[i].name;
  }
}

/// Gradients against finite differences of the reference's loss, at two places of each parameter.
inline void expect_finite_differences(Net& net, const ReferenceNet& reference, const Batch& batch) {
  std::vector<reference::Values> parameters;
  for (std::size_t i = 0; i < net.parameters().size(); ++i)
    parameters.emplace_back(net.parameter(i).begin(), net.parameter(i).end());
  const reference::Values images(batch.images.begin(), batch.images.end());
  Recorder recorder;
  ASSERT_TRUE(net.train_step(batch.images, batch.labels, recorder).ok());
  SeededRandom random(5);
  for (std::size_t i = 0; i < net.parameters().size(); ++i) {
    for (int sample = 0; sample < 2; ++sample) {
      const std::size_t j = random.below(parameters[i].size());
      const double value = parameters[i][j], h = 1e-6;
      parameters[i][j] = value + h;
      const double above = reference(parameters, images, batch.labels, nullptr);
      parameters[i][j] = value - h;
      const double below = reference(parameters, images, batch.labels, nullptr);
      parameters[i][j] = value;
      EXPECT_NEAR(recorder.gradients[i][j], (above - below) / (2 * h), 1e-6)
          << net.parameters()[i].name << " at " << j;
    }
  }
}

/// Runs plain gradient descent and returns the losses.
inline std::vector<float> descend(Net& net, const Batch& batch, int steps, float rate) {
  std::vector<float> losses;
  for (int step = 0; step < steps; ++step) {
    Recorder recorder;
    const auto loss = net.train_step(batch.images, batch.labels, recorder);
    losses.push_back(loss.value().cross_entropy);
    for (std::size_t i = 0; i < net.parameters().size(); ++i) {
      const std::span<float> values = net.parameter(i);
      for (std::size_t j = 0; j < values.size(); ++j) values[j] -= rate * recorder.gradients[i][j];
      net.parameters_changed(i);
    }
  }
  return losses;
}

/// `net` takes 32 images.
inline void expect_to_learn_patterns(Net& net, int steps) {
  const Batch batch(32);
  const auto losses = descend(net, batch, steps, 0.05F);
  EXPECT_GT(losses.front(), 1.5F);
  EXPECT_LT(losses.back(), 0.1F);

  std::vector<float> logits(320);
  const Batch fresh(32, 99);
  ASSERT_TRUE(net.infer(fresh.images, 32, logits).ok());
  int right = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    const auto* row = logits.data() + i * 10;
    right += std::max_element(row, row + 10) - row == fresh.labels[i] ? 1 : 0;
  }
  EXPECT_GE(right, 30) << "of 32 unseen images";
}

}  // namespace sterna::nets
