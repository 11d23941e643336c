#include "nets/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nets/layers/layers.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(Graph, AddsTheGradientsOfTwoReadersAndOfThree) {
  const auto engine = backend();
  for (const bool third : {false, true}) {
    Graph graph(*engine);
    Activation& a = scale(graph, graph.input({1, 40}, Layout::row_major), 1);
    std::vector<Activation*> readers = {&scale(graph, a, 10), &scale(graph, a, 3)};
    if (third) readers.push_back(&scale(graph, a, 0.5F));
    for (Activation* reader : readers) std::fill_n(reader->gradient().data(), 40, 1.0F);
    pass(graph);
    EXPECT_THAT(row_major(a.gradient()), Each(third ? 13.5 : 13.0));
  }
}

TEST(Graph, ASingleReaderWritesTheGradientItself) {
  const auto engine = backend();
  Graph graph(*engine);
  Activation& a = scale(graph, graph.input({1, 4}, Layout::row_major), 1);
  Reading& first = graph.read(a);
  EXPECT_EQ(first.gradient(), &a.gradient());
  Reading& second = graph.read(a);
  EXPECT_EQ(second.gradient(), &a.gradient());
  EXPECT_NE(first.gradient(), &a.gradient());
}

TEST(Graph, NobodyAsksForTheGradientOfTheInput) {
  const auto engine = backend();
  Graph graph(*engine);
  Activation& input = graph.input({1, 4}, Layout::row_major);
  Reading& first = graph.read(input);
  Reading& second = graph.read(input);
  EXPECT_EQ(first.gradient(), nullptr);
  EXPECT_EQ(second.gradient(), nullptr);
}

TEST(Graph, RunsAsFarAsParametersAreReadable) {
  const auto engine = backend();
  Graph graph(*engine);
  Activation& a = dense(graph, graph.input({1, 2}, Layout::row_major), {.name = "a", .outputs = 1});
  Activation& b = dense(graph, a, {.name = "b", .outputs = 1});
  std::fill_n(graph.first().value().data(), 2, 1.0F);
  for (std::size_t i = 0; i < 4; ++i) {
    Tensor& value = graph.parameter(i).value;
    std::fill_n(value.data(), value.size(), 1.0F);
  }
  graph.restart({.mode = Mode::evaluation});
  EXPECT_FALSE(graph.forward(1));
  EXPECT_EQ(a.value().data()[0], 0.0F);
  EXPECT_FALSE(graph.forward(3));
  EXPECT_EQ(a.value().data()[0], 3.0F);
  EXPECT_EQ(b.value().data()[0], 0.0F);
  EXPECT_TRUE(graph.forward(4));
  EXPECT_EQ(b.value().data()[0], 4.0F);
}

TEST(Graph, TellsWhoWatchesWhatHasComeOfEachLayerWithParametersInTraining) {
  const auto engine = backend();
  Graph graph(*engine);
  Activation& x = graph.input({1, 2}, Layout::row_major);
  Activation& a = dense(graph, x, {.name = "net/a", .outputs = 1});
  Activation& twice = scale(graph, scale(graph, a, 2), 5);
  Activation& b = dense(graph, twice, {.name = "b", .outputs = 1});
  scale(graph, b, 7);
  scale(graph, b, 3);  // a branch of its own
  graph.finish();
  std::fill_n(x.value().data(), 2, 1.0F);
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    Tensor& value = graph.parameter(i).value;
    std::fill_n(value.data(), value.size(), 1.0F);
  }
  std::vector<std::pair<std::string, float>> seen;
  graph.watch([&](const std::string& layer, const Tensor& value) {
    seen.emplace_back(layer, value.data()[0]);
  });
  graph.restart({.mode = Mode::training});
  EXPECT_TRUE(graph.forward(4));
  EXPECT_THAT(seen, ElementsAre(std::pair("net/a", 30.0F), std::pair("b", 7.0F * 31.0F)));
  graph.restart({.mode = Mode::evaluation});
  EXPECT_TRUE(graph.forward(4));
  graph.watch(nullptr);
  graph.restart({.mode = Mode::training});
  EXPECT_TRUE(graph.forward(4));
  EXPECT_EQ(seen.size(), 2U);
}

TEST(Graph, TellsALayerOfItsParametersAndTheMode) {
  struct Witness final : Layer {
    explicit Witness(Parameter& own) : w(own) {}
    void forward(const Pass& pass) override { seen.push_back(pass.mode); }
    void backward(Completion& completion) override { completion.complete({&w}); }
    void parameter_changed(const Parameter& /*parameter*/) override { ++changed; }
    Parameter& w;
    std::vector<Mode> seen;
    int changed = 0;
  };
  const auto engine = backend();
  Graph graph(*engine);
  graph.input({1}, Layout::row_major);
  Parameter& w = graph.parameter(ParameterSpec{.name = "w", .shape = {1}});
  Witness& witness = graph.add(std::make_unique<Witness>(w));
  graph.parameter_changed(0);
  EXPECT_EQ(witness.changed, 1);
  EXPECT_THAT(pass(graph), ElementsAre(0));
  graph.restart({.mode = Mode::evaluation});
  graph.forward(1);
  EXPECT_THAT(witness.seen, ElementsAre(Mode::training, Mode::evaluation));
}

TEST(Graph, RunsLayersThatOnlyTrainingHasInTrainingOnly) {
  const auto engine = backend();
  Graph graph(*engine);
  Activation& input = graph.input({1, 3}, Layout::row_major);
  Activation& a = scale(graph, input, 2);
  Activation& b =
      graph.training_only([&]() -> Activation& { return scale(graph, scale(graph, a, 3), 5); });
  Activation& c = scale(graph, a, 7);
  std::fill_n(input.value().data(), 3, 1.0F);
  graph.restart({.mode = Mode::evaluation});
  EXPECT_TRUE(graph.forward(0));
  EXPECT_THAT(row_major(c.value()), Each(14.0));
  EXPECT_THAT(row_major(b.value()), Each(0.0));
  graph.restart({.mode = Mode::training});
  EXPECT_TRUE(graph.forward(0));
  EXPECT_THAT(row_major(b.value()), Each(30.0));
}

/// Whose sum of outputs is compared; `parameters` are the graph's, the first two those of `a`.
struct Readers {
  std::vector<Activation*> (*build)(Graph& graph, Activation& a);
  Values (*reference)(const Values& a, const std::vector<Values>& parameters);
};

constexpr std::size_t kBatch = 3;

Activation& other(Graph& graph, Activation& x, const char* name) {
  return dense(graph, x, {.name = name, .outputs = 5});
}

Values plus(const Values& a, const Values& b, double factor = 1) {
  Values sum = a;
  for (std::size_t i = 0; i < a.size(); ++i) sum[i] += factor * b[i];
  return sum;
}

/// a = dense(input) with two layers or more that read it, against the same in double precision.
void expect_gradients(const Readers& readers) {
  SeededRandom random(9);
  const auto engine = backend();
  Graph graph(*engine);
  Activation& input = graph.input({kBatch, 4}, Layout::row_major);
  Activation& a = other(graph, input, "a");
  Activation& y = sum(graph, readers.build(graph, a));
  const Values x = randomize(input.value(), random), dy = randomize(y.gradient(), random);
  std::vector<Values> parameters;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i)
    parameters.push_back(randomize(graph.parameter(i).value, random));
  const Tensor seed = tensor(y.shape(), Layout::row_major, dy);

  pass(graph);
  const Values gradient = row_major(graph.parameter(0).gradient);
  const auto by_weights = [&](const Values& w) {
    return readers.reference(reference::inner_product(x, kBatch, w, parameters[1]), parameters);
  };
  expect_near(by_weights(parameters[0]), row_major(y.value()), "y");
  expect_near(finite_differences(by_weights, parameters[0], dy), gradient, "dw");
  std::copy_n(seed.data(), seed.size(), y.gradient().data());
  pass(graph);
  EXPECT_EQ(row_major(graph.parameter(0).gradient), gradient) << "other bits the second time";
}

Values second_dense(const Values& x, const std::vector<Values>& p) {
  return reference::inner_product(x, kBatch, p[2], p[3]);
}

TEST(Graph, AgreesWithFiniteDifferencesWhereTwoLayersRead) {
  expect_gradients({[](Graph& graph, Activation& a) {
                      return std::vector{&other(graph, a, "b"), &scale(graph, a, 3)};
                    },
                    [](const Values& a, const auto& p) { return plus(second_dense(a, p), a, 3); }});
}

TEST(Graph, AgreesWithFiniteDifferencesWhereThreeLayersRead) {
  expect_gradients(
      {[](Graph& graph, Activation& a) {
         return std::vector{&other(graph, a, "b"), &scale(graph, a, 3), &other(graph, a, "c")};
       },
       [](const Values& a, const auto& p) {
         return plus(plus(second_dense(a, p), a, 3),
                     reference::inner_product(a, kBatch, p[4], p[5]));
       }});
}

TEST(Graph, AgreesWithFiniteDifferencesWhereOneLayerReadsTwice) {
  expect_gradients({[](Graph&, Activation& a) {
                      return std::vector{&a, &a};
                    },
                    [](const Values& a, const auto&) { return plus(a, a); }});
}

TEST(Graph, AgreesWithFiniteDifferencesWhereAReluIsOneOfTheReaders) {
  const auto expected = [](const Values& a, const std::vector<Values>& p) {
    return plus(second_dense(a, p), reference::relu(a));
  };
  expect_gradients({[](Graph& graph, Activation& a) {
                      Activation& first = relu(graph, a);
                      return std::vector{&first, &other(graph, a, "b")};
                    },
                    expected});
  expect_gradients({[](Graph& graph, Activation& a) {
                      Activation& first = other(graph, a, "b");
                      return std::vector{&first, &relu(graph, a)};
                    },
                    expected});
}

TEST(Graph, AgreesWithFiniteDifferencesWhereARelusOutputHasTwoReaders) {
  expect_gradients({[](Graph& graph, Activation& a) {
                      Activation& r = relu(graph, a);
                      return std::vector{&other(graph, r, "b"), &relu(graph, r), &r};
                    },
                    [](const Values& a, const auto& p) {
                      const Values r = reference::relu(a);
                      return plus(second_dense(r, p), r, 2);
                    }});
}

}  // namespace
}  // namespace sterna::nets
