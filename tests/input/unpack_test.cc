#include "input/fetch/unpack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "archives.h"
#include "scratch.h"

namespace sterna::input {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Unpack : public ::testing::Test {
 protected:
  Unpack() { fs::create_directories(into()); }
  Result<void> unpack(const std::string& bytes, const UnpackBounds& bounds = {}) const {
    std::ofstream(scratch_ / "set.tgz", std::ios::binary) << bytes;
    return unpack_archive(scratch_ / "set.tgz", into(), bounds);
  }
  std::string refusal(const std::string& bytes, const UnpackBounds& bounds = {}) const {
    const Result<void> result = unpack(bytes, bounds);
    return result ? "nothing is wrong" : result.error().message;
  }
  fs::path into() const { return scratch_ / "a/b/into"; }
  TemporaryFolder scratch_;
};

TEST_F(Unpack, LeavesTheFirstFolderOutAndPassesHiddenNamesOver) {
  const Result<void> result = unpack(archive_of({{"set/", ""},
                                                 {"./set/one.bin", "1"},
                                                 {"set/roses/two.jpg", "22"},
                                                 {"set/.hidden", "x"},
                                                 {"._set", "x"}}));
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_THAT(files_in(into()), ElementsAre("one.bin"));
  EXPECT_THAT(files_in(into() / "roses"), ElementsAre("two.jpg"));
}

TEST_F(Unpack, WritesNothingOutsideItsFolder) {
  for (const char* name : {"set/../../x", "../x", "/tmp/sterna-unpacked", "set/a/../../../x"}) {
    EXPECT_THAT(refusal(archive_of({{name, "x"}})),
                AllOf(HasSubstr("set.tgz"), HasSubstr("leads out of its folder")))
        << name;
  }
  EXPECT_THAT(files_in(into()), IsEmpty());
  EXPECT_THAT(files_in(scratch_ / "a/b"), IsEmpty());
  EXPECT_THAT(files_in(scratch_ / "a"), IsEmpty());
}

TEST_F(Unpack, RefusesLinksOfTheArchiveAndOnesThatAreThere) {
  EXPECT_THAT(refusal(archive_of({{"set/out", "", "/tmp"}})), HasSubstr("a link or a device"));
  fs::create_directories(scratch_ / "elsewhere");
  fs::create_directory_symlink(scratch_ / "elsewhere", into() / "roses");
  EXPECT_THAT(refusal(archive_of({{"set/roses/1.jpg", "x"}})), HasSubstr("roses is a link"));
  EXPECT_THAT(files_in(scratch_ / "elsewhere"), IsEmpty());
}

TEST_F(Unpack, StopsAtItsBounds) {
  const std::string bomb = archive_of({{"set/zeros", std::string(std::size_t{4} << 20, '\0')}});
  EXPECT_LT(bomb.size(), 100'000U);
  EXPECT_THAT(refusal(bomb, {.bytes = 1'000'000}), HasSubstr("more than 1000000 bytes"));
  EXPECT_THAT(files_in(into()), IsEmpty());
  EXPECT_THAT(refusal(archive_of({{"s/1", ""}, {"s/2", ""}, {"s/3", ""}}), {.files = 2}),
              HasSubstr("more than 2 files"));
}

TEST_F(Unpack, RefusesWhatIsNoArchiveOrIsCutShort) {
  std::string random;
  for (unsigned i = 0; i < 100'000; ++i) random.push_back(static_cast<char>(i * i >> 3));
  const std::string whole = archive_of({{"set/a", random}});
  EXPECT_THAT(refusal(whole.substr(0, whole.size() / 2)), HasSubstr("no whole tar archive"));
  EXPECT_THAT(refusal("not an archive at all"), HasSubstr("no whole tar archive"));
  EXPECT_THAT(refusal(""), HasSubstr("no whole tar archive"));
  EXPECT_THAT(refusal(archive_of({})), HasSubstr("holds no file"));
}

}  // namespace
}  // namespace sterna::input
