#include "runtime/cluster/run_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.h"

namespace sterna {
namespace {

class RunFiles : public testing::Test {
 protected:
  RunFiles() { std::ofstream(folder / "a.log") << "0123456789"; }
  Result<FilePiece> read(const std::string& name, std::uint64_t offset = 0,
                         std::uint32_t limit = ReadFile::kMost) const {
    return read_piece(folder.path(), {{}, name, offset, limit});
  }
  TemporaryFolder folder;
};

TEST_F(RunFiles, AreReadPieceByPiece) {
  const Result<FilePiece> piece = read("a.log", 3, 4);
  ASSERT_TRUE(piece.ok()) << piece.error().message;
  EXPECT_EQ(text_of(piece->bytes.view()), "3456");
  EXPECT_EQ(piece->size, 10U);
  EXPECT_EQ(text_of(read("a.log", 8)->bytes.view()), "89");
}

TEST_F(RunFiles, BeyondTheirEndIsNothingMore) {
  const Result<FilePiece> piece = read("a.log", 10);
  ASSERT_TRUE(piece.ok());
  EXPECT_TRUE(piece->bytes.empty());
  EXPECT_EQ(piece->size, 10U);
}

TEST_F(RunFiles, APieceIsNeverLargerThanAMessageMayBe) {
  const std::uint64_t size = ReadFile::kMost + 1000ULL;
  std::ofstream(folder / "large") << "x";
  std::filesystem::resize_file(folder / "large", size);
  EXPECT_EQ(read("large", 0, ~0U)->bytes.size(), ReadFile::kMost);
}

TEST_F(RunFiles, NamesThatLeadElsewhereAreRefused) {
  for (const char* name : {"", ".", "..", ".hidden", "../a.log", "sub/a.log", "/etc/passwd"}) {
    EXPECT_EQ(read(name).error().code, Errc::invalid_argument) << name;
  }
}

TEST_F(RunFiles, LinksFoldersAndPipesAreNoFilesOfARun) {
  std::filesystem::create_symlink("/etc/passwd", folder / "link");
  std::filesystem::create_directory(folder / "sub");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(read("link").ok());
  EXPECT_EQ(read("sub").error().code, Errc::not_found);
  EXPECT_EQ(read("pipe").error().code, Errc::not_found);  // and nobody waits for a writer
}

TEST_F(RunFiles, WhatIsNotThereIsNamed) {
  const Result<FilePiece> piece = read("b.log");
  ASSERT_FALSE(piece.ok());
  EXPECT_EQ(piece.error().code, Errc::not_found);
  EXPECT_NE(piece.error().message.find("b.log"), std::string::npos);
}

}  // namespace
}  // namespace sterna
