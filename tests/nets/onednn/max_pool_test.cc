#include "nets/backend/max_pool.h"

#include <cmath>
#include <limits>

#include "tests/nets/bf16_fixture.h"
#include "tests/nets/finite_differences.h"

namespace sterna::nets {
namespace {

class MaxPoolBf16 : public Bf16Test {};

void check_max_pool(const Shape& in, const Window& window, Element element = Element::fp32) {
  SeededRandom random(3);
  const Shape out{in[0], in[1], window.down().out(in[2]), window.across().out(in[3])};
  // All negative: padding that counted as 0 would win.
  Values x = random_values(element_count(in), 1, random);
  for (double& value : x) value -= 2;
  Values dy = random_values(element_count(out), 1, random);
  if (element == Element::bf16) {
    x = rounded_to_bf16(x);
    dy = rounded_to_bf16(dy);
  }

  const auto engine = backend(1, element);
  const auto operation = engine->max_pool({.input = in, .window = window, .element = element});
  const Tensor x_ = tensor(in, Layout::channels_last, x, element);
  const Tensor dy_ = tensor(out, Layout::channels_last, dy, element);
  Tensor y_(out, Layout::channels_last, element), dx_(in, Layout::channels_last, element);
  operation->forward(x_, y_);
  operation->backward(dy_, dx_);

  expect_near(reference::max_pool(x, in, window), row_major(y_), "y");
  expect_near(reference::max_pool_backward(x, in, dy, window), row_major(dx_), "reference dx",
              tolerance(element));
  if (element == Element::bf16) return;  // whose values are too far apart for differences
  const auto f = [&](const Values& v) { return reference::max_pool(v, in, window); };
  expect_near(finite_differences(f, x, dy), row_major(dx_), "dx");
}

TEST(MaxPool, AgreesWithFiniteDifferences) {
  check_max_pool({2, 3, 6, 4}, {.kernel = 2, .stride = 2, .padding = Padding::same});
}
TEST(MaxPool, AgreesWithFiniteDifferencesWhereChannelsOverflowVectors) {
  check_max_pool({1, 20, 4, 4}, {.kernel = 2, .stride = 2, .padding = Padding::same});
}
TEST(MaxPool, AgreesWithFiniteDifferencesWhereOddSizesArePadded) {
  check_max_pool({2, 2, 5, 7}, {.kernel = 2, .stride = 2, .padding = Padding::same});
}
TEST(MaxPool, AgreesWithFiniteDifferencesWhereWindowsOverlap) {
  check_max_pool({1, 5, 7, 6}, {.kernel = 3, .stride = 2, .padding = Padding::same});
  check_max_pool({1, 5, 7, 7}, {.kernel = 3, .stride = 2, .padding = Padding::valid});
  check_max_pool({2, 17, 5, 4}, {.kernel = 3, .stride = 1, .padding = Padding::same});
  check_max_pool({2, 5, 7, 6}, {.kernel = 3, .stride = 1, .padding = Padding::same});
}
TEST_F(MaxPoolBf16, AgreesWithTheReferenceWhereWindowsOverlap) {
  const Window sliding{.kernel = 3, .stride = 1, .padding = Padding::same};
  const Window halving{.kernel = 3, .stride = 2, .padding = Padding::valid};
  check_max_pool({2, 33, 5, 4}, sliding, Element::bf16);
  check_max_pool({2, 16, 7, 9}, halving, Element::bf16);
}
TEST(MaxPool, AgreesWithFiniteDifferencesWhereWindowsLeavePixelsOut) {
  check_max_pool({1, 3, 7, 8}, {.kernel = 2, .stride = 3, .padding = Padding::valid});
}
TEST(MaxPool, AgreesWithFiniteDifferencesWherePaddingIsGiven) {
  const Window halving{.kernel = 3, .stride = 2, .padding = Padding::given, .pad = 1};
  check_max_pool({2, 3, 6, 8}, halving);
  check_max_pool({1, 17, 7, 5}, halving);
  check_max_pool({1, 2, 1, 2}, halving);
}
TEST(MaxPool, AgreesWithFiniteDifferencesWhereTheWindowIsOblong) {
  check_max_pool({1, 3, 5, 6}, {.kernel = 2, .stride = 1, .padding = Padding::same, .width = 3});
}

TEST(MaxPool, TakesWhatIsNoNumber) {
  constexpr std::size_t kChannels = 19;
  for (const std::size_t kernel : {2U, 3U}) {
    const std::size_t size = kernel == 2 ? 4 : 3, out = size / kernel;
    const Shape in{1, kChannels, size, size};
    const auto engine = backend();
    const auto operation =
        engine->max_pool({.input = in, .window = {.kernel = kernel, .stride = kernel}});
    for (std::size_t place = 0; place < kernel * kernel; ++place) {
      Values values(element_count(in), 1);
      for (std::size_t c = 0; c < kChannels; ++c) {
        values[(c * size + place / kernel) * size + place % kernel] =
            std::numeric_limits<double>::quiet_NaN();
      }
      const Tensor x = tensor(in, Layout::channels_last, values);
      Tensor y({1, kChannels, out, out}, Layout::channels_last);
      operation->forward(x, y);
      const Values found = row_major(y);
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(std::isnan(found[i]), i % (out * out) == 0) << "place " << place << ", " << i;
      }
    }
  }
}

TEST(MaxPool, GivesTheGradientOfEqualValuesToTheFirst) {
  const Shape in{1, 3, 2, 2};
  for (const std::size_t kernel : {2U, 3U}) {  // of 3 one row and one column are padding
    const auto engine = backend();
    const auto operation = engine->max_pool(
        {.input = in, .window = {.kernel = kernel, .stride = 2, .padding = Padding::same}});
    const Tensor x = tensor(in, Layout::channels_last, Values(12, 0.5));
    const Tensor dy = tensor({1, 3, 1, 1}, Layout::channels_last, Values{1, 2, 3});
    Tensor y({1, 3, 1, 1}, Layout::channels_last), dx(in, Layout::channels_last);
    operation->forward(x, y);
    operation->backward(dy, dx);
    EXPECT_EQ(row_major(dx), (Values{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}));
  }
}

}  // namespace
}  // namespace sterna::nets
