// What is settled when a oneDNN backend is made; its operations have tests of their own.
#include "nets/onednn/onednn_backend.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "kernels/isa/isa.h"
#include "nets/backend/inner_product.h"

namespace sterna::nets {
namespace {

// oneDNN chooses once per process, so these look on from a process of their own.
class OneDnnInstructionSetDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(OneDnnInstructionSetDeathTest, IsCapped) {
  const auto capped = [] {
    const auto first = OneDnnBackend::make({.isa = "scalar"});
    const bool made = first.ok() && (*first)->inner_product({.batch = 1, .in = 4, .out = 4});
    // What it uses is below this cap too.
    std::exit(made && OneDnnBackend::make({.isa = "avx512"}).ok() ? 0 : 1);
  };
  EXPECT_EXIT(capped(), testing::ExitedWithCode(0), "");
}

TEST_F(OneDnnInstructionSetDeathTest, IsNotCappedTooLate) {
  const auto late = [] {
    const auto first = OneDnnBackend::make({});
    const bool made = first.ok() && (*first)->inner_product({.batch = 1, .in = 4, .out = 4});
    const auto second = OneDnnBackend::make({.isa = "scalar"});
    std::exit(made && !second && second.error().code == Errc::unavailable ? 0 : 1);
  };
  if (kernels::best_isa() != kernels::Isa::avx512) GTEST_SKIP() << "no AVX-512 here";
  EXPECT_EXIT(late(), testing::ExitedWithCode(0), "");
}

TEST_F(OneDnnInstructionSetDeathTest, RefusesBf16BelowWhatComputesWithIt) {
  const auto refused = [] {
    const auto made = OneDnnBackend::make({.isa = "avx2", .precision = Element::bf16});
    if (!made) std::fprintf(stderr, "%s", made.error().message.c_str());
    std::exit(made.ok() ? 1 : 0);
  };
  EXPECT_EXIT(refused(), testing::ExitedWithCode(0),
              "job.precision = \"bf16\": job.cpu_isa = \"avx2\" leaves out .*; set job.cpu_isa = "
              "\"best\", or job.precision = \"fp32\"");
}

// AVX-512 includes what computes with bf16 where that is wanted, but not afterwards.
TEST_F(OneDnnInstructionSetDeathTest, IsCappedForTheFirstPrecision) {
  const auto first_fp32 = [] {
    const auto first = OneDnnBackend::make({.isa = "avx512"});
    const bool made = first.ok() && (*first)->inner_product({.batch = 1, .in = 4, .out = 4});
    const auto second = OneDnnBackend::make({.isa = "avx512", .precision = Element::bf16});
    std::exit(made && !second && second.error().code == Errc::unavailable ? 0 : 1);
  };
  EXPECT_EXIT(first_fp32(), testing::ExitedWithCode(0), "");
}

TEST(OneDnnBackend, RefusesAnInstructionSetItDoesNotKnow) {
  EXPECT_EQ(OneDnnBackend::make({.isa = "mmx"}).error().code, Errc::invalid_argument);
}

TEST(OneDnnBackend, RefusesFewerThanOneThread) {
  const auto made = OneDnnBackend::make({.threads = 0});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Errc::invalid_argument);
}

TEST(OneDnnBackendDeathTest, RefusesThreadsThatWouldSpin) {
  EXPECT_EXIT(
      {
        unsetenv("OMP_WAIT_POLICY");
        unsetenv("GOMP_SPINCOUNT");
        const auto made = OneDnnBackend::make({.threads = 2});
        const bool refused = !made.ok() && made.error().code == Errc::invalid_argument;
        _exit(refused && OneDnnBackend::make({.threads = 1}).ok() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sterna::nets
