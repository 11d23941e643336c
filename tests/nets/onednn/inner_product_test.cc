#include "nets/backend/inner_product.h"

#include "tests/nets/finite_differences.h"

namespace sterna::nets {
namespace {

void check_inner_product(bool bias) {
  SeededRandom random(2);
  const std::size_t batch = 3, in = 21, out = 5;
  const Values x = random_values(batch * in, 1, random), w = random_values(in * out, 1, random);
  const Values b = random_values(bias ? out : 0, 1, random),
               dy = random_values(batch * out, 1, random);

  const auto engine = backend();
  const auto operation =
      engine->inner_product({.batch = batch, .in = in, .out = out, .bias = bias});
  const Tensor x_ = tensor({batch, in}, Layout::row_major, x);
  const Tensor w_ = tensor({out, in}, Layout::row_major, w);
  const Tensor b_ = tensor({b.size()}, Layout::row_major, b);
  const Tensor dy_ = tensor({batch, out}, Layout::row_major, dy);
  Tensor y_({batch, out}), dx_({batch, in}), dw_({out, in}), db_({b.size()});
  operation->forward(x_, w_, bias ? &b_ : nullptr, y_);
  operation->backward_parameters(x_, dy_, dw_, bias ? &db_ : nullptr);
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

TEST(InnerProduct, AgreesWithFiniteDifferences) { check_inner_product(true); }
TEST(InnerProduct, AgreesWithFiniteDifferencesWithoutBias) { check_inner_product(false); }

}  // namespace
}  // namespace sterna::nets
