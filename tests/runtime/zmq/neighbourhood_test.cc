#include "runtime/zmq/neighbourhood.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/runtime/zmq/temporary_tmpdir.h"

namespace sterna {
namespace {

using std::filesystem::exists;

class NearDirectories : public TemporaryTmpdir {
 protected:
  std::string leave_behind(const std::string& name) const {
    const std::filesystem::path path = folder / name;
    std::filesystem::create_directory(path);
    std::ofstream(path / "owner");
    std::ofstream(path / "worker0.1.data");
    return path.string();
  }
};

TEST_F(NearDirectories, AreTheUsersAloneAndGoWithTheirOwner) {
  auto made = NearDirectory::make(0x12ab);
  ASSERT_TRUE(made) << made.error().message;
  const std::string path = (*made)->path();
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
  EXPECT_NE(path.find("/sterna-00000000000012ab-"), std::string::npos) << path;
  std::ofstream(path + "/worker0.1.data");
  made->reset();
  EXPECT_FALSE(exists(path));
}

TEST_F(NearDirectories, WhoComesLaterRemovesThoseOfTheDeadOnly) {
  const std::string dead = leave_behind("sterna-00000000000000ff-abcdef");
  const std::string other = leave_behind("sterna-bench-of-somebody-else");
  const auto living = NearDirectory::make(1);
  const auto later = NearDirectory::make(2);
  ASSERT_TRUE(living && later);
  EXPECT_FALSE(exists(dead));
  EXPECT_TRUE(exists(other));
  EXPECT_TRUE(exists((*living)->path()));
  EXPECT_TRUE(exists((*later)->path()));
}

TEST_F(NearDirectories, OfARunGoWithIt) {
  const std::string one = leave_behind("sterna-00000000000000ff-abcdef");
  const std::string two = leave_behind("sterna-00000000000000ff-ghijkl");
  const std::string other = leave_behind("sterna-00000000000000fe-abcdef");
  NearDirectory::remove_of(0xff);
  EXPECT_FALSE(exists(one));
  EXPECT_FALSE(exists(two));
  EXPECT_TRUE(exists(other));
}

TEST_F(NearDirectories, LieInTmpWhereTmpdirIsTooLongForASocket) {
  ::setenv("TMPDIR", (folder / std::string(100, 'd')).c_str(), 1);
  const auto made = NearDirectory::make(3);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ((*made)->path().find("/tmp/sterna-"), 0U);
}

}  // namespace
}  // namespace sterna
