// What the tests of operations and layers share: a backend, and gradients by central differences.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

#include "nets/make_backend.h"
#include "tests/nets/random_values.h"
#include "tests/nets/reference.h"

namespace sterna::nets {

using reference::Values;
using Function = std::function<Values(const Values&)>;

inline std::unique_ptr<Backend> backend(int threads = 1, Element precision = Element::fp32) {
  auto made = make_backend({.threads = threads, .precision = precision});
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(made).value();
}

inline double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The gradient of dot(dy, f(at)).
inline Values finite_differences(const Function& f, Values at, const Values& dy) {
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

/// Of what passes through tensors of that kind.
inline double tolerance(Element element) { return element == Element::bf16 ? 0x1p-8 : 1e-5; }

inline void expect_near(const Values& expected, const Values& actual, const char* what,
                        double tolerance = 1e-5) {
  ASSERT_EQ(expected.size(), actual.size()) << what;
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(expected[i], actual[i], tolerance * (1 + largest)) << what << " at " << i;
}

}  // namespace sterna::nets
