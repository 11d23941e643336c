// Every layer with activations of bf16, against its definition in double precision. Inputs are
// numbers that bf16 holds, so that what is left is the rounding of results.
#include <gtest/gtest.h>

#include <cmath>

#include "nets/layers/layers.h"
#include "nets/layers/loss_head.h"
#include "tests/nets/bf16_fixture.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

class Bf16Layers : public Bf16Test {};

constexpr Element kBf16 = Element::bf16;

template <class Build>
void check(const Shape& in, Build build, const Function& f) {
  expect_layer(in, in.size() == 4 ? Layout::channels_last : Layout::row_major, build, f, kBf16);
}

/// Of the values, the weights and the biases.
using Affine = std::function<Values(const Values& x, const Values& w, const Values& b)>;

/// The gradients of weights and biases are sums in fp32 of products that it holds, and never
/// rounded to bf16.
template <class Build>
void check_affine(const Shape& in, Build build, const Affine& f) {
  SeededRandom random(1);
  const auto engine = backend(1, kBf16);
  Graph graph(*engine, {.element = kBf16});
  Activation& input = graph.input(in, in.size() == 4 ? Layout::channels_last : Layout::row_major);
  Activation& x = scale(graph, input, 1);
  Activation& y = build(graph, x);
  Parameter& weights = graph.parameter(0);
  Parameter& biases = graph.parameter(1);
  const Values w = rounded_to_bf16(random_values(weights.value.size(), 1, random));
  set(weights.value, w);
  const Values b = randomize(biases.value, random);
  const Values values = randomize(input.value(), random), dy = randomize(y.gradient(), random);
  pass(graph);
  expect_near(f(values, w, b), row_major(y.value()), "y", tolerance(kBf16));
  const auto by_x = [&](const Values& v) { return f(v, w, b); };
  const auto by_w = [&](const Values& v) { return f(values, v, b); };
  const auto by_b = [&](const Values& v) { return f(values, w, v); };
  expect_near(finite_differences(by_x, values, dy), row_major(x.gradient()), "dx",
              tolerance(kBf16));
  expect_near(finite_differences(by_w, w, dy), row_major(weights.gradient), "dw");
  expect_near(finite_differences(by_b, b, dy), row_major(biases.gradient), "db");

  // Weights are rounded anew when they change, and only then.
  const Values zeros(w.size(), 0);
  set(weights.value, zeros);
  pass(graph);
  expect_near(f(values, w, b), row_major(y.value()), "unchanged y", tolerance(kBf16));
  graph.parameter_changed(0);
  pass(graph);
  expect_near(f(values, zeros, b), row_major(y.value()), "changed y", tolerance(kBf16));
}

void check_convolution(const Shape& in, std::size_t outputs, const Window& window,
                       std::size_t groups = 1) {
  check_affine(
      in,
      [&](Graph& graph, Activation& x) -> Activation& {
        return convolution(graph, x, {.name = "c", .outputs = outputs}, window, groups);
      },
      [&](const Values& x, const Values& w, const Values& b) {
        return reference::convolution(x, in, w, b, outputs, window, groups);
      });
}

TEST_F(Bf16Layers, ConvolutionAgreesWithFiniteDifferences) {
  const Window three{.kernel = 3};
  check_convolution({2, 1, 6, 5}, 5, {.kernel = 5});
  check_convolution({2, 3, 5, 6}, 16, {.kernel = 3, .stride = 2});
  check_convolution({1, 16, 2, 3}, 16, three);
  check_convolution({1, 20, 2, 2}, 18, three);
  check_convolution({2, 5, 3, 2}, 4, {.kernel = 1});
  check_convolution({2, 4, 3, 4}, 6, {.kernel = 1, .width = 3});
  check_convolution({1, 4, 4, 3}, 6, three, 2);
  // Narrower than the stride.
  check_convolution({2, 16, 1, 1}, 16, {.kernel = 3, .stride = 2});
  check_convolution({2, 3, 4, 2}, 5, {.kernel = 5, .stride = 3});
}

TEST_F(Bf16Layers, DenseAgreesWithFiniteDifferences) {
  check_affine(
      {3, 21},
      [](Graph& graph, Activation& x) -> Activation& {
        return dense(graph, x, {"d", 10});
      },
      [](const Values& x, const Values& w, const Values& b) {
        return reference::inner_product(x, 3, w, b);
      });
}

TEST_F(Bf16Layers, MaxPoolAgreesWithTheReference) {
  const Shape in{1, 17, 4, 2};
  for (const Window& window : {Window{.kernel = 2, .stride = 2}, Window{.kernel = 3}}) {
    SeededRandom random(1);
    const auto engine = backend(1, kBf16);
    Graph graph(*engine, {.element = kBf16});
    Activation& x = scale(graph, graph.input(in, Layout::channels_last), 1);
    Activation& y = max_pool(graph, x, window);
    const Values values = randomize(graph.first().value(), random);
    const Values dy = randomize(y.gradient(), random);
    pass(graph);
    EXPECT_EQ(reference::max_pool(values, in, window), row_major(y.value()));
    // A pixel that wins several windows: oneDNN rounds at each of their gradients.
    // Where a pixel wins several windows, oneDNN rounds at each of their gradients.
    expect_near(reference::max_pool_backward(values, in, dy, window), row_major(x.gradient()), "dx",
                2 * tolerance(kBf16));
  }
}

TEST_F(Bf16Layers, AveragePoolAgreesWithFiniteDifferences) {
  const Window three{.kernel = 3, .stride = 2};
  const Shape in{2, 5, 5, 4};
  check(
      in, [&](Graph& graph, Activation& x) -> Activation& { return average_pool(graph, x, three); },
      [&](const Values& x) { return reference::average_pool(x, in, three); });
}

TEST_F(Bf16Layers, ReluAndSigmoidAgreeWithFiniteDifferences) {
  check({2, 21}, relu, reference::relu);
  check({2, 21}, sigmoid, reference::sigmoid);
}

TEST_F(Bf16Layers, LrnAgreesWithFiniteDifferences) {
  for (const std::size_t channels : {6U, 64U}) {
    const Shape in{2, channels, 2, 3};
    const LrnOptions options{.radius = 4, .bias = 1, .alpha = 0.3F, .beta = 0.75F};
    check(
        in, [&](Graph& graph, Activation& x) -> Activation& { return lrn(graph, x, options); },
        [&](const Values& x) {
          return reference::lrn(x, in, {options.radius, options.bias, options.alpha, options.beta});
        });
  }
}

TEST_F(Bf16Layers, BatchNormAgreesWithFiniteDifferencesAndKeepsItsStatisticsInFp32) {
  constexpr float kEpsilon = 0.25;
  for (const std::size_t channels : {5U, 32U}) {
    for (const bool relu : {false, true}) {
      SeededRandom random(1);
      const Shape in{3, channels, 2, 4};
      const auto engine = backend(1, kBf16);
      Graph graph(*engine, {.element = kBf16});
      Activation& x = scale(graph, graph.input(in, Layout::channels_last), 1);
      Activation& y =
          batch_norm(graph, x, {.name = "n", .epsilon = kEpsilon, .scale = true, .relu = relu});
      const Values values = randomize(graph.first().value(), random);
      const Values dy = randomize(y.gradient(), random);
      const Values beta = randomize(graph.parameter(0).value, random);
      const Values gamma = randomize(graph.parameter(1).value, random);
      pass(graph);
      const auto f = [&](const Values& v, const Values& by_gamma, const Values& by_beta) {
        const auto moments = reference::moments(v, in);
        Values normed = reference::normalize(v, in, moments, kEpsilon, by_gamma, by_beta);
        return relu ? reference::relu(normed) : normed;
      };
      expect_near(f(values, gamma, beta), row_major(y.value()), "y", tolerance(kBf16));
      const auto [mean, variance] = reference::moments(values, in);
      expect_near(mean, row_major(graph.parameter(2).gradient), "mean");
      expect_near(variance, row_major(graph.parameter(3).gradient), "variance");
      const auto by_x = [&](const Values& v) { return f(v, gamma, beta); };
      const auto by_gamma = [&](const Values& v) { return f(values, v, beta); };
      const auto by_beta = [&](const Values& v) { return f(values, gamma, v); };
      expect_near(finite_differences(by_x, values, dy), row_major(x.gradient()), "dx",
                  tolerance(kBf16));
      expect_near(finite_differences(by_beta, beta, dy), row_major(graph.parameter(0).gradient),
                  "dbeta");
      expect_near(finite_differences(by_gamma, gamma, dy), row_major(graph.parameter(1).gradient),
                  "dgamma");
    }
  }
}

TEST_F(Bf16Layers, AddSumsInFp32AndRoundsOnce) {
  // More than passes through fp32 at once.
  const Shape in{3, kElementsAtOnce / 2 + 7};
  SeededRandom random(1);
  const auto engine = backend(1, kBf16);
  Graph graph(*engine, {.element = kBf16});
  Activation& a = scale(graph, graph.input(in, Layout::row_major), 1);
  Activation& b = scale(graph, a, 0.75F);
  Activation& y = add(graph, a, b);
  randomize(graph.first().value(), random);
  const Values dy = randomize(y.gradient(), random);
  pass(graph);
  Values sum = row_major(a.value());
  const Values other = row_major(b.value());
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
  EXPECT_EQ(rounded_to_bf16(sum), row_major(y.value()));
  // Two read a: what came back through b is rounded, and then the sum.
  Values back = rounded_to_bf16([&] {
    Values scaled = dy;
    for (double& value : scaled) value *= 0.75;
    return scaled;
  }());
  for (std::size_t i = 0; i < back.size(); ++i) back[i] += dy[i];
  EXPECT_EQ(rounded_to_bf16(back), row_major(a.gradient()));
}

TEST_F(Bf16Layers, ASumBehindWhichAReluFollowsHasTheBitsOfBoth) {
  const auto y_and_dx = [](bool in_one_pass) {
    const auto engine = backend(1, kBf16);
    Graph graph(*engine, {.element = kBf16});
    const Shape in{3, kElementsAtOnce / 2 + 7};
    Activation& a = scale(graph, graph.input(in, Layout::row_major), 1);
    Activation& b = scale(graph, a, -0.75F);
    Activation& y = in_one_pass ? rectified_sum(graph, a, b) : relu(graph, add(graph, a, b));
    SeededRandom random(1);
    randomize(graph.first().value(), random);
    randomize(y.gradient(), random);
    pass(graph);
    return std::pair(row_major(y.value()), row_major(a.gradient()));
  };
  EXPECT_EQ(y_and_dx(true), y_and_dx(false));
}

TEST_F(Bf16Layers, ConcatSubsampleAndFlattenMoveWhatTheyRead) {
  const Shape in{2, 3, 5, 4};
  check(
      in,
      [](Graph& graph, Activation& x) -> Activation& {
        return concat(graph, {&x, &scale(graph, x, 2)});
      },
      [&](const Values& x) {
        Values twice = x;
        for (double& value : twice) value *= 2;
        return reference::concat(x, in, twice, in[1]);
      });
  check(
      in, [](Graph& graph, Activation& x) -> Activation& { return subsample(graph, x, 5, 2); },
      [&](const Values& x) { return reference::subsample(x, in, 5, 2); });
  check(
      in, [](Graph& graph, Activation& x) -> Activation& { return flatten(graph, x); },
      [](const Values& x) { return x; });
}

TEST_F(Bf16Layers, DropoutDropsWhatItDropsInFp32) {
  // More than passes through fp32 at once, from the middle of a block of draws on.
  const Shape in{2, 3000};
  const auto dropped = [&](Element element) {
    const auto engine = backend(1, element);
    Graph graph(*engine, {.element = element});
    Activation& x = scale(graph, graph.input(in, Layout::row_major), 1);
    Activation& y = dropout(graph, x, 0.75F);
    set(graph.first().value(), Values(element_count(in), 3));
    set(y.gradient(), Values(element_count(in), 1.5));
    Heard heard(graph);
    graph.restart({.draw = {.seed = 5, .step = 6, .rank = 7, .first_image = 1}});
    graph.forward(0);
    const Values out = row_major(y.value());
    graph.backward(heard);
    return std::pair(rounded_to_bf16(out), rounded_to_bf16(row_major(x.gradient())));
  };
  EXPECT_EQ(dropped(kBf16), dropped(Element::fp32));
}

TEST_F(Bf16Layers, LossHeadComputesInFp32) {
  SeededRandom random(1);
  const auto engine = backend(1, kBf16);
  Graph graph(*engine, {.element = kBf16});
  Activation& logits = scale(graph, graph.input({3, 4}, Layout::row_major), 1);
  LossHead& head = loss_head(graph, logits);
  const Values values = randomize(graph.first().value(), random);
  const std::vector<std::uint16_t> labels = {2, 0, 3};
  head.set_labels(labels);
  pass(graph);
  Values gradient;
  EXPECT_NEAR(head.loss(), reference::cross_entropy(values, labels, &gradient), 1e-6);
  EXPECT_EQ(row_major(logits.gradient()).size(), gradient.size());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_NEAR(row_major(logits.gradient())[i], gradient[i], 0x1p-8 * std::abs(gradient[i]));
  }
}

}  // namespace
}  // namespace sterna::nets
