// Tests of nets that compute in bf16: skipped where the CPU cannot.
#pragma once

#include <gtest/gtest.h>

#include "nets/make_backend.h"

namespace sterna::nets {

class Bf16Test : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto made = make_backend({.precision = Element::bf16}); !made) {
      GTEST_SKIP() << made.error().message;
    }
  }
};

}  // namespace sterna::nets
