#include "nets/backend/eltwise.h"

#include "tests/nets/finite_differences.h"

namespace sterna::nets {
namespace {

TEST(Relu, AgreesWithFiniteDifferences) {
  SeededRandom random(4);
  const Values x = random_values(77, 1, random), dy = random_values(77, 1, random);
  const auto engine = backend();
  const auto operation = engine->eltwise({.count = 77});
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
  engine->eltwise({.count = 3})->backward(y, dx);
  EXPECT_EQ(row_major(dx), (Values{0, 0, 0}));
}

}  // namespace
}  // namespace sterna::nets
