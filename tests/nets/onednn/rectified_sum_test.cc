#include "nets/backend/rectified_sum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nets/make_backend.h"
#include "tests/nets/random_values.h"

namespace sterna::nets {
namespace {

using Values = std::vector<double>;

class RectifiedSums : public testing::TestWithParam<Element> {
 protected:
  void SetUp() override {
    auto made = make_backend({.precision = GetParam()});
    if (!made) GTEST_SKIP() << made.error().message;
    backend_ = std::move(*made);
  }
  std::unique_ptr<RectifiedSum> of(std::size_t count) {
    return backend_->rectified_sum({.count = count, .element = GetParam()});
  }
  static Tensor holding(const Values& values) {
    return tensor({values.size()}, Layout::row_major, values, GetParam());
  }
  /// What the element holds of it.
  static double rounded(double value) { return row_major(holding({value}))[0]; }

  std::unique_ptr<Backend> backend_;
};

TEST_P(RectifiedSums, RoundOnceAndLetThroughWhereTheyAreAboveZero) {
  const std::size_t count = kElementsAtOnce + 21;  // more than is done at once
  SeededRandom random(6);
  const auto drawn = [&] { return row_major(holding(random_values(count, 1, random))); };
  const Values a = drawn(), b = drawn(), dy = drawn(), part = drawn();
  Values sums(count), open(count), both(count);
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] = rounded(std::max(a[i] + b[i], 0.0));
    open[i] = sums[i] > 0 ? dy[i] : 0;
    both[i] = sums[i] > 0 ? rounded(dy[i] + part[i]) : 0;
  }
  const auto operation = of(count);
  Tensor y = holding(a), alone = holding(dy), together = holding(dy);
  operation->forward(y, holding(b), y);
  operation->backward(y, alone);
  operation->backward(y, holding(part), together);
  EXPECT_EQ(row_major(y), sums);
  EXPECT_EQ(row_major(alone), open);
  EXPECT_EQ(row_major(together), both);
}

TEST_P(RectifiedSums, StayNoNumbers) {
  const double nan = std::nan("");
  Tensor y = holding({-1, 2, nan, HUGE_VAL, -HUGE_VAL, 1});
  of(6)->forward(y, holding({0.5, 1, 1, 1, 1, -1}), y);
  const Values found = row_major(y);
  EXPECT_TRUE(std::isnan(found[2]));
  EXPECT_EQ((Values{found[0], found[1], found[3], found[4], found[5]}),
            (Values{0, 3, HUGE_VAL, 0, 0}));
}

INSTANTIATE_TEST_SUITE_P(Of, RectifiedSums, testing::Values(Element::fp32, Element::bf16),
                         [](const auto& element) {
                           return element.param == Element::fp32 ? "Fp32s" : "Bf16s";
                         });

}  // namespace
}  // namespace sterna::nets
