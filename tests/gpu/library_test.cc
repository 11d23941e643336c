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

TEST_F(LibraryTest, IsFoundWhereverPipMayHavePutItWithoutAskingPython) {
  const std::string wheel = "/lib/python3.12/dist-packages/nvidia/some/lib";
  folder("opt/python" + wheel, {"liblinked.so.1"});
  folder("pyenv/versions/3.12.1" + wheel, {"libshim.so.1"});
  folder("home/.local" + wheel, {"libuser.so.1"});
  folder("usr/local" + wheel, {"libroot.so.1"});
  for (const char* name : {"opt/python/bin", "pyenv/shims", "bin"}) {
    fs::create_directories(folder_ / name);
  }
  std::ofstream(folder_ / "opt/python/bin/python3") << "no program\n";
  std::ofstream(folder_ / "pyenv/shims/python3") << "#!/bin/sh\nexec pyenv exec python3\n";
  fs::create_symlink("../opt/python/bin/python3", folder_ / "bin/python3");

  const auto finds = [&](const char* library) { return open_libraries({library}, places_).ok(); };
  places_.prefixes.back() = folder_ / "usr/local";
  EXPECT_TRUE(finds("libroot.so.1"));
  EXPECT_FALSE(finds("libuser.so.1"));
  places_.home = folder_ / "home";
  EXPECT_TRUE(finds("libuser.so.1"));
  places_.path = folder_ / "bin";
  EXPECT_TRUE(finds("liblinked.so.1"));
  EXPECT_FALSE(finds("libshim.so.1"));
  places_.path = folder_ / "pyenv/shims";
  EXPECT_TRUE(finds("libshim.so.1"));
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
  const std::vector<std::string> names = {"libwhole.so.1", "libpart.so.1", "libother.so.1"};
  places_.folders = {folder("half", {names[0], names[1]}), folder("rest", {names[1], names[2]})};
  Result<void*> opened = open_libraries(names, places_);
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(
      opened.error().message,
      AllOf(HasSubstr("libwhole.so.1 is not there with all its parts; looked in " +
                      places_.folders[0] + " (which lacks libother.so.1), " + places_.folders[1]),
            HasSubstr(places_.toolkit), Not(HasSubstr("\n"))));

  folder("toolkit", names);
  opened = open_libraries(names, places_);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(file_of(*opened), places_.toolkit + "/libother.so.1");
  for (const std::string& name : names) {
    const std::string in_half = places_.folders[0] + "/" + name;
    EXPECT_EQ(dlopen(in_half.c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr) << in_half;
  }
}

TEST_F(LibraryTest, ThatDoesNotLoadIsNotMixedWithThatOfAnotherFolder) {
  const std::vector<std::string> names = {"libgood.so.1", "libbad.so.1"};
  places_.folders = {folder("one", {"libgood.so.1"}), folder("other", names)};
  std::ofstream(places_.folders[0] + "/libbad.so.1") << "no library\n";
  const Result<void*> opened = open_libraries(names, places_);
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().message, AllOf(HasSubstr(places_.folders[0] + "/libbad.so.1: "),
                                            HasSubstr("; looked in " + places_.folders[0] + ";")));
}

TEST_F(LibraryTest, ThatTheLoaderFindsIsTakenFromThatOneFolder) {
  EXPECT_TRUE(open_libraries({"libm.so.6"}, places_).ok());
  const Result<void*> opened = open_libraries({"libm.so.6", "libnowhere.so.1"}, places_);
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().message, AllOf(HasSubstr("looked in where the loader looks: /"),
                                            HasSubstr(" (which lacks libnowhere.so.1), ")));
}

TEST_F(LibraryTest, IsLookedForWhereTheEnvironmentSays) {
  setenv(kLibraryFolders, "/a::/b/c", 1);
  setenv("HOME", "/opt/me", 1);
  EXPECT_THAT(library_places().folders, ElementsAre("/a", "/b/c"));
  EXPECT_EQ(library_places().home, "/opt/me");
  unsetenv(kLibraryFolders);
  EXPECT_TRUE(library_places().folders.empty());
}

}  // namespace
}  // namespace sterna::kernels
