#include "kernels/optimizer/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string_view>

#include "kernels/optimizer/schedule.h"
#include "packets.h"

namespace sterna::kernels {
namespace {

struct State {
  std::vector<float> next;
  std::vector<std::vector<float>> slots;
};

Optimizer optimizer(std::string_view name) { return find_optimizer(name).value(); }

/// With its keys as they are where nobody sets them.
StepConstants constants_of(const Optimizer& rule, double rate, std::uint64_t step) {
  Numbers values;
  add_initial(values, rule.keys);
  return rule.constants(values)(rate, step);
}

UpdateOptions options_of(std::string_view name, double rate, float decay = 0,
                         std::uint64_t step = 4) {
  const Optimizer rule = optimizer(name);
  return {rule, constants_of(rule, rate, step), decay};
}

// Slots as they may be after some steps: what is a mean or a sum of squares is never negative.
State state_of(const Optimizer& rule, std::size_t count) {
  State state{std::vector<float>(count, 99.0F), {}};
  for (std::size_t i = 0; i < rule.slots.size(); ++i) {
    state.slots.push_back(gaussian(count, 0.05F, 43 + i));
    if (i == 0 && rule.slots[i] == 0) continue;
    for (float& v : state.slots[i]) v *= v;
  }
  return state;
}

std::vector<std::span<float>> spans(std::vector<std::vector<float>>& slots) {
  return {slots.begin(), slots.end()};
}

template <class Gradient>
State updated(const Gradient& gradient, const UpdateOptions& options,
              const std::vector<float>& current, Isa isa) {
  State state = state_of(options.optimizer, current.size());
  const auto slots = spans(state.slots);
  update(gradient, options, {current, slots, state.next}, isa);
  return state;
}

State updated(const SumPacket& sums, const UpdateOptions& options,
              const std::vector<float>& current, Isa isa) {
  State state = state_of(options.optimizer, current.size());
  const auto slots = spans(state.slots);
  const SumStep step{sums, options};
  update(std::span(&step, 1), {current, slots, state.next}, isa);
  return state;
}

std::vector<std::vector<std::uint32_t>> all_bits(const State& state) {
  std::vector<std::vector<std::uint32_t>> all{bits(state.next)};
  for (const auto& slot : state.slots) all.push_back(bits(slot));
  return all;
}

std::vector<UpdateOptions> every_option() {
  std::vector<UpdateOptions> options;
  for (const std::string_view name : optimizer_names()) {
    for (const float decay : {0.0F, 5e-4F}) options.push_back(options_of(name, 0.0123, decay));
  }
  return options;
}

TEST(Optimizers, AreFoundByName) {
  EXPECT_EQ(optimizer("gd").slots.size(), 0U);
  EXPECT_EQ(optimizer("momentum").slots.size(), 1U);
  EXPECT_EQ(optimizer("adam").slots.size(), 2U);
  const auto unknown = find_optimizer("sgd");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message,
            "\"sgd\" is none of gd, momentum, nesterov, adam, adamw, rmsprop, adagrad");
}

// The paper's algorithm, in double, for 3,000 steps of a gradient that changes.
TEST(Adam, FollowsTheReferenceInDouble) {
  constexpr std::size_t n = 40;
  constexpr double rate = 0.01;
  const Optimizer adam = optimizer("adam");
  std::vector<float> w = gaussian(n, 0.1F, 7);
  std::vector<float> next(n);
  std::vector<std::vector<float>> slots(2, std::vector<float>(n));
  const auto places = spans(slots);
  std::vector<double> w64(w.begin(), w.end());
  std::vector<double> m64(n);
  std::vector<double> v64(n);
  for (std::uint64_t step = 0; step < 3000; ++step) {
    auto g = gaussian(n, 0.1F, 1000 + step);
    for (std::size_t i = 0; i < n; ++i) g[i] += w[i] - 0.05F * static_cast<float>(i);
    const Packet packet{Packing::fp32, 0, std::as_bytes(std::span(g))};
    const UpdateOptions options{adam, constants_of(adam, rate, step), 0};
    update(std::span(&packet, 1), options, {w, places, next}, best_isa());
    w.swap(next);
    const auto t = static_cast<double>(step + 1);
    const double corrected = rate * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t));
    for (std::size_t i = 0; i < n; ++i) {
      m64[i] = 0.9 * m64[i] + 0.1 * double{g[i]};
      v64[i] = 0.999 * v64[i] + 0.001 * double{g[i]} * double{g[i]};
      w64[i] -= corrected * m64[i] / (std::sqrt(v64[i]) + 1e-8);
      ASSERT_NEAR(w[i], w64[i], 2e-4) << step;
    }
  }
}

TEST(Adam, MovesByTheLearningRateInItsFirstStep) {
  const std::vector<float> g{1e-3F, -5.0F, 2e-6F, 0.0F};
  const std::vector<float> w(4, 0.0F);
  const Packet packet{Packing::fp32, 0, std::as_bytes(std::span(g))};
  const Optimizer adam = optimizer("adam");
  for (const Isa isa : every_isa()) {
    std::vector<float> next(4);
    std::vector<std::vector<float>> slots(2, std::vector<float>(4));
    const auto places = spans(slots);
    const UpdateOptions options{adam, constants_of(adam, 0.01, 0), 0};
    update(std::span(&packet, 1), options, {w, places, next}, isa);
    EXPECT_NEAR(next[0], -0.01, 1e-5);
    EXPECT_NEAR(next[1], 0.01, 1e-5);
    EXPECT_LT(next[2], -0.005);  // epsilon counts against a gradient that small
    EXPECT_EQ(next[3], 0.0F);
  }
}

TEST(Adam, CorrectsTheBiasAsTheFormulaSays) {
  const Optimizer adam = optimizer("adam");
  for (const std::uint64_t t :
       std::vector<std::uint64_t>{1, 2, 3, 10, 1000, 100'000, 4'000'000'000}) {
    const auto exact = [&](double beta) { return 1 - std::pow(beta, static_cast<double>(t)); };
    const double expected = 0.001 * std::sqrt(exact(0.999)) / exact(0.9);
    const StepConstants constants = constants_of(adam, 0.001, t - 1);
    EXPECT_FLOAT_EQ(constants.value[0], static_cast<float>(expected)) << t;
    EXPECT_EQ(constants.value[1], static_cast<float>(1 - 0.9));
    EXPECT_EQ(constants.value[2], static_cast<float>(1 - 0.999));
    EXPECT_EQ(constants.value[3], 1e-8F);
  }
}

TEST(Update, HasTheSameBitsOnEveryInstructionSet) {
  for (const std::size_t n : lengths()) {
    for (const auto& packing : packings()) {
      const RankPackets ranks(n, packing);
      const auto current = gaussian(n, 0.1F, 44);
      for (const UpdateOptions& options : every_option()) {
        const auto expected = all_bits(updated(ranks.packets(), options, current, Isa::scalar));
        for (const Isa isa : every_isa()) {
          ASSERT_EQ(all_bits(updated(ranks.packets(), options, current, isa)), expected) << n;
        }
      }
    }
  }
}

TEST(Update, AgreesWithTheFormulasInDouble) {
  constexpr std::size_t n = 5001;
  const RankPackets ranks(n, packings().back());
  const auto current = gaussian(n, 0.1F, 44);
  for (const UpdateOptions& options : every_option()) {
    const State before = state_of(options.optimizer, n);
    const State state = updated(ranks.packets(), options, current, best_isa());
    for (std::size_t i = 0; i < n; ++i) {
      double g = 0;
      for (const auto& values : ranks.values()) g += values[i];
      g /= static_cast<double>(ranks.values().size());
      const double decayed = options.weight_decay * double{current[i]};
      if (!options.optimizer.decays) g += decayed;
      double change = 0.0123 * g;
      if (options.optimizer.name == "momentum") {
        const double a = 0.9 * before.slots[0][i] + g;
        ASSERT_NEAR(state.slots[0][i], a, 1e-6);
        change = 0.0123 * a;
      } else if (options.optimizer.name == "nesterov") {
        const double a = 0.9 * before.slots[0][i] + g;
        ASSERT_NEAR(state.slots[0][i], a, 1e-6);
        change = 0.0123 * (g + 0.9 * a);
      } else if (options.optimizer.name == "rmsprop") {
        const double s = 0.9 * before.slots[0][i] + 0.1 * g * g;
        ASSERT_NEAR(state.slots[0][i], s, 1e-6);
        change = 0.9 * before.slots[1][i] + 0.0123 * g / std::sqrt(s + 1);
        ASSERT_NEAR(state.slots[1][i], change, 1e-6);
      } else if (options.optimizer.name == "adagrad") {
        const double s = before.slots[0][i] + g * g;
        ASSERT_NEAR(state.slots[0][i], s, 1e-6);
        change = 0.0123 * g / std::sqrt(s);
      } else if (options.optimizer.name.starts_with("adam")) {
        const double m = 0.9 * before.slots[0][i] + 0.1 * g;
        const double v = 0.999 * before.slots[1][i] + 0.001 * g * g;
        ASSERT_NEAR(state.slots[0][i], m, 1e-6);
        ASSERT_NEAR(state.slots[1][i], v, 1e-6);
        const double rate = 0.0123 * std::sqrt(1 - std::pow(0.999, 5)) / (1 - std::pow(0.9, 5));
        change = rate * m / (std::sqrt(v) + 1e-8);
        if (options.optimizer.decays) change += 0.0123 * decayed;
      } else {
        ASSERT_EQ(options.optimizer.name, "gd") << "has no formula here";
      }
      ASSERT_NEAR(state.next[i], current[i] - change, 1e-7 + 1e-5 * std::abs(change));
    }
  }
}

// Numbers are kept by their keys' names alone: whoever brings a key brings the same.
TEST(Optimizer, AndScheduleShareKeysOnlyAsTheyAreAndKeepNoMoreSlotsThanAStepTakes) {
  std::map<std::string_view, NumberKey> keys;
  const auto add = [&](std::span<const NumberKey> brought) {
    for (const NumberKey& key : brought) {
      const NumberKey& known = keys.emplace(key.name, key).first->second;
      EXPECT_EQ(known.initial, key.initial) << key.name;
      EXPECT_EQ(known.help, key.help) << key.name;
      EXPECT_EQ(known.limits.low, key.limits.low) << key.name;
      EXPECT_EQ(known.limits.high, key.limits.high) << key.name;
    }
  };
  for (const Optimizer& optimizer : optimizers()) {
    EXPECT_LE(optimizer.slots.size(), kMostSlots) << optimizer.name;
    add(optimizer.keys);
  }
  for (const Schedule& schedule : schedules()) add(schedule.keys);
  EXPECT_GE(keys.size(), 4U);
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
  const State state = updated(ranks.packets(), options_of("momentum", 0.0123), current, best_isa());
  EXPECT_EQ(bits(state.next), bits(expected));
  EXPECT_EQ(bits(state.slots[0]), bits(a));
}

TEST(Update, FromSumsIsTheStepFromWhatTheyDecodeTo) {
  for (const std::size_t n : lengths()) {
    const RankPackets ranks(n, std::vector<Packing>(5, Packing::planes));
    std::vector<std::byte> sums(sum_bytes(n, 5));
    sum_trits(ranks.packets(), sums, Isa::scalar);
    const SumPacket packet{5, 0.3F, sums};
    std::vector<float> g(n);
    decode_sums(packet, g, Isa::scalar);
    const Packet decoded{Packing::fp32, 0, std::as_bytes(std::span(g))};
    const auto current = gaussian(n, 0.1F, 44);
    for (const UpdateOptions& options : every_option()) {
      const auto expected =
          all_bits(updated(std::span(&decoded, 1), options, current, Isa::scalar));
      for (const Isa isa : every_isa()) {
        ASSERT_EQ(all_bits(updated(packet, options, current, isa)), expected) << n;
      }
    }
  }
}

TEST(Update, BySeveralSumsAtOnceIsOneStepAfterTheOther) {
  for (const std::size_t n : {std::size_t{700}, std::size_t{300'003}}) {
    const RankPackets ranks(n, std::vector<Packing>(5, Packing::planes));
    std::vector<std::byte> sums(sum_bytes(n, 5));
    sum_trits(ranks.packets(), sums, Isa::scalar);
    const auto current = gaussian(n, 0.1F, 44);
    for (const std::string_view name : optimizer_names()) {
      std::vector<SumStep> steps;
      for (std::uint64_t i = 0; i < 3; ++i) {
        steps.push_back(
            {{5, 0.3F + static_cast<float>(i), sums}, options_of(name, 0.01, 5e-4F, i)});
      }
      State expected = state_of(steps[0].options.optimizer, n);
      expected.next = current;
      const auto places = spans(expected.slots);
      for (const SumStep& step : steps) {
        update(std::span(&step, 1), {expected.next, places, expected.next}, Isa::scalar);
      }
      for (const Isa isa : every_isa()) {
        State state = state_of(steps[0].options.optimizer, n);
        const auto slots = spans(state.slots);
        update(steps, {current, slots, state.next}, isa);
        ASSERT_EQ(all_bits(state), all_bits(expected)) << name << n;
      }
    }
  }
}

// Long ones are written past the cache where the address allows it.
TEST(Update, OfManyParametersHasTheSameBitsOnEveryInstructionSet) {
  constexpr std::size_t n = 300'003;
  const RankPackets ranks(n, {Packing::planes, Packing::fp32});
  const auto current = gaussian(n, 0.1F, 44);
  std::vector<float> room(n + 16);
  void* start = room.data();
  std::size_t space = room.size() * sizeof(float);
  const std::span next(static_cast<float*>(std::align(64, n * sizeof(float), start, space)), n);
  for (const std::string_view name : optimizer_names()) {
    const UpdateOptions options = options_of(name, 0.0123);
    const State expected = updated(ranks.packets(), options, current, Isa::scalar);
    for (const Isa isa : every_isa()) {
      State state = state_of(options.optimizer, n);
      const auto slots = spans(state.slots);
      update(ranks.packets(), options, {current, slots, next}, isa);
      EXPECT_EQ(bits(next), bits(expected.next)) << name;
      for (std::size_t i = 0; i < slots.size(); ++i) {
        EXPECT_EQ(bits(slots[i]), bits(expected.slots[i])) << name;
      }
    }
  }
}

TEST(Update, InPlaceHasTheSameBits) {
  for (const std::size_t n : {std::size_t{3000}, std::size_t{300'003}}) {
    const RankPackets ranks(n, {Packing::planes, Packing::fp32});
    const auto current = gaussian(n, 0.1F, 44);
    for (const UpdateOptions& options : every_option()) {
      for (const Isa isa : every_isa()) {
        const State expected = updated(ranks.packets(), options, current, isa);
        State state = state_of(options.optimizer, n);
        state.next = current;
        const auto slots = spans(state.slots);
        update(ranks.packets(), options, {state.next, slots, state.next}, isa);
        ASSERT_EQ(all_bits(state), all_bits(expected)) << n;
      }
    }
  }
}

TEST(Update, LeavesTheCurrentParametersAlone) {
  const RankPackets ranks(1000, {Packing::planes, Packing::fp32});
  const auto current = gaussian(1000, 0.1F, 44);
  const auto before = bits(current);
  for (const Isa isa : every_isa()) {
    for (const std::string_view name : optimizer_names()) {
      updated(ranks.packets(), options_of(name, 0.1), current, isa);
      EXPECT_EQ(bits(current), before);
    }
  }
}

TEST(Update, WithARateOfZeroKeepsTheParametersButNotTheSlots) {
  const RankPackets ranks(1000, {Packing::planes, Packing::fp32});
  const auto current = gaussian(1000, 0.1F, 44);
  for (const Isa isa : every_isa()) {
    for (const std::string_view name : optimizer_names()) {
      const State before = state_of(optimizer(name), 1000);
      const State state = updated(ranks.packets(), options_of(name, 0), current, isa);
      // An rmsprop's momentum has the rates of the steps before in it.
      EXPECT_EQ(bits(state.next) == bits(current), name != "rmsprop") << name;
      for (std::size_t i = 0; i < state.slots.size(); ++i) {
        EXPECT_NE(bits(state.slots[i]), bits(before.slots[i]));
      }
    }
  }
}

}  // namespace
}  // namespace sterna::kernels
