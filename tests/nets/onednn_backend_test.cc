// Each operation against double-precision finite differences of its definition.
#include "nets/onednn/onednn_backend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <vector>

#include "kernels/isa/isa.h"
#include "nets/tensor/loss.h"
#include "random_values.h"
#include "reference.h"

namespace sterna::nets {
namespace {

using reference::Values;
using Function = std::function<Values(const Values&)>;

std::unique_ptr<Backend> backend(int threads = 1) {
  auto made = make_onednn_backend({.threads = threads});
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(made).value();
}

double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The gradient of dot(dy, f(at)) by central differences.
Values finite_differences(const Function& f, Values at, const Values& dy) {
  const double h = 1e-5;
  Values gradient(at.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double value = at[i];
    at[i] = value + h;
    const double above = dot(dy, f(at));
    at[i] = value - h;
    gradient[i] = (above - dot(dy, f(at))) / (2 * h);
    at[i] = value;
  }
  return gradient;
}

void expect_near(const Values& expected, const Values& actual, const char* what) {
  ASSERT_EQ(expected.size(), actual.size()) << what;
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(expected[i], actual[i], 1e-5 * (1 + largest)) << what << " at " << i;
}

void check_convolution(const Shape& in, std::size_t outputs, const Window& window,
                       int threads = 1) {
  SeededRandom random(1);
  const std::size_t k = window.kernel;
  const Shape out{in[0], outputs, window.out(in[2]), window.out(in[3])};
  const Shape weights{outputs, in[1], k, k};
  const Values x = random_values(element_count(in), 1, random);
  const Values w = random_values(element_count(weights), 1, random);
  const Values b = random_values(outputs, 1, random);
  const Values dy = random_values(element_count(out), 1, random);

  const auto engine = backend(threads);
  const auto operation =
      engine->convolution({.input = in, .out_channels = outputs, .window = window});
  const Tensor x_ = tensor(in, Layout::channels_last, x);
  const Tensor w_ = tensor(weights, Layout::row_major, w);
  const Tensor b_ = tensor({outputs}, Layout::row_major, b);
  const Tensor dy_ = tensor(out, Layout::channels_last, dy);
  Tensor y_(out, Layout::channels_last), dx_(in, Layout::channels_last);
  Tensor dw_(weights), db_({outputs});
  operation->forward(x_, w_, b_, y_);
  operation->backward_parameters(x_, dy_, dw_, db_);
  operation->backward_data(dy_, w_, dx_);

  expect_near(reference::convolution(x, in, w, b, outputs, window), row_major(y_), "y");
  const auto by_x = [&](const Values& v) {
    return reference::convolution(v, in, w, b, outputs, window);
  };
  const auto by_w = [&](const Values& v) {
    return reference::convolution(x, in, v, b, outputs, window);
  };
  const auto by_b = [&](const Values& v) {
    return reference::convolution(x, in, w, v, outputs, window);
  };
  expect_near(finite_differences(by_x, x, dy), row_major(dx_), "dx");
  expect_near(finite_differences(by_w, w, dy), row_major(dw_), "dw");
  expect_near(finite_differences(by_b, b, dy), row_major(db_), "db");
  const auto d = reference::convolution_backward(x, in, w, dy, outputs, window);
  expect_near(d.x, row_major(dx_), "reference dx");
  expect_near(d.w, row_major(dw_), "reference dw");
  expect_near(d.b, row_major(db_), "reference db");
}

// oneDNN chooses once per process, so these look on from a process of their own.
class OneDnnInstructionSetDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(OneDnnInstructionSetDeathTest, IsCapped) {
  const auto capped = [] {
    const auto first = make_onednn_backend({.isa = "scalar"});
    const bool made = first.ok() && (*first)->inner_product({.batch = 1, .in = 4, .out = 4});
    // What it uses is below this cap too.
    std::exit(made && make_onednn_backend({.isa = "avx512"}).ok() ? 0 : 1);
  };
  EXPECT_EXIT(capped(), testing::ExitedWithCode(0), "");
}

TEST_F(OneDnnInstructionSetDeathTest, IsNotCappedTooLate) {
  const auto late = [] {
    const auto first = make_onednn_backend({});
    const bool made = first.ok() && (*first)->inner_product({.batch = 1, .in = 4, .out = 4});
    const auto second = make_onednn_backend({.isa = "scalar"});
    std::exit(made && !second && second.error().code == Errc::unavailable ? 0 : 1);
  };
  if (kernels::best_isa() != kernels::Isa::avx512) GTEST_SKIP() << "no AVX-512 here";
  EXPECT_EXIT(late(), testing::ExitedWithCode(0), "");
}

TEST(OneDnnBackend, RefusesAnInstructionSetItDoesNotKnow) {
  EXPECT_EQ(make_onednn_backend({.isa = "mmx"}).error().code, Errc::invalid_argument);
}

TEST(Convolution, AgreesWithFiniteDifferences) {
  check_convolution({2, 3, 5, 6}, 4, {.kernel = 3, .stride = 1, .padding = Padding::same});
}
TEST(Convolution, AgreesWithFiniteDifferencesOverOneChannel) {
  check_convolution({2, 1, 7, 7}, 5, {.kernel = 5, .stride = 1, .padding = Padding::same});
}
TEST(Convolution, AgreesWithFiniteDifferencesWhereChannelsFillVectors) {
  check_convolution({1, 16, 2, 2}, 16, {.kernel = 3, .stride = 1, .padding = Padding::same});
}
TEST(Convolution, AgreesWithFiniteDifferencesWhereChannelsOverflowVectors) {
  check_convolution({1, 20, 2, 2}, 18, {.kernel = 3, .stride = 1, .padding = Padding::same});
}
TEST(Convolution, AgreesWithFiniteDifferencesWithoutPadding) {
  check_convolution({2, 2, 6, 5}, 3, {.kernel = 3, .stride = 1, .padding = Padding::valid});
}
TEST(Convolution, AgreesWithFiniteDifferencesWhereTheStrideLeavesOddPadding) {
  check_convolution({1, 2, 6, 7}, 3, {.kernel = 3, .stride = 2, .padding = Padding::same});
}
TEST(Convolution, AgreesWithFiniteDifferencesOnTwoThreads) {
  check_convolution({4, 3, 5, 5}, 4, {.kernel = 3, .stride = 1, .padding = Padding::same}, 2);
}

TEST(InnerProduct, AgreesWithFiniteDifferences) {
  SeededRandom random(2);
  const std::size_t batch = 3, in = 21, out = 5;
  const Values x = random_values(batch * in, 1, random), w = random_values(in * out, 1, random);
  const Values b = random_values(out, 1, random), dy = random_values(batch * out, 1, random);

  const auto engine = backend();
  const auto operation = engine->inner_product({.batch = batch, .in = in, .out = out});
  const Tensor x_ = tensor({batch, in}, Layout::row_major, x);
  const Tensor w_ = tensor({out, in}, Layout::row_major, w);
  const Tensor b_ = tensor({out}, Layout::row_major, b);
  const Tensor dy_ = tensor({batch, out}, Layout::row_major, dy);
  Tensor y_({batch, out}), dx_({batch, in}), dw_({out, in}), db_({out});
  operation->forward(x_, w_, b_, y_);
  operation->backward_parameters(x_, dy_, dw_, db_);
  operation->backward_data(dy_, w_, dx_);

  expect_near(reference::inner_product(x, batch, w, b), row_major(y_), "y");
  const auto by_x = [&](const Values& v) { return reference::inner_product(v, batch, w, b); };
  const auto by_w = [&](const Values& v) { return reference::inner_product(x, batch, v, b); };
  const auto by_b = [&](const Values& v) { return reference::inner_product(x, batch, w, v); };
  expect_near(finite_differences(by_x, x, dy), row_major(dx_), "dx");
  expect_near(finite_differences(by_w, w, dy), row_major(dw_), "dw");
  expect_near(finite_differences(by_b, b, dy), row_major(db_), "db");
  const auto d = reference::inner_product_backward(x, batch, w, dy);
  expect_near(d.x, row_major(dx_), "reference dx");
  expect_near(d.w, row_major(dw_), "reference dw");
}

void check_max_pool(const Shape& in, const Window& window, int threads = 1) {
  SeededRandom random(3);
  const Shape out{in[0], in[1], window.out(in[2]), window.out(in[3])};
  // All negative: padding that counted as 0 would win.
  Values x = random_values(element_count(in), 1, random);
  for (double& value : x) value -= 2;
  const Values dy = random_values(element_count(out), 1, random);

  const auto engine = backend(threads);
  const auto operation = engine->max_pool({.input = in, .window = window});
  const Tensor x_ = tensor(in, Layout::channels_last, x);
  const Tensor dy_ = tensor(out, Layout::channels_last, dy);
  Tensor y_(out, Layout::channels_last), dx_(in, Layout::channels_last);
  operation->forward(x_, y_);
  operation->backward(dy_, dx_);

  expect_near(reference::max_pool(x, in, window), row_major(y_), "y");
  const auto f = [&](const Values& v) { return reference::max_pool(v, in, window); };
  expect_near(finite_differences(f, x, dy), row_major(dx_), "dx");
  expect_near(reference::max_pool_backward(x, in, dy, window), row_major(dx_), "reference dx");
}

TEST(MaxPool, AgreesWithFiniteDifferences) {
  check_max_pool({2, 3, 6, 4}, {.kernel = 2, .stride = 2, .padding = Padding::same});
}
TEST(MaxPool, AgreesWithFiniteDifferencesWhereChannelsOverflowVectors) {
  check_max_pool({1, 20, 4, 4}, {.kernel = 2, .stride = 2, .padding = Padding::same});
}
TEST(MaxPool, AgreesWithFiniteDifferencesOnManyThreads) {
  check_max_pool({2, 20, 4, 6}, {.kernel = 2, .stride = 2, .padding = Padding::same}, 7);
}
TEST(MaxPool, AgreesWithFiniteDifferencesWhereOddSizesArePadded) {
  check_max_pool({2, 2, 5, 7}, {.kernel = 2, .stride = 2, .padding = Padding::same});
}
TEST(MaxPool, AgreesWithFiniteDifferencesWhereWindowsOverlap) {
  check_max_pool({1, 5, 7, 6}, {.kernel = 3, .stride = 2, .padding = Padding::same});
  check_max_pool({1, 5, 7, 7}, {.kernel = 3, .stride = 2, .padding = Padding::valid});
}

TEST(MaxPool, GivesTheGradientOfEqualValuesToTheFirst) {
  const Shape in{1, 3, 2, 2};
  const auto engine = backend();
  const auto operation = engine->max_pool(
      {.input = in, .window = {.kernel = 2, .stride = 2, .padding = Padding::same}});
  const Tensor x = tensor(in, Layout::channels_last, Values(12, 0.5));
  const Tensor dy = tensor({1, 3, 1, 1}, Layout::channels_last, Values{1, 2, 3});
  Tensor y({1, 3, 1, 1}, Layout::channels_last), dx(in, Layout::channels_last);
  operation->forward(x, y);
  operation->backward(dy, dx);
  EXPECT_EQ(row_major(dx), (Values{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}));
}

TEST(Relu, AgreesWithFiniteDifferences) {
  SeededRandom random(4);
  const Values x = random_values(77, 1, random), dy = random_values(77, 1, random);
  const auto engine = backend();
  const auto operation = engine->relu(77);
  Tensor y_ = tensor({77}, Layout::row_major, x), dx_ = tensor({77}, Layout::row_major, dy);
  operation->forward(y_);
  operation->backward(y_, dx_);
  expect_near(reference::relu(x), row_major(y_), "y");
  expect_near(finite_differences(reference::relu, x, dy), row_major(dx_), "dx");
  expect_near(reference::relu_backward(x, dy), row_major(dx_), "reference dx");
}

TEST(Relu, PassesNoGradientAtZero) {
  const auto engine = backend();
  Tensor y({3}), dx = tensor({3}, Layout::row_major, Values{1, 1, 1});
  engine->relu(3)->backward(y, dx);
  EXPECT_EQ(row_major(dx), (Values{0, 0, 0}));
}

TEST(Relayout, TurnsChannelsLastIntoRowMajorAndBackAndIsCounted) {
  SeededRandom random(5);
  const Shape shape{2, 5, 3, 4};
  const Values x = random_values(element_count(shape), 1, random);
  const auto engine = backend();
  const auto operation = engine->relayout(shape);
  Tensor flat({2, 60}), back(shape, Layout::channels_last);
  operation->forward(tensor(shape, Layout::channels_last, x), flat);
  EXPECT_EQ(row_major(flat), x);
  operation->backward(flat, back);
  EXPECT_EQ(row_major(back), x);
  EXPECT_EQ(engine->reorders(), 2U);
}

TEST(OneDnnBackend, RefusesFewerThanOneThread) {
  const auto made = make_onednn_backend({.threads = 0});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Errc::invalid_argument);
}

TEST(OneDnnBackendDeathTest, RefusesThreadsThatWouldSpin) {
  EXPECT_EXIT(
      {
        unsetenv("OMP_WAIT_POLICY");
        unsetenv("GOMP_SPINCOUNT");
        const auto made = make_onednn_backend({.threads = 2});
        const bool refused = !made.ok() && made.error().code == Errc::invalid_argument;
        _exit(refused && make_onednn_backend({.threads = 1}).ok() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sterna::nets
