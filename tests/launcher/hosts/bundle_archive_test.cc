#include "launcher/hosts/bundle_archive.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

class BundleArchive : public testing::Test {
 protected:
  BundleArchive() {
    ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    fs::create_directories(bundle_ / "bin");
    std::ofstream(bundle_ / "sterna-bundle") << "format 1\nprogram greeter\n";
    std::ofstream(bundle_ / "bin/greeter") << "a program";
    fs::permissions(bundle_ / "bin/greeter", fs::perms::owner_all);
  }
  ~BundleArchive() override { ::unsetenv("XDG_CACHE_HOME"); }
  Result<RemoteBundle> archive() { return archived_bundle((bundle_ / "bin/greeter").string()); }

  TemporaryFolder folder_;
  fs::path bundle_ = fs::canonical(folder_.path()) / "bundle";
};

TEST_F(BundleArchive, LiesInTheCacheByTheBundlesHash) {
  const Result<RemoteBundle> archived = archive();
  ASSERT_TRUE(archived.ok()) << archived.error().message;
  EXPECT_EQ(archived->program, "greeter");
  EXPECT_EQ(archived->archive,
            (folder_ / ("cache/sterna/archives/" + archived->hash + ".tar.gz")).string());
  EXPECT_TRUE(fs::is_regular_file(archived->archive));
}

TEST_F(BundleArchive, IsMadeOnce) {
  const std::string path = archive().value().archive;
  std::ofstream(path, std::ios::trunc) << "as it was";
  EXPECT_EQ(archive().value().archive, path);
  EXPECT_EQ(fs::file_size(path), 9U);
}

TEST_F(BundleArchive, OfTheSameBundleHasTheSameBytes) {
  const auto content = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string path = archive().value().archive;
  const std::string first = content(path);
  fs::remove(path);
  fs::last_write_time(bundle_ / "bin/greeter", fs::file_time_type{});
  EXPECT_EQ(content(archive().value().archive), first);
}

TEST_F(BundleArchive, OfAProgramWithoutABundleIsAnError) {
  fs::remove(bundle_ / "sterna-bundle");
  EXPECT_FALSE(archive().ok());
}

}  // namespace
}  // namespace sterna::launcher
