// Each net of the zoo against what tests/reference/net_values.py computed of the same parameters
// and images, in PyTorch and in float64.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "nets/zoo/zoo.h"
#include "tests/nets/net_fixture.h"

namespace sterna::nets {
namespace {

constexpr double kTolerance = 1e-4;

/// A line `values`: of a gradient, or of a batch's mean or variance.
struct ExpectedValues {
  std::string name;
  std::string shape;
  double norm = 0;
  double projection = 0;
};

/// A line `net` and what belongs to it.
struct Case {
  NetOptions options;
  std::string draw;
  std::vector<double> logits;
  double cross_entropy = 0;
  double regularization = 0;
  std::vector<ExpectedValues> values;  ///< of the small nets
};

std::vector<Case> expected_nets() {
  std::ifstream file(STERNA_EXPECTED_NETS);
  EXPECT_TRUE(file.good()) << STERNA_EXPECTED_NETS;
  std::vector<Case> cases;
  float decay = 0;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string kind;
    line >> kind;
    if (kind == "decay") {
      line >> decay;
    } else if (kind == "net") {
      NetOptions& options = cases.emplace_back().options;
      options.weight_decay = decay;
      options.keep = 1;
      line >> options.name >> options.images.rows >> options.images.columns >>
          options.images.classes >> options.batch >> options.divisor >> cases.back().draw;
      options.images.channels = 3;
      options.hidden.assign(find_net(options.name)->hidden.begin(),
                            find_net(options.name)->hidden.end());
    } else if (kind == "logits") {
      for (double value = 0; line >> value;) cases.back().logits.push_back(value);
      line.clear();
    } else if (kind == "loss") {
      line >> cases.back().cross_entropy >> cases.back().regularization;
    } else {
      ExpectedValues values;
      std::string bar;
      line >> values.name >> values.shape >> bar >> values.norm >> values.projection;
      cases.back().values.push_back(values);
    }
    EXPECT_FALSE(line.fail()) << text;
  }
  return cases;
}

/// What net_values.py calls the elements of that name.
std::vector<double> elements(const std::string& draw, const std::string& name, std::size_t count,
                             double scale = 1) {
  std::uint64_t seed = 0xCBF29CE484222325;
  for (const char c : fmt::format("{}/{}", draw, name))
    seed = (seed ^ static_cast<std::uint8_t>(c)) * 0x100000001B3;
  SeededRandom random(seed);
  return random_values(count, scale, random);
}

struct Spread {
  double scale = 0;
  double center = 0;
};

Spread spread(const ParameterSpec& spec) {
  switch (spec.role) {
    case Role::weight:
      return {
          std::sqrt(static_cast<double>(6 * spec.shape[0]) / static_cast<double>(spec.count()))};
    case Role::bias:
      return {0.125};
    case Role::beta:
      return {0.5};
    case Role::gamma:
      return {0.5, 1};
    case Role::statistic:
      return spec.name.ends_with("/mean") ? Spread{0.25} : Spread{0.5, 1};
  }
  return {};
}

void fill(Net& net, const std::string& draw) {
  for (std::size_t i = 0; i < net.parameters().size(); ++i) {
    const ParameterSpec& spec = net.parameters()[i];
    const auto [scale, center] = spread(spec);
    const std::vector<double> values = elements(draw, spec.name, spec.count(), scale);
    for (std::size_t j = 0; j < values.size(); ++j)
      net.parameter(i)[j] = static_cast<float>(values[j] + center);
    net.parameters_changed(i);
  }
}

/// The largest difference over the largest expected value.
double relative_error(std::span<const float> values, const std::vector<double>& expected) {
  EXPECT_EQ(values.size(), expected.size());
  double error = 0, size = 0;
  for (std::size_t i = 0; i < std::min(values.size(), expected.size()); ++i) {
    error = std::max(error, std::abs(values[i] - expected[i]));
    size = std::max(size, std::abs(expected[i]));
  }
  return error / size;
}

std::string shape_of(const ParameterSpec& spec) {
  std::string text;
  for (const std::size_t extent : spec.shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

void expect_values(const Net& net, const Gradients& found,
                   const std::vector<ExpectedValues>& expected) {
  ASSERT_EQ(net.parameters().size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const ParameterSpec& spec = net.parameters()[i];
    const auto line = std::ranges::find(expected, spec.name, &ExpectedValues::name);
    ASSERT_NE(line, expected.end()) << spec.name;
    EXPECT_EQ(shape_of(spec), line->shape) << spec.name;
    const std::vector<double> probe = elements("0", "projection", found[i].size());
    const double square =
        std::inner_product(found[i].begin(), found[i].end(), found[i].begin(), 0.0);
    const double projection =
        std::inner_product(found[i].begin(), found[i].end(), probe.begin(), 0.0);
    EXPECT_NEAR(std::sqrt(square), line->norm, kTolerance * line->norm) << spec.name;
    EXPECT_NEAR(projection, line->projection, kTolerance * line->norm) << spec.name;
  }
}

void expect_net(const Case& expected) {
  const auto made = make_net(expected.options);
  ASSERT_TRUE(made.ok()) << made.error().message;
  Net& net = *made.value();
  fill(net, expected.draw);
  const std::size_t batch = net.batch();
  const std::vector<double> drawn =
      elements(expected.draw, "images", batch * element_count(net.input_shape()));
  const std::vector<float> images(drawn.begin(), drawn.end());
  std::vector<std::uint16_t> labels(batch);
  for (std::size_t n = 0; n < batch; ++n) labels[n] = static_cast<std::uint16_t>(n % net.classes());

  std::vector<float> logits(batch * net.classes());
  ASSERT_TRUE(net.infer(images, batch, logits).ok());
  EXPECT_LT(relative_error(logits, expected.logits), kTolerance);

  Recorder recorder;
  const auto loss = net.train_step(images, labels, recorder);
  ASSERT_TRUE(loss.ok()) << loss.error().message;
  EXPECT_NEAR(loss->cross_entropy, expected.cross_entropy, kTolerance * expected.cross_entropy);
  EXPECT_NEAR(loss->regularization, expected.regularization, kTolerance * expected.regularization);
  if (!expected.values.empty()) expect_values(net, recorder.gradients, expected.values);
}

TEST(Zoo, EachNetHasTheLogitsAndTheGradientsOfTheReferenceScript) {
  std::vector<std::string_view> names;
  const std::vector<Case> cases = expected_nets();
  for (const Case& expected : cases) {
    SCOPED_TRACE(expected.options.name);
    names.emplace_back(expected.options.name);
    expect_net(expected);
  }
  for (const std::string_view name : net_names())
    EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
}

}  // namespace
}  // namespace sterna::nets
