// NVIDIA's libraries are found where they may lie, and where they are not the line says what was
// looked at. A library of the tests' stands for them.
#include "kernels/device/library.h"

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
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class LibraryTest : public testing::Test {
 protected:
  /// A folder with the libraries of these names.
  std::string folder(const std::string& name, const std::vector<std::string>& libraries) {
    fs::create_directories(folder_ / name);
    for (const std::string& library : libraries) {
      fs::copy_file(STERNA_FAKE_DRIVER, folder_ / name / library);
    }
    return folder_ / name;
  }
  /// The file that a library was opened from.
  static std::string file_of(void* library) {
    Dl_info info{};
    const bool known = dladdr(dlsym(library, "cuInit"), &info) != 0;
    return known ? info.dli_fname : "nobody knows";
  }

  TemporaryFolder folder_;
  LibraryPlaces places_ = {.toolkit = folder_ / "toolkit"};
};

TEST_F(LibraryTest, IsOpenedFromTheFirstFolderThatHasIt) {
  places_.folders = {folder("empty", {}), folder("one", {"libfound.so.1"}),
                     folder("other", {"libfound.so.1"})};
  const Result<void*> opened = open_libraries({"libfound.so.1"}, places_);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(file_of(*opened), places_.folders[1] + "/libfound.so.1");
}

TEST_F(LibraryTest, IsFoundInTheToolkitAndAmongPipsWheels) {
  folder("toolkit", {"libkit.so.1"});
  EXPECT_TRUE(open_libraries({"libkit.so.1"}, places_).ok());
  folder("venv/lib/python3.12/site-packages/nvidia/some/lib", {"libwheel.so.1"});
  fs::create_directories(folder_ / "venv/bin");
  std::ofstream(folder_ / "venv/bin/python3") << "no program\n";
  EXPECT_FALSE(open_libraries({"libwheel.so.1"}, places_).ok());
  places_.path = "/no/such/folder:" + (folder_ / "venv/bin").string();
  const Result<void*> opened = open_libraries({"libwheel.so.1"}, places_);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
}

TEST_F(LibraryTest, ThatIsNotThereIsNamedWithAllPlaces) {
  places_.folders = {folder("empty", {})};
  const Result<void*> opened = open_libraries({"libnowhere.so.1"}, places_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Errc::unavailable);
  EXPECT_THAT(opened.error().message,
              AllOf(HasSubstr("libnowhere.so.1 is not there; looked in " + places_.folders[0]),
                    HasSubstr("where the loader looks"), HasSubstr(places_.toolkit),
                    HasSubstr("host.cuda"), Not(HasSubstr("\n"))));
}

TEST_F(LibraryTest, OfSeveralPartsNoneMayBeMissing) {
  places_.folders = {folder("half", {"libwhole.so.1"})};
  const Result<void*> opened = open_libraries({"libwhole.so.1", "libpart.so.1"}, places_);
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().message, HasSubstr("half/libpart.so.1"));
}

TEST_F(LibraryTest, IsLookedForWhereTheEnvironmentSays) {
  setenv(kLibraryFolders, "/a::/b/c", 1);
  EXPECT_THAT(library_places().folders, ElementsAre("/a", "/b/c"));
  unsetenv(kLibraryFolders);
  EXPECT_TRUE(library_places().folders.empty());
}

}  // namespace
}  // namespace sterna::kernels
