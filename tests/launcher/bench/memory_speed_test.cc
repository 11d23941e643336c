#include "launcher/bench/memory_speed.h"

#include <gtest/gtest.h>

#include <vector>

namespace sterna::launcher {
namespace {

TEST(ReadAll, DependsOnEveryFloatOnEveryInstructionSet) {
  for (const kernels::Isa isa : {kernels::Isa::scalar, kernels::best_isa()}) {
    for (const std::size_t count : {1U, 63U, 64U, 130U, 1000U}) {
      std::vector<float> values(count, 1.0F);
      const std::uint32_t all = read_all(values, isa);
      for (const std::size_t i : {std::size_t{0}, count / 2, count - 1}) {
        values[i] = -2.0F;
        EXPECT_NE(read_all(values, isa), all) << i << " of " << count;
        values[i] = 1.0F;
      }
    }
  }
}

}  // namespace
}  // namespace sterna::launcher
