#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nets/layers/layers.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

using testing::ElementsAre;

constexpr double kEpsilon = 0.25;  // large enough to be missed

struct Normed {
  Shape in;
  bool scale = false;
  bool relu = false;

  /// By those moments, or by the values' own.
  Values operator()(const Values& x, const Values& gamma, const Values& beta,
                    const reference::Moments* by = nullptr) const {
    Values y = reference::normalize(x, in, by != nullptr ? *by : reference::moments(x, in),
                                    kEpsilon, gamma, beta);
    return relu ? reference::relu(y) : y;
  }
  Activation& layer(Graph& graph, Activation& x) const {
    return batch_norm(graph, x,
                      {.name = "n",
                       .epsilon = static_cast<float>(kEpsilon),
                       .decay = 0.5F,
                       .scale = scale,
                       .relu = relu});
  }
};

/// Random where the layer has them, else ones.
Values gammas(Graph& graph, const Normed& normed, Random& random) {
  return normed.scale ? randomize(graph.parameter(1).value, random) : Values(normed.in[1], 1.0);
}

void check_training(const Normed& normed) {
  SeededRandom random(1);
  const auto engine = backend();
  Graph graph(*engine);
  Activation& input = graph.input(normed.in, Layout::channels_last);
  Activation& x = scale(graph, input, 1);
  Activation& y = normed.layer(graph, x);
  EXPECT_EQ(y.shape(), normed.in);
  const Values values = randomize(input.value(), random), dy = randomize(y.gradient(), random);
  const Values beta = randomize(graph.parameter(0).value, random);
  const Values gamma = gammas(graph, normed, random);
  const std::size_t trained = graph.trained_count();
  EXPECT_EQ(trained, normed.scale ? 2U : 1U);
  // The moving ones play no part.
  randomize(graph.parameter(trained).value, random);
  randomize(graph.parameter(trained + 1).value, random);

  const auto completed = pass(graph);
  if (normed.scale) {
    EXPECT_THAT(completed, ElementsAre(0, 1, 2, 3));
  } else {
    EXPECT_THAT(completed, ElementsAre(0, 1, 2));
  }
  expect_near(normed(values, gamma, beta), row_major(y.value()), "y");
  const auto [mean, variance] = reference::moments(values, normed.in);
  expect_near(mean, row_major(graph.parameter(trained).gradient), "mean");
  expect_near(variance, row_major(graph.parameter(trained + 1).gradient), "variance");
  const auto by_x = [&](const Values& v) { return normed(v, gamma, beta); };
  const auto by_beta = [&](const Values& v) { return normed(values, gamma, v); };
  const auto by_gamma = [&](const Values& v) { return normed(values, v, beta); };
  expect_near(finite_differences(by_x, values, dy), row_major(x.gradient()), "dx");
  expect_near(finite_differences(by_beta, beta, dy), row_major(graph.parameter(0).gradient),
              "dbeta");
  if (normed.scale)
    expect_near(finite_differences(by_gamma, gamma, dy), row_major(graph.parameter(1).gradient),
                "dgamma");
}

/// With few channels and with more than a vector.
void check_training(bool scale, bool relu) {
  check_training({.in = {3, 5, 2, 4}, .scale = scale, .relu = relu});
  check_training({.in = {2, 20, 3, 2}, .scale = scale, .relu = relu});
}

TEST(BatchNormLayer, AgreesWithFiniteDifferences) { check_training(false, false); }
TEST(BatchNormLayer, AgreesWithFiniteDifferencesWhereItScales) { check_training(true, false); }
TEST(BatchNormLayer, AgreesWithFiniteDifferencesWithARelu) { check_training(false, true); }
TEST(BatchNormLayer, AgreesWithFiniteDifferencesWhereItScalesWithARelu) {
  check_training(true, true);
}

TEST(BatchNormLayer, EvaluatesByTheMovingStatistics) {
  SeededRandom random(2);
  for (const bool scaled : {false, true}) {
    for (const bool relu : {false, true}) {
      const Normed normed{.in = {2, 5, 3, 2}, .scale = scaled, .relu = relu};
      const auto engine = backend();
      Graph graph(*engine);
      Activation& input = graph.input(normed.in, Layout::channels_last);
      Activation& y = normed.layer(graph, input);
      const Values x = randomize(input.value(), random);
      const Values beta = randomize(graph.parameter(0).value, random);
      const Values gamma = gammas(graph, normed, random);
      const std::size_t trained = graph.trained_count();
      const reference::Moments moving{randomize(graph.parameter(trained).value, random),
                                      {0.5, 1, 2, 0.25, 4}};
      set(graph.parameter(trained + 1).value, moving.variance);
      graph.restart({.mode = Mode::evaluation});
      ASSERT_TRUE(graph.forward(graph.parameter_count()));
      expect_near(normed(x, gamma, beta, &moving), row_major(y.value()), "y");
    }
  }
}

TEST(BatchNormLayer, HasGradientsWhereItIsTheFirst) {
  SeededRandom random(3);
  const Normed normed{.in = {2, 3, 2, 2}, .scale = true};
  const auto engine = backend();
  Graph graph(*engine);
  Activation& input = graph.input(normed.in, Layout::channels_last);
  Activation& y = normed.layer(graph, input);
  const Values x = randomize(input.value(), random), dy = randomize(y.gradient(), random);
  const Values beta = randomize(graph.parameter(0).value, random);
  const Values gamma = gammas(graph, normed, random);
  pass(graph);
  const auto by_gamma = [&](const Values& v) { return normed(x, v, beta); };
  expect_near(finite_differences(by_gamma, gamma, dy), row_major(graph.parameter(1).gradient),
              "dgamma");
}

TEST(BatchNormLayer, NamesItsParametersAndTheirRoles) {
  const auto engine = backend();
  Graph graph(*engine);
  Activation& x = graph.input({2, 3, 2, 2}, Layout::channels_last);
  Normed{.in = x.shape(), .scale = true}.layer(graph, x);
  std::vector<std::string> names;
  std::vector<Role> roles;
  std::vector<float> starts, decays;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    const ParameterSpec& spec = graph.parameter(i).spec;
    EXPECT_THAT(spec.shape, ElementsAre(3));
    EXPECT_FALSE(spec.decay);
    names.push_back(spec.name);
    roles.push_back(spec.role);
    starts.push_back(spec.constant);
    decays.push_back(spec.moving_decay);
  }
  EXPECT_THAT(names, ElementsAre("n/beta", "n/gamma", "n/mean", "n/variance"));
  EXPECT_THAT(roles, ElementsAre(Role::beta, Role::gamma, Role::statistic, Role::statistic));
  EXPECT_THAT(starts, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(decays, ElementsAre(0, 0, 0.5F, 0.5F));
}

}  // namespace
}  // namespace sterna::nets
