#include "nets/backend/convolution.h"

#include "tests/nets/finite_differences.h"

namespace sterna::nets {
namespace {

struct Kind {
  std::size_t groups = 1;
  bool bias = true;
  int threads = 1;
};

void check_convolution(const Shape& in, std::size_t outputs, const Window& window,
                       const Kind& kind = {}) {
  SeededRandom random(1);
  const std::size_t groups = kind.groups;
  const Shape out{in[0], outputs, window.down().out(in[2]), window.across().out(in[3])};
  const Shape weights{outputs, in[1] / groups, window.down().kernel, window.across().kernel};
  const Values x = random_values(element_count(in), 1, random);
  const Values w = random_values(element_count(weights), 1, random);
  const Values b = random_values(kind.bias ? outputs : 0, 1, random);
  const Values dy = random_values(element_count(out), 1, random);

  const auto engine = backend(kind.threads);
  const auto operation = engine->convolution({.input = in,
                                              .out_channels = outputs,
                                              .window = window,
                                              .groups = groups,
                                              .bias = kind.bias});
  const Tensor x_ = tensor(in, Layout::channels_last, x);
  const Tensor w_ = tensor(weights, Layout::row_major, w);
  const Tensor b_ = tensor({b.size()}, Layout::row_major, b);
  const Tensor dy_ = tensor(out, Layout::channels_last, dy);
  Tensor y_(out, Layout::channels_last), dx_(in, Layout::channels_last);
  Tensor dw_(weights), db_({b.size()});
  operation->forward(x_, w_, kind.bias ? &b_ : nullptr, y_);
  operation->backward_parameters(x_, dy_, dw_, kind.bias ? &db_ : nullptr);
  operation->backward_data(dy_, w_, dx_);

  const auto f = [&](const Values& by_x, const Values& by_w, const Values& by_b) {
    return reference::convolution(by_x, in, by_w, by_b, outputs, window, groups);
  };
  expect_near(f(x, w, b), row_major(y_), "y");
  const auto by_x = [&](const Values& v) { return f(v, w, b); };
  const auto by_w = [&](const Values& v) { return f(x, v, b); };
  const auto by_b = [&](const Values& v) { return f(x, w, v); };
  expect_near(finite_differences(by_x, x, dy), row_major(dx_), "dx");
  expect_near(finite_differences(by_w, w, dy), row_major(dw_), "dw");
  const auto d = reference::convolution_backward(x, in, w, dy, outputs, window, groups);
  expect_near(d.x, row_major(dx_), "reference dx");
  expect_near(d.w, row_major(dw_), "reference dw");
  if (!kind.bias) return;
  expect_near(finite_differences(by_b, b, dy), row_major(db_), "db");
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
  check_convolution({4, 3, 5, 5}, 4, {.kernel = 3, .stride = 1, .padding = Padding::same},
                    {.threads = 2});
}
TEST(Convolution, AgreesWithFiniteDifferencesInGroups) {
  const Window three{.kernel = 3, .stride = 1, .padding = Padding::same};
  check_convolution({2, 4, 4, 3}, 6, three, {.groups = 2});
  check_convolution({1, 6, 3, 4}, 6, three, {.groups = 3, .bias = false});
  check_convolution({1, 32, 1, 3}, 32, {.kernel = 1, .width = 3}, {.groups = 2});
  check_convolution({1, 5, 4, 4}, 5, three, {.groups = 5});
}
TEST(Convolution, AgreesWithFiniteDifferencesWithoutBias) {
  const Window three{.kernel = 3, .stride = 1, .padding = Padding::same};
  check_convolution({2, 3, 5, 4}, 4, three, {.bias = false});
  check_convolution({1, 16, 1, 2}, 16, {.kernel = 1, .width = 3}, {.bias = false});
}
TEST(Convolution, AgreesWithFiniteDifferencesWhereTheWindowIsOblong) {
  check_convolution({2, 3, 5, 6}, 4, {.kernel = 1, .width = 7});
  check_convolution({2, 3, 6, 5}, 4, {.kernel = 7, .width = 1});
  check_convolution({1, 2, 6, 7}, 16, {.kernel = 2, .padding = Padding::valid, .width = 5});
}
TEST(Convolution, AgreesWithFiniteDifferencesWherePaddingIsGiven) {
  // Over even extents the last column of padding is covered by no window.
  const Window halving{.kernel = 3, .stride = 2, .padding = Padding::given, .pad = 1};
  check_convolution({2, 3, 6, 8}, 4, halving);
  check_convolution({2, 3, 7, 5}, 4, halving);
  check_convolution({1, 16, 4, 2}, 8, halving, {.bias = false});
  // No window covers the last row and column of pixels either.
  check_convolution({2, 3, 4, 6}, 4, {.kernel = 1, .stride = 2, .padding = Padding::given});
  check_convolution({1, 3, 8, 8}, 2,
                    {.kernel = 7, .stride = 2, .padding = Padding::given, .pad = 3});
}

}  // namespace
}  // namespace sterna::nets
