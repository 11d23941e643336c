// Each reason why there is no GPU is one line that says what to do. Driver and module are hidden,
// or fakes that say what a real one would.
#include "kernels/device/cuda_module.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.h"

namespace sterna::kernels {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CudaModuleTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("FAKE_CUDA", "13000", 1);
    setenv("FAKE_CUDA_INIT", "0", 1);
    setenv("FAKE_CUDA_DEVICES", "Tesla V100:7.0,H100:9.0", 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    std::ofstream(release_)
        << "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Jan 24\n";
  }
  /// Of a module that takes every program, unless the folder is another.
  CudaOptions options(const char* folder = STERNA_FAKE_MODULE) const {
    return {.folder = folder, .driver = {STERNA_FAKE_DRIVER, release_.string()}};
  }
  static std::string error_of(const CudaOptions& options) {
    const Result<CudaModule> opened = CudaModule::open(options);
    return opened ? "opened" : opened.error().message;
  }

  TemporaryFolder folder_;
  fs::path release_ = folder_ / "version";
};

TEST_F(CudaModuleTest, IsNotThere) {
  EXPECT_THAT(error_of(options(folder_.path().c_str())),
              AllOf(HasSubstr("libsterna_cuda.so is not there"),
                    HasSubstr("build it where nvcc 13.0"), Not(HasSubstr("\n"))));
}

TEST_F(CudaModuleTest, OfAnotherBuildIsRefused) {
  EXPECT_THAT(
      error_of(options(STERNA_FAKE_OTHER_MODULE)),
      AllOf(HasSubstr("is of another build than this program"), HasSubstr("build both anew")));
}

TEST_F(CudaModuleTest, ThatIsNoLibraryDoesNotLoad) {
  std::ofstream(folder_ / kCudaModule) << "text";
  EXPECT_THAT(error_of(options(folder_.path().c_str())), HasSubstr("does not load: "));
}

TEST_F(CudaModuleTest, WithoutADriverSaysWhichOneToInstall) {
  CudaOptions without = options();
  without.driver.library = "libno-such-driver.so.1";
  EXPECT_THAT(error_of(without), AllOf(HasSubstr("there is no NVIDIA driver here"),
                                       HasSubstr("install release 580 or newer")));
}

TEST_F(CudaModuleTest, WithAnOldDriverSaysWhichOneItIs) {
  setenv("FAKE_CUDA", "12080", 1);
  EXPECT_THAT(error_of(options()),
              "the NVIDIA driver 570.86.15, for CUDA 12.8 is too old; install "
              "release 580 or newer");
  CudaOptions unknown = options();
  unknown.driver.version = (folder_ / "nothing").string();
  EXPECT_THAT(error_of(unknown), HasSubstr("the NVIDIA driver, for CUDA 12.8 is too old"));
}

TEST_F(CudaModuleTest, WithADriverThatDoesNotStartSaysItsError) {
  setenv("FAKE_CUDA_INIT", "803", 1);
  EXPECT_THAT(error_of(options()), HasSubstr("does not start (error 803)"));
}

TEST_F(CudaModuleTest, SaysHowManyDevicesThereAre) {
  const Result<CudaModule> module = CudaModule::open(options());
  ASSERT_TRUE(module.ok()) << module.error().message;
  EXPECT_EQ(module->driver().devices.size(), 2U);
  EXPECT_EQ(module->device(2).error().message,
            "there is no device 2: the driver shows 2; see nvidia-smi -L");
  setenv("CUDA_VISIBLE_DEVICES", "0,1", 1);
  EXPECT_THAT(module->device(-1).error().message, HasSubstr("CUDA_VISIBLE_DEVICES is \"0,1\""));
}

TEST_F(CudaModuleTest, OfADriverThatShowsNoneSaysSo) {
  setenv("FAKE_CUDA_INIT", "100", 1);  // what a driver says where nothing is visible
  const Result<CudaModule> module = CudaModule::open(options());
  ASSERT_TRUE(module.ok()) << module.error().message;
  EXPECT_THAT(module->device(0).error().message, HasSubstr("the driver shows 0"));
}

TEST_F(CudaModuleTest, RefusesADeviceThatIsTooOld) {
  const Result<CudaModule> module = CudaModule::open(options());
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(module->device(0).error().message,
            "device 0, Tesla V100, has compute capability 7.0; choose one with 8.0 or newer");
  EXPECT_EQ(module->device(1).error().message, "the fake module's device 1");
}

#ifdef STERNA_REAL_MODULE
TEST_F(CudaModuleTest, IsLoadedBesideTheProgramWithoutAnythingOfNvidias) {
  CudaOptions real = options(STERNA_REAL_MODULE);
  EXPECT_EQ(error_of(real), "opened");
  real.driver.library = "libno-such-driver.so.1";
  EXPECT_THAT(error_of(real), HasSubstr("there is no NVIDIA driver here"));
}

TEST_F(CudaModuleTest, TakesItsOwnBuildAlone) {
  const std::string path = std::string(STERNA_REAL_MODULE) + "/" + kCudaModule;
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto make = reinterpret_cast<CudaModuleFunction>(dlsym(library, kCudaModuleFunction));
  ASSERT_NE(make, nullptr);
  EXPECT_EQ(make("another"), nullptr);
  EXPECT_EQ(make(nullptr), nullptr);
  const std::unique_ptr<DeviceModule> own(make(cuda_build_id()));
  ASSERT_NE(own, nullptr);
  // No machine has so many devices; one without a driver says that.
  const auto device = own->open(1000);
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().message, HasSubstr("cuda"));
}
#endif

}  // namespace
}  // namespace sterna::kernels
