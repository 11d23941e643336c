#include "nets/tensor/parameter.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sterna::nets {
namespace {

TEST(Initialize, DependsOnSeedAndIndexOnly) {
  const ParameterSpec spec{.name = "w", .shape = {40, 50}, .stddev = 0.05F};
  std::vector<float> a(2000), b(2000), c(2000), d(2000);
  initialize(a, spec, {1, 0});
  initialize(b, spec, {1, 0});
  initialize(c, spec, {2, 0});
  initialize(d, spec, {1, 4});
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_NE(a, d);
  for (const float value : a) EXPECT_LE(std::abs(value), 0.1F);
  initialize(a, {.name = "b", .shape = {2000}, .constant = 0.1F}, {1, 1});
  EXPECT_EQ(a, std::vector<float>(2000, 0.1F));
}

TEST(ParameterSpec, CountsTheElementsOfItsShape) {
  EXPECT_EQ((ParameterSpec{.name = "w", .shape = {20, 1, 5, 5}}.count()), 500U);
  EXPECT_STREQ(name(Role::statistic), "statistic");
}

}  // namespace
}  // namespace sterna::nets
