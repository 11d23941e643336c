// Against the definition in double precision; small images against finite differences:
// tests/nets/layers. A kernel of ours where the CPU has AVX-512, else oneDNN's.
#include "nets/backend/batch_norm.h"

#include <cmath>
#include <limits>

#include "kernels/isa/isa.h"
#include "tests/nets/bf16_fixture.h"
#include "tests/nets/finite_differences.h"

namespace sterna::nets {
namespace {

class BatchNormBf16 : public Bf16Test {};

/// All that the passes write, row-major.
struct Results {
  Values mean, variance, y, inferred, dx, dscale, dshift;
};

struct Inputs {
  Values x, dy, scale, shift;
};

Inputs random_inputs(const BatchNormSpec& spec, double mean) {
  SeededRandom random(1);
  const std::size_t count = element_count(spec.input), channels = spec.input[1];
  Inputs inputs{random_values(count, 1, random), random_values(count, 1, random),
                random_values(channels, 1, random), random_values(channels, 1, random)};
  for (double& value : inputs.x) value = static_cast<float>(value + mean);
  return inputs;
}

Results run(const BatchNormSpec& spec, const Inputs& inputs, int threads) {
  const auto engine = backend(threads, spec.element);
  const auto operation = engine->batch_norm(spec);
  const auto image = [&](const Values& values) {
    return tensor(spec.input, Layout::channels_last, values, spec.element);
  };
  const Shape channel{spec.input[1]};
  const Tensor x = image(inputs.x), shift = tensor(channel, Layout::row_major, inputs.shift);
  const Tensor scales = tensor(channel, Layout::row_major, inputs.scale);
  const Tensor* scale = spec.scale ? &scales : nullptr;
  Tensor gradient = image(inputs.dy);  // by y, and then by x
  Tensor y(spec.input, Layout::channels_last, spec.element);
  Tensor mean(channel, Layout::row_major), variance(channel, Layout::row_major);
  Tensor dscale(channel, Layout::row_major), dshift(channel, Layout::row_major);
  operation->infer(x, scale, shift, shift,
                   tensor(channel, Layout::row_major, Values(channel[0], 2)), y);
  const Values inferred = row_major(y);
  operation->forward(x, scale, shift, mean, variance, y);
  operation->backward(x, gradient, scale, shift, mean, variance, gradient,
                      spec.scale ? &dscale : nullptr, dshift);
  return {row_major(mean),     row_major(variance), row_major(y),     inferred,
          row_major(gradient), row_major(dscale),   row_major(dshift)};
}

void expect_as_defined(BatchNormSpec spec, std::size_t channels, const Shape& image) {
  spec.input = {image[0], channels, image[1], image[2]};
  SCOPED_TRACE(testing::Message() << channels << " channels");
  Inputs inputs = random_inputs(spec, 0.25);
  if (spec.element == Element::bf16) {
    inputs.x = rounded_to_bf16(inputs.x);
    inputs.dy = rounded_to_bf16(inputs.dy);
  }
  const Results results = run(spec, inputs, 1);
  const auto epsilon = static_cast<double>(spec.epsilon);
  const Values scale = spec.scale ? inputs.scale : Values(channels, 1.0);
  const reference::Moments moments = reference::moments(inputs.x, spec.input);
  const reference::Moments given{inputs.shift, Values(channels, 2.0)};
  Values y = reference::normalize(inputs.x, spec.input, moments, epsilon, scale, inputs.shift);
  Values inferred = reference::normalize(inputs.x, spec.input, given, epsilon, scale, inputs.shift);
  Values dy = inputs.dy;
  if (spec.relu) {
    dy = reference::relu_backward(y, dy);
    y = reference::relu(y);
    inferred = reference::relu(inferred);
  }
  const reference::Gradients d =
      reference::normalize_backward(inputs.x, spec.input, epsilon, scale, dy);
  const double one = tolerance(spec.element);
  expect_near(moments.mean, results.mean, "mean");
  expect_near(moments.variance, results.variance, "variance");
  expect_near(y, results.y, "y", one);
  expect_near(inferred, results.inferred, "inferred", one);
  expect_near(d.x, results.dx, "dx", one);
  expect_near(d.b, results.dshift, "dshift", 1e-4);
  if (spec.scale) expect_near(d.w, results.dscale, "dscale", 1e-4);
}

/// Of one row and of many pixels to a row, with pixels that fill none; of several blocks.
void expect_as_defined(const BatchNormSpec& spec) {
  for (const std::size_t channels : {1U, 16U, 24U, 50U, 192U, 520U}) {
    expect_as_defined(spec, channels, {3, 7, 9});
  }
  expect_as_defined(spec, 16, {5, 41, 43});
  expect_as_defined(spec, 136, {3, 31, 37});
}

TEST(BatchNormOperation, IsAsDefined) {
  expect_as_defined({});
  expect_as_defined({.input = {}, .scale = true, .relu = true});
}

TEST_F(BatchNormBf16, IsAsDefined) {
  // Where a result is rounded otherwise, a rectifier may let through what is 0 here.
  expect_as_defined({.input = {}, .scale = true, .element = Element::bf16});
}

TEST(BatchNormOperation, MeasuresWhatLiesFarFromZero) {
  const BatchNormSpec spec{.input = {4, 20, 33, 35}};
  const Inputs inputs = random_inputs(spec, 1000);
  const Results results = run(spec, inputs, 1);
  const auto [mean, variance] = reference::moments(inputs.x, spec.input);
  // Other CPUs run oneDNN's, which adds all of them up in fp32.
  const bool ours = kernels::best_isa() == kernels::Isa::avx512;
  expect_near(mean, results.mean, "mean", ours ? 1e-6 : 4e-6);
  expect_near(variance, results.variance, "variance", 1e-5);
}

TEST(BatchNormOperation, LetsThroughWhatIsNotANumber) {
  const BatchNormSpec spec{.input = {2, 17, 3, 3}, .relu = true};
  Inputs inputs = random_inputs(spec, 0);
  inputs.x[9] = std::numeric_limits<double>::quiet_NaN();  // in channel 1
  const Results results = run(spec, inputs, 1);
  for (std::size_t i = 0; i < results.y.size(); ++i) {
    EXPECT_EQ(std::isnan(results.inferred[i]), i == 9) << i;
    EXPECT_EQ(std::isnan(results.y[i]), i / 9 % 17 == 1) << i;
    EXPECT_EQ(std::isnan(results.dx[i]), i / 9 % 17 == 1) << i;
  }
}

}  // namespace
}  // namespace sterna::nets
