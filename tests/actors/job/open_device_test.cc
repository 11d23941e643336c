#include "actors/job/open_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace sterna::actors {
namespace {

TEST(OpenDevice, OfACpuThereIsNone) {
  const auto opened = open_devices("cpu");
  ASSERT_TRUE(opened.ok());
  EXPECT_TRUE(opened->empty());
}

TEST(OpenDevice, ThatNobodyKnowsIsRefused) {
  EXPECT_EQ(open_devices("abacus").error().code, Errc::invalid_argument);
}

TEST(OpenDevice, ThatIsNotThereIsOneLineWithTheKey) {
  const TemporaryFolder folder;
  const auto opened = open_devices("cuda", {0, 0}, {.folder = folder.path()});
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Errc::unavailable);
  EXPECT_THAT(opened.error().message,
              testing::AllOf(testing::StartsWith("actor.backend = \"cuda\": "),
                             testing::HasSubstr("libsterna_cuda.so is not there"),
                             testing::Not(testing::HasSubstr("\n"))));
}

TEST(OpenDevice, ByItsNameIsOneOfThoseThatTheDriverShows) {
  const TemporaryFolder folder;
  const kernels::CudaOptions nowhere{.folder = folder.path()};
  const auto cpu = open_device("cpu", nowhere);
  ASSERT_TRUE(cpu.ok());
  EXPECT_EQ(*cpu, nullptr);
  for (const char* name : {"cuda", "cuda:0", "cuda:12"}) {
    const auto opened = open_device(name, nowhere);
    ASSERT_FALSE(opened.ok()) << name;
    EXPECT_EQ(opened.error().code, Errc::unavailable) << name;
    EXPECT_THAT(opened.error().message,
                testing::AllOf(testing::HasSubstr("libsterna_cuda.so is not there"),
                               testing::Not(testing::HasSubstr("\n"))))
        << name;
  }
  for (const char* name : {"", "gpu", "cuda:", "cuda:one", "cuda:-1", "cuda:1 ", "cuda1", "cuda 1",
                           "cuda:4294967295", "cuda:99999999999"}) {
    const auto opened = open_device(name, nowhere);
    ASSERT_FALSE(opened.ok()) << name;
    EXPECT_EQ(opened.error().code, Errc::invalid_argument) << name;
    EXPECT_THAT(opened.error().message, testing::HasSubstr("say cpu, cuda, or cuda:N")) << name;
  }
}

}  // namespace
}  // namespace sterna::actors
