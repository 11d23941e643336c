#include "nets/graph/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nets/describe_net.h"
#include "nets/layers/layers.h"
#include "nets/layers/loss_head.h"
#include "tests/nets/bf16_fixture.h"
#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

using testing::ElementsAre;

void expect_apart(const std::vector<Life>& lives, const MemoryPlan& plan) {
  ASSERT_EQ(plan.offsets.size(), lives.size());
  EXPECT_GE(plan.bytes, plan.bound);
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const Life& one = lives[i];
    EXPECT_EQ(plan.offsets[i] % 64, 0U);
    EXPECT_LE(plan.offsets[i] + one.bytes, plan.bytes);
    for (std::size_t j = 0; j < i; ++j) {
      const Life& other = lives[j];
      if (one.last < other.first || other.last < one.first) continue;
      EXPECT_TRUE(plan.offsets[i] + one.bytes <= plan.offsets[j] ||
                  plan.offsets[j] + other.bytes <= plan.offsets[i])
          << i << " and " << j;
    }
  }
}

TEST(MemoryPlan, KeepsApartWhatLivesTogether) {
  SeededRandom random(1);
  for (int time = 0; time < 50; ++time) {
    std::vector<Life> lives(1 + random.below(60));
    for (Life& life : lives) {
      const std::size_t first = random.below(40);
      life = {random.below(1000), first, first + random.below(time < 25 ? 4 : 40)};
    }
    const MemoryPlan plan = plan_memory(lives);
    expect_apart(lives, plan);
    std::size_t most = 0;
    for (std::size_t moment = 0; moment < 80; ++moment) {
      std::size_t now = 0;
      for (const Life& life : lives)
        if (life.first <= moment && moment <= life.last) now += (life.bytes + 63) / 64 * 64;
      most = std::max(most, now);
    }
    EXPECT_EQ(plan.bound, most);
    EXPECT_EQ(plan_memory(lives).offsets, plan.offsets);
  }
}

TEST(MemoryPlan, NeedsNoMoreThanLivesAtOnceForAChain) {
  // Each reads the one before.
  std::vector<Life> lives;
  for (std::size_t i = 0; i < 20; ++i) lives.push_back({100 * (20 - i), i, i + 1});
  const MemoryPlan plan = plan_memory(lives);
  expect_apart(lives, plan);
  EXPECT_EQ(plan.bytes, plan.bound);
  EXPECT_EQ(plan.bound, 2048U + 1920U) << "the first two in multiples of 64";
}

TEST(MemoryPlan, GivesThePlaceOfOneToTheNext) {
  EXPECT_THAT(plan_memory(std::vector<Life>{{64, 0, 1}, {64, 1, 2}, {64, 2, 3}}).offsets,
              ElementsAre(0, 64, 0));
  const MemoryPlan none = plan_memory({});
  EXPECT_EQ(none.bytes, 0U);
  EXPECT_EQ(none.bound, 0U);
}

/// A net with every kind of branch, and what a training step and an evaluation of it give.
class Branches {
 public:
  Branches(Backend& engine, GraphOptions options)
      : graph_(engine, options), head_(build()), memory_(graph_.memory()) {
    graph_.finish();
    SeededRandom random(4);
    for (std::size_t i = 0; i < graph_.parameter_count(); ++i) {
      Tensor& value = graph_.parameter(i).value;
      randomize(value, random);
      if (graph_.parameter(i).spec.role == Role::statistic)
        for (float& one : value.values()) one = 1 + std::abs(one);
      graph_.parameter_changed(i);
    }
  }

  const ActivationMemory& memory() const { return memory_; }
  /// Logits, and after a training pass all gradients.
  std::vector<Values> run(Mode mode, std::uint64_t seed) {
    SeededRandom random(seed);
    randomize(graph_.first().value(), random);
    head_.set_labels(std::vector<std::uint16_t>{1, 0, 3});
    graph_.restart({.mode = mode, .draw = {.seed = 9}});
    EXPECT_TRUE(graph_.forward(graph_.parameter_count()));
    std::vector<Values> found = {row_major(head_.logits())};
    if (mode == Mode::evaluation) return found;
    Heard heard(graph_);
    graph_.backward(heard);
    found.push_back({head_.loss()});
    EXPECT_EQ(heard.order.size(), graph_.parameter_count());
    for (std::size_t i = 0; i < graph_.parameter_count(); ++i)
      found.push_back(row_major(graph_.parameter(i).gradient));
    return found;
  }

 private:
  LossHead& build() {
    constexpr Window kOne{.kernel = 1}, kThree{.kernel = 3};
    const auto convolved = [&](Activation& x, const char* name) -> Activation& {
      return convolution(graph_, x, {.name = name, .outputs = 6}, kThree);
    };
    Activation& input = graph_.input({3, 2, 8, 6}, Layout::channels_last);
    Activation& a = relu(graph_, convolved(input, "a"));
    Activation& b = batch_norm(graph_, convolved(a, "b"), {.name = "b", .relu = true});
    Activation& c = lrn(graph_, max_pool(graph_, a, kThree), {.radius = 1, .alpha = 0.1F});
    Activation& d = relu(graph_, a);  // a's third reader: not in place
    Activation& e = average_pool(graph_, d, kThree);
    Activation& all = concat(graph_, {&b, &c, &e});
    Activation& f = convolution(graph_, all, {.name = "f", .outputs = 12}, kOne);
    Activation& sum = add(graph_, f, subsample(graph_, a, 12, 1));
    Activation& g = dropout(graph_, relu(graph_, sum), 0.5F);
    Activation& h = max_pool(graph_, g, {.kernel = 2, .stride = 2});
    Activation& units = sigmoid(graph_, dense(graph_, flatten(graph_, h), {"units", 10}));
    return loss_head(graph_, dense(graph_, dropout(graph_, units, 0.8F), {"logits", 4}));
  }

  Graph graph_;
  LossHead& head_;
  ActivationMemory memory_;
};

/// A training step's memory.
std::size_t expect_bits_without_sharing(Element element) {
  const auto engine = backend(1, element);
  Branches shared(*engine, {.shares_memory = true, .element = element});
  Branches apart(*engine, {.element = element});
  EXPECT_GE(shared.memory().bytes, shared.memory().bound);
  const auto step = apart.run(Mode::training, 1);
  EXPECT_EQ(shared.run(Mode::training, 1), step);
  EXPECT_EQ(shared.run(Mode::evaluation, 2), apart.run(Mode::evaluation, 2));
  EXPECT_EQ(shared.run(Mode::training, 1), step) << "after an evaluation";
  Branches evaluates(*engine, {.shares_memory = true, .trains = false, .element = element});
  EXPECT_EQ(evaluates.run(Mode::evaluation, 2), apart.run(Mode::evaluation, 2));
  EXPECT_LT(evaluates.memory().bytes, shared.memory().bytes / 2);
  for (const Values& values : step)
    EXPECT_TRUE(std::ranges::any_of(values, [](double value) { return value != 0; }));
  return shared.memory().bytes;
}

TEST(MemoryPlan, GivesAGraphTheBitsThatItHasWithoutSharing) {
  expect_bits_without_sharing(Element::fp32);
}

class MemoryPlanInBf16 : public Bf16Test {};

TEST_F(MemoryPlanInBf16, GivesAGraphTheBitsThatItHasWithoutSharing) {
  expect_bits_without_sharing(Element::bf16);
}

TEST(MemoryPlan, TakesTwoBytesOfABf16) {
  const NetOptions fp32{.name = "lenet", .batch = 32};
  NetOptions bf16 = fp32;
  bf16.backend.precision = Element::bf16;
  // Multiples of 64 both: LeNet's activations are.
  EXPECT_EQ(2 * describe_net(bf16)->activations.bound, describe_net(fp32)->activations.bound);
}

}  // namespace
}  // namespace sterna::nets
