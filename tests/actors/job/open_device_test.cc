#include "actors/job/open_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/device/host_device.h"
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

TEST(OpenDevice, FailsOnPurposeOnceItIsOpenAndNotWhereThereIsNone) {
  const Result<void> none = fail_soon("cpu", nullptr);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Errc::invalid_argument);
  EXPECT_THAT(none.error().message, testing::HasSubstr("computes on the CPU"));
  EXPECT_EQ(fail_soon("cuda", nullptr).error().code, Errc::unavailable) << "may be tried again";
  const std::shared_ptr<kernels::Device> device = kernels::make_host_device({});
  EXPECT_TRUE(fail_soon("cuda", device).ok());
  const auto stream = std::move(device->make_stream()).value();
  int from = 1;
  int to = 0;
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(stream->copy(&to, &from, sizeof to).ok());
  EXPECT_FALSE(stream->finish().ok());
}

}  // namespace
}  // namespace sterna::actors
