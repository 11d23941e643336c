// Which of cuDNN's plans is taken, and when there is none, with a fake in its place.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "fake_cudnn.h"
#include "kernels/device/cuda/cudnn.h"
#include "kernels/device/library.h"

namespace sterna::kernels {
namespace {

/// Three rows and columns over images of four, padded evenly.
ConvolutionShape some_shape(Arithmetic arithmetic) {
  ConvolutionShape shape;
  Windows& w = shape.windows;
  w.images = 2;
  w.rows = w.columns = w.out_rows = w.out_columns = 4;
  w.channels = shape.out_channels = 8;
  w.kernel_rows = w.kernel_columns = 3;
  w.stride = w.rows_before = w.columns_before = 1;
  shape.arithmetic = arithmetic;
  return shape;
}

class CudnnPlansTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv(kLibraryFolders, STERNA_FAKE_CUDNN, 1);
    opened_ = Cudnn::open(0).value();
    const std::string path = std::string(STERNA_FAKE_CUDNN) + "/libcudnn.so.9";
    FakeCudnn* (*of)() = nullptr;
    ASSERT_TRUE(find_function(dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD), "fake_cudnn", of));
    fake_ = of();
    fake_->graph = fake_->heuristic = fake_->descriptor = CUDNN_STATUS_SUCCESS;
    fake_->engines.clear();
    fake_->most_at_once = 0;
  }
  void TearDown() override {
    opened_.reset();
    EXPECT_EQ(fake_->live, 0);
    unsetenv(kLibraryFolders);
  }

  /// The name of the plan; "none"; or what kind of error.
  std::string found(Arithmetic arithmetic = Arithmetic::fp32) {
    const auto plan = opened_->plan(some_shape(arithmetic));
    if (!plan) return std::string(plan.error().code == Errc::overloaded ? "overloaded" : "failed");
    return *plan == nullptr ? "none" : (*plan)->name();
  }

  std::unique_ptr<Cudnn> opened_;
  FakeCudnn* fake_ = nullptr;
};

TEST_F(CudnnPlansTest, TakesTheFirstWhoseBitsAreTheSameEachTime) {
  fake_->engines = {{.number = 3, .notes = {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}},
                    {.number = 4, .workspace = std::int64_t{2} << 30},
                    {.number = 5, .notes = {CUDNN_NUMERICAL_NOTE_WINOGRAD}, .workspace = 64},
                    {.number = 6}};
  EXPECT_EQ(found(), "cuDNN engine 5");
  EXPECT_EQ(found(Arithmetic::bf16), "cuDNN engine 6");  // Winograd's rounds what it transforms
}

TEST_F(CudnnPlansTest, RoundsOnlyWhereThatIsWantedAndNeverToAShorterRange) {
  fake_->engines = {
      {.number = 1,
       .notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS}},
      {.number = 2, .notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}},
      {.number = 3}};
  EXPECT_EQ(found(Arithmetic::fp32), "cuDNN engine 3");
  EXPECT_EQ(found(Arithmetic::tf32), "cuDNN engine 2");
  EXPECT_EQ(found(Arithmetic::bf16), "cuDNN engine 1");
}

TEST_F(CudnnPlansTest, ReadsNoMoreThanItHadRoomFor) {
  const std::vector<cudnnBackendNumericalNote_t> many(100, CUDNN_NUMERICAL_NOTE_WINOGRAD);
  fake_->engines.assign(500, {.notes = {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}});
  EXPECT_EQ(found(), "none");
  fake_->engines = {{.number = 7, .notes = many}};
  EXPECT_EQ(found(), "cuDNN engine 7");
}

TEST_F(CudnnPlansTest, GoesOnWhereTheLibraryHasNothingForAShape) {
  for (const cudnnStatus_t nothing :
       {CUDNN_STATUS_NOT_SUPPORTED, CUDNN_STATUS_NOT_SUPPORTED_SHAPE,
        CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED}) {
    fake_->engines = {{.number = 1, .plan = nothing}, {.number = 2}};
    EXPECT_EQ(found(), "cuDNN engine 2") << nothing;
    fake_->heuristic = nothing;
    EXPECT_EQ(found(), "none") << nothing;
    fake_->heuristic = CUDNN_STATUS_SUCCESS;
  }
  fake_->graph = CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
  EXPECT_EQ(found(), "none");
  fake_->graph = CUDNN_STATUS_BAD_PARAM;
  EXPECT_EQ(found(), "failed");
  EXPECT_EQ(found(Arithmetic::bf16), "none");
}

// On a card that is nearly full another plan, of other bits, would be taken.
TEST_F(CudnnPlansTest, EndsWhereACallFailsForAnotherReason) {
  for (const auto& [status, expected] :
       {std::pair(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, "overloaded"),
        std::pair(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, "overloaded"),
        std::pair(CUDNN_STATUS_INTERNAL_ERROR, "failed"),
        std::pair(CUDNN_STATUS_EXECUTION_FAILED, "failed")}) {
    fake_->engines = {{.number = 1, .plan = status}, {.number = 2}};
    EXPECT_EQ(found(), expected) << status;
    fake_->engines.erase(fake_->engines.begin());
    for (cudnnStatus_t FakeCudnn::*one : {&FakeCudnn::heuristic, &FakeCudnn::descriptor}) {
      fake_->*one = status;
      EXPECT_EQ(found(), expected) << status;
      fake_->*one = CUDNN_STATUS_SUCCESS;
    }
  }
  fake_->graph = CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
  EXPECT_EQ(found(Arithmetic::bf16), "overloaded");
}

TEST_F(CudnnPlansTest, AsksOneHeuristicAtATime) {
  fake_->engines = {{.number = 1}};
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      const std::unique_ptr<Cudnn> own = Cudnn::open(0).value();
      for (int plan = 0; plan < 50; ++plan) {
        EXPECT_NE(own->plan(some_shape(Arithmetic::fp32)).value(), nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fake_->most_at_once, 1);
}

}  // namespace
}  // namespace sterna::kernels
