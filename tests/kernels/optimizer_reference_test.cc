// Optimizers and schedules against what tests/reference/optimizers.py computed of the same steps.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gradients.h"
#include "kernels/optimizer/moving_average.h"
#include "kernels/optimizer/optimizer.h"
#include "kernels/optimizer/schedule.h"

namespace sterna::kernels {
namespace {

constexpr std::size_t kElements = 5;

/// A line of expected_optimizers.txt: its words up to the first bar, and its numbers behind each.
struct Case {
  std::string line;
  std::istringstream head;
  std::vector<std::vector<double>> parts;
};

std::vector<Case> cases_of(const std::string& kind) {
  std::ifstream file(STERNA_EXPECTED_OPTIMIZERS);
  EXPECT_TRUE(file.good()) << STERNA_EXPECTED_OPTIMIZERS;
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream whole(line);
    std::string part;
    std::getline(whole, part, '|');
    Case one{line, std::istringstream(part), {}};
    std::string first;
    one.head >> first;
    if (first != kind) continue;
    while (std::getline(whole, part, '|')) {
      std::istringstream numbers(part);
      std::vector<double>& values = one.parts.emplace_back();
      for (double value = 0; numbers >> value;) values.push_back(value);
    }
    cases.push_back(std::move(one));
  }
  return cases;
}

/// The keys as the line has them, else as they are where nobody sets them.
Numbers numbers_of(std::istream& head, std::span<const NumberKey> keys) {
  Numbers numbers;
  add_initial(numbers, keys);
  double value = 0;
  for (std::string name; head >> name >> value;) {
    const auto known = numbers.find(name);
    EXPECT_NE(known, numbers.end()) << name;
    if (known != numbers.end()) known->second = value;
  }
  return numbers;
}

std::vector<float> gradient_of(std::uint64_t step) {
  std::vector<float> g;
  for (std::size_t i = 0; i < kElements; ++i) {
    const auto x = static_cast<double>(i);
    g.push_back(
        static_cast<float>((x + 1) / 4 * std::sin(0.7 * static_cast<double>(step) + 1.3 * x)));
  }
  return g;
}

TEST(Optimizers, LeadWhereTheReferenceScriptSays) {
  std::vector<Case> cases = cases_of("step");
  ASSERT_GE(cases.size(), optimizers().size());
  for (Case& expected : cases) {
    SCOPED_TRACE(expected.line);
    std::string name;
    double rate = 0;
    float decay = 0;
    expected.head >> name >> rate >> decay;
    const Optimizer rule = find_optimizer(name).value();
    const ConstantsOfStep constants = rule.constants(numbers_of(expected.head, rule.keys));
    for (const Isa isa : every_isa()) {
      std::vector<float> w;
      for (std::size_t i = 0; i < kElements; ++i) w.push_back(0.1F * static_cast<float>(i) - 0.2F);
      std::vector<std::vector<float>> slots;
      for (const float start : rule.slots) slots.emplace_back(kElements, start);
      const std::vector<std::span<float>> places(slots.begin(), slots.end());
      std::vector<float> average = w;
      std::vector<float> shown;
      for (std::uint64_t step = 0; step < 60; ++step) {
        const std::vector<float> g = gradient_of(step);
        const Packet packet{Packing::fp32, 0, std::as_bytes(std::span(g))};
        update(std::span(&packet, 1),
               {rule, constants(rate, step), decay, average_part(0.99, step)},
               {w, places, w, average, average}, isa);
        if (step == 0 || step == 1 || step == 9 || step == 59) {
          shown.insert(shown.end(), w.begin(), w.end());
        }
      }
      ASSERT_EQ(shown.size(), expected.parts[0].size());
      for (std::size_t i = 0; i < shown.size(); ++i) {
        EXPECT_NEAR(shown[i], expected.parts[0][i], 2e-6) << i;
      }
      ASSERT_EQ(average.size(), expected.parts[1].size());
      for (std::size_t i = 0; i < average.size(); ++i) {
        EXPECT_NEAR(average[i], expected.parts[1][i], 2e-6) << i;
      }
    }
  }
}

TEST(Schedules, HaveTheRatesOfTheReferenceScript) {
  std::vector<Case> cases = cases_of("rate");
  ASSERT_GE(cases.size(), schedules().size());
  for (Case& expected : cases) {
    SCOPED_TRACE(expected.line);
    std::string name;
    Course course;
    std::uint64_t warm_up = 0;
    expected.head >> name >> course.initial >> course.steps >> course.steps_per_epoch >> warm_up;
    const Schedule schedule = find_schedule(name).value();
    LearningRate rate = schedule.over(course, numbers_of(expected.head, schedule.keys));
    if (warm_up > 0) rate = warmed_up(rate, warm_up);
    const std::vector<double>& points = expected.parts[0];
    ASSERT_EQ(points.size() % 2, 0U);
    for (std::size_t i = 0; i < points.size(); i += 2) {
      const auto step = static_cast<std::uint64_t>(points[i]);
      EXPECT_NEAR(rate(step), points[i + 1], 1e-14 * course.initial) << step;
    }
  }
}

TEST(Schedules, AreScaledAsAWhole) {
  const Course course{.initial = 0.5, .steps = 10};
  const LearningRate rate =
      scaled(find_schedule("cosine").value().over(course, {{"end_learning_rate", 0.25}}), 3);
  EXPECT_EQ(rate(0), 1.5);
  EXPECT_EQ(rate(10), 0.75);
}

}  // namespace
}  // namespace sterna::kernels
