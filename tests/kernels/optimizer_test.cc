#include "kernels/optimizer.h"

#include <gtest/gtest.h>

#include "packets.h"

namespace sterna::kernels {
namespace {

struct State {
  std::vector<float> next;
  std::vector<float> accumulator;
};

State updated(const RankPackets& ranks, const UpdateOptions& options,
              const std::vector<float>& current, Isa isa) {
  State state{std::vector<float>(current.size(), 99.0F), {}};
  if (options.optimizer == Optimizer::momentum) {
    state.accumulator = gaussian(current.size(), 0.05F, 43);
  }
  update(ranks.packets(), options, current, state.accumulator, state.next, isa);
  return state;
}

std::vector<UpdateOptions> every_option() {
  std::vector<UpdateOptions> options;
  for (const Optimizer optimizer : {Optimizer::gd, Optimizer::momentum}) {
    for (const float decay : {0.0F, 5e-4F}) {
      options.push_back({optimizer, 0.0123F, 0.9F, decay});
    }
  }
  return options;
}

TEST(Update, HasTheSameBitsOnEveryInstructionSet) {
  for (const std::size_t n : lengths()) {
    for (const auto& packing : packings()) {
      const RankPackets ranks(n, packing);
      const auto current = gaussian(n, 0.1F, 44);
      for (const UpdateOptions& options : every_option()) {
        const State expected = updated(ranks, options, current, Isa::scalar);
        for (const Isa isa : every_isa()) {
          const State state = updated(ranks, options, current, isa);
          ASSERT_EQ(bits(state.next), bits(expected.next)) << n;
          ASSERT_EQ(bits(state.accumulator), bits(expected.accumulator)) << n;
        }
      }
    }
  }
}

TEST(Update, AgreesWithTheFormulasInDouble) {
  constexpr std::size_t n = 5001;
  const RankPackets ranks(n, packings().back());
  const auto current = gaussian(n, 0.1F, 44);
  const auto before = gaussian(n, 0.05F, 43);
  for (const UpdateOptions& options : every_option()) {
    const State state = updated(ranks, options, current, best_isa());
    for (std::size_t i = 0; i < n; ++i) {
      double g = 0;
      for (const auto& values : ranks.values()) g += values[i];
      g = g / static_cast<double>(ranks.values().size()) +
          options.weight_decay * double{current[i]};
      if (options.optimizer == Optimizer::momentum) {
        g += double{options.momentum} * before[i];
        ASSERT_NEAR(state.accumulator[i], g, 1e-6);
      }
      ASSERT_NEAR(state.next[i], current[i] - double{options.learning_rate} * g, 1e-7);
    }
  }
}

TEST(Update, IsTheAverageFollowedByTheStepBitForBit) {
  constexpr std::size_t n = 3000;
  const RankPackets ranks(n, {Packing::planes, Packing::planes, Packing::planes});
  const auto current = gaussian(n, 0.1F, 44);
  std::vector<float> g(n);
  average(ranks.packets(), g, best_isa());
  auto a = gaussian(n, 0.05F, 43);
  std::vector<float> expected(n);
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = 0.9F * a[i] + g[i];
    expected[i] = current[i] - 0.0123F * a[i];
  }
  const State state = updated(ranks, {Optimizer::momentum, 0.0123F, 0.9F, 0}, current, best_isa());
  EXPECT_EQ(bits(state.next), bits(expected));
  EXPECT_EQ(bits(state.accumulator), bits(a));
}

TEST(Update, LeavesTheCurrentParametersAlone) {
  const RankPackets ranks(1000, {Packing::planes, Packing::fp32});
  const auto current = gaussian(1000, 0.1F, 44);
  const auto before = bits(current);
  for (const Isa isa : every_isa()) {
    updated(ranks, {Optimizer::gd, 0.1F, 0, 0}, current, isa);
    EXPECT_EQ(bits(current), before);
  }
}

TEST(Update, WithARateOfZeroKeepsTheParametersButNotTheMomentum) {
  const RankPackets ranks(1000, {Packing::planes, Packing::fp32});
  const auto current = gaussian(1000, 0.1F, 44);
  for (const Isa isa : every_isa()) {
    const State state = updated(ranks, {Optimizer::momentum, 0, 0.9F, 0}, current, isa);
    EXPECT_EQ(bits(state.next), bits(current));
    EXPECT_NE(bits(state.accumulator), bits(gaussian(1000, 0.05F, 43)));
  }
}

}  // namespace
}  // namespace sterna::kernels
