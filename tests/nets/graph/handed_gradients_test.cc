// Gradients that are handed on as they are lie in one place, and no other number comes of it.
#include <gtest/gtest.h>

#include "nets/layers/layers.h"
#include "tests/nets/bf16_fixture.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

const Shape kShape{2, 3, 4, 5};

class HandedGradients : public testing::Test {
 protected:
  /// What wants a gradient.
  Activation& first() { return scale(graph_, graph_.input(kShape, Layout::channels_last), 1); }
  Activation& norm(Activation& x) {
    return batch_norm(graph_, x, {.name = "norm" + std::to_string(norms_++)});
  }
  static bool together(Activation& a, Activation& b) {
    return a.gradient().memory() == b.gradient().memory();
  }
  std::unique_ptr<Backend> engine_ = backend();
  Graph graph_{*engine_, {.shares_memory = true}};
  int norms_ = 0;
};

TEST_F(HandedGradients, LieInOnePlaceAlongResidualBlocks) {
  Activation& x = first();
  Activation& projected = norm(x);
  Activation& plain = norm(norm(x));
  Activation& y = rectified_sum(graph_, plain, projected);
  Activation& normed = norm(norm(y));
  Activation& z = rectified_sum(graph_, normed, y);
  graph_.finish();
  EXPECT_TRUE(together(z, normed));
  EXPECT_TRUE(together(z, y));
  EXPECT_TRUE(together(y, plain));
  EXPECT_TRUE(together(y, projected));
  EXPECT_FALSE(together(y, x));
}

TEST_F(HandedGradients, DoNotWhereTheOneIsWrittenBeforeTheOtherIsDone) {
  Activation& made = norm(first());
  Activation& rectified = relu(graph_, norm(made));
  // The relu writes its gradient over its output's, and what came through it is added to that of
  // `made`, which is done later.
  Activation& sum = add(graph_, rectified, made);
  Activation& twice = add(graph_, sum, sum);
  graph_.finish();
  EXPECT_TRUE(together(sum, made));
  EXPECT_FALSE(together(sum, rectified));
  EXPECT_TRUE(together(twice, sum));
}

struct Way {
  bool shares_memory = true;
  bool in_one_pass = true;  // a sum and the relu behind it
  Element element = Element::fp32;
};

/// A net of layers of kinds and inputs that the seed draws; what comes of a pass.
std::vector<Values> drawn_net(std::uint64_t seed, const Way& way) {
  const auto engine = backend(1, way.element);
  Graph graph(*engine, {.shares_memory = way.shares_memory, .element = way.element});
  SeededRandom random(seed);
  const auto below = [&](std::size_t count) { return random.below(count); };
  Activation& input = graph.input(kShape, Layout::channels_last);
  std::vector<Activation*> made{below(2) == 0 ? &input : &scale(graph, input, 1)};
  std::vector<bool> read(1, false);
  const auto any = [&]() -> Activation& {
    const std::size_t last = made.size() - 1;
    const std::size_t i = last - std::min(last, below(4) * below(3));
    read[i] = true;
    return *made[i];
  };
  for (int layer = 0; layer < 24; ++layer) {
    Activation& x = any();
    const auto build = [&]() -> Activation& {
      switch (below(x.gradient().size() == 0 ? 2 : 6)) {
        case 0:
          return scale(graph, x, 0.7F);
        case 1:
          return batch_norm(graph, x,
                            {.name = "norm" + std::to_string(layer), .relu = below(2) == 0});
        case 2:
          return relu(graph, x);
        case 3:
          return sigmoid(graph, x);
        default:
          Activation& other = any();
          if (below(3) == 0) return add(graph, x, other);
          if (way.in_one_pass) return rectified_sum(graph, x, other);
          return relu(graph, add(graph, x, other));
      }
    };
    made.push_back(&build());
    read.push_back(false);
  }
  std::vector<Activation*> unread;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!read[i]) unread.push_back(made[i]);
  }
  Activation& y = sum(graph, unread);
  graph.finish();
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    randomize(graph.parameter(i).value, random);
    graph.parameter_changed(i);
  }
  randomize(graph.first().value(), random);
  graph.restart({});
  EXPECT_TRUE(graph.forward(graph.parameter_count()));
  std::vector<Values> found{row_major(y.value())};
  randomize(y.gradient(), random);
  Heard heard(graph);
  graph.backward(heard);
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    found.push_back(row_major(graph.parameter(i).gradient));
  }
  if (made.front()->gradient().size() > 0) found.push_back(row_major(made.front()->gradient()));
  return found;
}

/// Of nets with sums in sums and readers of readers.
void expect_the_same_bits_in_all_ways(Element element) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto plain =
        drawn_net(seed, {.shares_memory = false, .in_one_pass = false, .element = element});
    EXPECT_EQ(drawn_net(seed, {.shares_memory = false, .element = element}), plain)
        << "in one pass, seed " << seed;
    EXPECT_EQ(drawn_net(seed, {.element = element}), plain) << "where they lie, seed " << seed;
  }
}

TEST(HandedGradientsOfNets, AreTheBitsThatLieApart) {
  expect_the_same_bits_in_all_ways(Element::fp32);
}

class HandedGradientsInBf16 : public Bf16Test {};

TEST_F(HandedGradientsInBf16, AreTheBitsThatLieApart) {
  expect_the_same_bits_in_all_ways(Element::bf16);
}

}  // namespace
}  // namespace sterna::nets
