#include "nets/backend/convolution.h"

#include "tests/nets/finite_differences.h"

namespace sterna::nets {
namespace {

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

}  // namespace
}  // namespace sterna::nets
