#include "runtime/base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "runtime/base/full_disk.h"
#include "tests/as_nobody.h"
#include "tests/temporary_folder.h"

namespace sterna {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  std::string path() const { return folder_ / "file"; }
  auto entries() const { return std::distance(fs::directory_iterator(folder_.path()), {}); }
  TemporaryFolder folder_;
};

TEST_F(FileTest, WhatIsWrittenIsReadAndNothingElseIsLeft) {
  ASSERT_TRUE(write_atomically(path(), "first").ok());
  const std::array parts{std::as_bytes(std::span("one ", 4)), std::as_bytes(std::span("two", 3))};
  ASSERT_TRUE(write_atomically(path(), parts).ok());
  EXPECT_EQ(*read_file(path()), "one two");
  EXPECT_EQ(entries(), 1);
}

TEST_F(FileTest, WhatCannotBeWrittenWholeLeavesWhatWasThere) {
  ASSERT_TRUE(write_atomically(path(), "before").ok());
  const Result<void> written = [&] {
    const FullDisk full(4096);
    return write_atomically(path(), std::string(10'000, 'x'));
  }();
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, Errc::io);
  EXPECT_THAT(written.error().message, StartsWith("cannot write " + path() + ": "));
  EXPECT_EQ(*read_file(path()), "before");
  EXPECT_EQ(entries(), 1);
}

TEST_F(FileTest, AFolderInTheWayIsAnErrorThatLeavesNothing) {
  fs::create_directory(path());
  EXPECT_THAT(write_atomically(path(), "text").error().message, StartsWith("cannot write "));
  EXPECT_EQ(entries(), 1);
  EXPECT_EQ(write_atomically(folder_ / "none/file", "text").error().code, Errc::io);
}

TEST_F(FileTest, PermissionsAreThoseAskedForLessTheUmask) {
  const mode_t umask_before = ::umask(S_IRWXO);
  EXPECT_TRUE(write_atomically(path(), "secret", S_IRUSR | S_IWUSR).ok());
  EXPECT_TRUE(write_atomically(folder_ / "shared", "text").ok());
  ::umask(umask_before);
  EXPECT_EQ(fs::status(path()).permissions(), fs::perms(0600));
  EXPECT_EQ(fs::status(folder_ / "shared").permissions(), fs::perms(0640));
}

TEST_F(FileTest, ReadingIsBounded) {
  std::ofstream(path()) << "12345";
  EXPECT_EQ(*read_file(path(), 5), "12345");
  EXPECT_EQ(read_file(path(), 4).error().message, path() + ": larger than 4 bytes");
  fs::resize_file(path(), kMostFileBytes + 1);
  EXPECT_EQ(read_file(path()).error().message, path() + ": larger than 16 MiB");
}

TEST_F(FileTest, WhatCannotBeReadSaysWhy) {
  EXPECT_EQ(read_file(path()).error().code, Errc::not_found);
  EXPECT_EQ(read_file(path()).error().message, path() + ": there is no such file");
  EXPECT_EQ(read_file(folder_.path()).error().message,
            folder_.path() + ": a directory, not a file");
}

TEST_F(FileTest, APipeIsReadToItsEndHoweverSlowItsWriter) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const std::string pipe = "/dev/fd/" + std::to_string(ends[0]);
  std::thread writer([&] {
    const std::string text(200'000, 'x');  // more than a pipe holds
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t wrote = ::write(ends[1], text.data() + at, text.size() - at);
      if (wrote < 0) break;
      at += static_cast<std::size_t>(wrote);
    }
    ::close(ends[1]);
  });
  const Result<std::string> read = read_file(pipe);
  ::close(ends[0]);  // a writer that nobody hears must end, too
  writer.join();
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->size(), 200'000U);
}

TEST_F(FileTest, APipeWithoutAWriterIsEmpty) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(*read_file(path()), "");
}

TEST_F(FileTest, FoldersAreMadeWithTheirParents) {
  const fs::path deep = folder_ / "a/b";
  EXPECT_TRUE(make_directory(deep).ok());
  EXPECT_TRUE(make_directory(deep).ok());
  EXPECT_TRUE(fs::is_directory(deep));
  std::ofstream(path()) << "in the way";
  EXPECT_THAT(make_directory(folder_ / "file/a").error().message,
              StartsWith("cannot make the directory " + path() + "/a: "));
}

TEST_F(FileTest, AFolderThatTakesNoFilesIsAnError) {
  EXPECT_TRUE(make_writable_folder(folder_ / "a").ok());
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod((folder_ / "a").c_str(), 0555), 0);
  const AsNobody nobody;
  EXPECT_THAT(make_writable_folder(folder_ / "a").error().message,
              StartsWith("cannot write " + (folder_ / "a").string() + ": Permission denied"));
}

TEST_F(FileTest, FilesAndFoldersAreSyncedAndALinkIsNoFile) {
  std::ofstream(path()) << "text";
  EXPECT_TRUE(sync_file(path()).ok());
  EXPECT_TRUE(sync_folder(folder_.path()).ok());
  EXPECT_TRUE(sync_folder("/proc").ok()) << "which syncs nothing";
  std::filesystem::create_symlink(path(), folder_ / "link");
  EXPECT_FALSE(sync_file(folder_ / "link").ok());
  EXPECT_THAT(sync_folder(path()).error().message, StartsWith("cannot write " + path()));
  EXPECT_THAT(sync_file(folder_ / "none").error().message, HasSubstr("No such file"));
}

TEST(ExpandHome, ReplacesALeadingTildeOnly) {
  const char* home = std::getenv("HOME");
  ASSERT_NE(home, nullptr);
  EXPECT_EQ(expand_home("~"), home);
  EXPECT_EQ(expand_home("~/runs"), std::string(home) + "/runs");
  for (const char* same : {"", "/~", "~other/runs", "a/~"}) EXPECT_EQ(expand_home(same), same);
}

TEST_F(FileTest, LinesComeOneBehindTheOther) {
  Result<LineFile> lines = LineFile::create(path());
  ASSERT_TRUE(lines.ok());
  EXPECT_TRUE(lines->append("one").ok());
  EXPECT_TRUE(lines->append("two").ok());
  EXPECT_EQ(*read_file(path()), "one\ntwo\n");
  EXPECT_TRUE(lines->close().ok());
  EXPECT_TRUE(lines->close().ok());
  EXPECT_THAT(lines->append("three").error().message, HasSubstr("it is closed"));
}

TEST_F(FileTest, AFullDiskLeavesNoPartOfALineAndTheNextOneIsTakenOnceThereIsRoom) {
  Result<LineFile> lines = LineFile::create(path());
  ASSERT_TRUE(lines.ok());
  EXPECT_TRUE(lines->append("one").ok());
  {
    const FullDisk full(8);
    EXPECT_THAT(lines->append("two that is too long").error().message, StartsWith("cannot write"));
    EXPECT_EQ(*read_file(path()), "one\n");
  }
  EXPECT_TRUE(lines->append("three").ok());
  EXPECT_EQ(*read_file(path()), "one\nthree\n");
}

TEST(LineFile, AFullDiskIsAOneLineError) {
  Result<LineFile> lines = LineFile::create("/dev/full");
  ASSERT_TRUE(lines.ok());
  EXPECT_THAT(lines->append("text").error().message, HasSubstr("No space left"));
}

}  // namespace
}  // namespace sterna
