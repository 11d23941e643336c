// Bundles: what their hash stands for, and where a program's own bundle is looked for.
#include "runtime/remote/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "tests/temporary_folder.h"

namespace sterna {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class BundleTest : public testing::Test {
 protected:
  BundleTest() {
    write("sterna-bundle", "format 1\nprogram greeter\n");
    write("bin/greeter", "a program");
    write("lib/libzmq.so.5", "a library");
    set_executable("bin/greeter");
  }
  void write(const std::string& path, const std::string& content) {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path, std::ios::binary) << content;
  }
  void set_executable(const std::string& path, fs::perm_options how = fs::perm_options::add) {
    fs::permissions(folder_ / path, fs::perms::owner_exec, how);
  }
  std::string hash() const {
    const Result<Bundle> bundle = read_bundle(folder_);
    EXPECT_TRUE(bundle) << bundle.error().message;
    return bundle ? bundle->hash : "";
  }

  TemporaryFolder temporary_;
  fs::path folder_ = fs::canonical(temporary_.path()) / "bundle";
};

std::vector<std::string> paths(const Bundle& bundle) {
  std::vector<std::string> result;
  for (const BundledFile& file : bundle.files) result.push_back(file.path);
  return result;
}

TEST_F(BundleTest, ListsItsFilesInOrder) {
  const Result<Bundle> bundle = read_bundle(folder_);
  ASSERT_TRUE(bundle) << bundle.error().message;
  EXPECT_EQ(bundle->program, "greeter");
  EXPECT_THAT(paths(*bundle), ElementsAre("bin/greeter", "lib/libzmq.so.5", "sterna-bundle"));
  EXPECT_TRUE(bundle->files[0].executable);
  EXPECT_FALSE(bundle->files[1].executable);
  EXPECT_EQ(bundle->bytes, 9U + 9U + 25U);
  EXPECT_EQ(bundle->hash.size(), 32U);
}

TEST_F(BundleTest, ACopyElsewhereHasTheSameHash) {
  const std::string before = hash();
  const fs::path moved = folder_.parent_path() / "moved";
  fs::rename(folder_, moved);
  folder_ = moved;
  EXPECT_EQ(hash(), before);
}

TEST_F(BundleTest, WhateverDiffersTheHashDoes) {
  std::vector<std::string> hashes = {hash()};
  const auto differs = [&] {
    hashes.push_back(hash());
    return std::count(hashes.begin(), hashes.end(), hashes.back()) == 1;
  };
  write("lib/libzmq.so.5", "a librarx");
  EXPECT_TRUE(differs()) << "content";
  set_executable("lib/libzmq.so.5");
  EXPECT_TRUE(differs()) << "mode";
  fs::rename(folder_ / "lib/libzmq.so.5", folder_ / "lib/libzmq.so.6");
  EXPECT_TRUE(differs()) << "name";
  write("lib/libmore.so", "");
  EXPECT_TRUE(differs()) << "one more";
}

TEST_F(BundleTest, AFolderWithoutTheMarkIsNoBundle) {
  fs::remove(folder_ / "sterna-bundle");
  EXPECT_EQ(read_bundle(folder_).error().code, Errc::not_found);
}

TEST_F(BundleTest, ALinkInItIsRefused) {
  fs::create_symlink("/etc/passwd", folder_ / "lib/link");
  EXPECT_THAT(read_bundle(folder_).error().message, HasSubstr("lib/link is not a plain file"));
}

TEST_F(BundleTest, AProgramWithinABundleIsThatBundles) {
  const Result<fs::path> own = own_bundle(folder_ / "bin/greeter");
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(*own, folder_);
}

TEST_F(BundleTest, AProgramHasTheBundleThatWasMadeBesideIt) {
  fs::copy_file("/proc/self/exe", folder_ / "greeter");
  write("bundle/sterna-bundle", "format 1\nprogram greeter\n");
  write("bundle/bin/greeter", "");
  fs::copy_file("/proc/self/exe", folder_ / "bundle/bin/greeter",
                fs::copy_options::overwrite_existing);
  const Result<fs::path> own = own_bundle(folder_ / "greeter");
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(*own, folder_ / "bundle");
}

TEST_F(BundleTest, TheBundleOfAnotherBuildIsNotIts) {
  fs::copy_file("/proc/self/exe", folder_ / "greeter");
  write("bundle/sterna-bundle", "format 1\nprogram greeter\n");
  write("bundle/bin/greeter", "");
  fs::copy_file("/bin/sh", folder_ / "bundle/bin/greeter", fs::copy_options::overwrite_existing);
  EXPECT_THAT(own_bundle(folder_ / "greeter").error().message,
              HasSubstr("is not of this build of greeter"));
}

TEST_F(BundleTest, AProgramWithoutABundleIsToldHowToMakeOne) {
  fs::copy_file("/proc/self/exe", folder_ / "greeter");
  EXPECT_THAT(own_bundle(folder_ / "greeter").error().message, HasSubstr("cmake --build"));
}

}  // namespace
}  // namespace sterna
