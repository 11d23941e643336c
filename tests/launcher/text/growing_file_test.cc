#include "launcher/text/growing_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class GrowingFileTest : public testing::Test {
 protected:
  void add(const std::string& text) const { std::ofstream(path, std::ios::app) << text; }
  TemporaryFolder folder;
  const std::string path = folder / "lines";
};

TEST_F(GrowingFileTest, GivesEachLineOnceWhenItIsWhole) {
  GrowingFile file(path);
  EXPECT_THAT(file.lines(), IsEmpty());
  add("one\ntw");
  EXPECT_THAT(file.lines(), ElementsAre("one"));
  add("o\n\n");
  EXPECT_THAT(file.lines(), ElementsAre("two", ""));
  EXPECT_THAT(file.lines(), IsEmpty());
}

TEST_F(GrowingFileTest, OfWhatWasThereBeforeOnlyTheEndIsRead) {
  add("a long line that nobody wants\nlast\n");
  GrowingFile file(path, 10);
  EXPECT_THAT(file.lines(), ElementsAre("last"));
  add("new\n");
  EXPECT_THAT(file.lines(), ElementsAre("new"));
}

TEST_F(GrowingFileTest, ReadsAPieceAtATime) {
  const std::string line(1023, 'x');
  for (int i = 0; i < 1500; ++i) add(line + "\n");
  GrowingFile file(path);
  EXPECT_THAT(file.lines(), SizeIs(1024));
  EXPECT_TRUE(file.has_more());
  EXPECT_THAT(file.lines(), SizeIs(476));
  EXPECT_FALSE(file.has_more());
}

TEST_F(GrowingFileTest, CutsALineThatIsTooLong) {
  add(std::string(3 * GrowingFile::kPiece, 'x') + "\nnext\n");
  GrowingFile file(path);
  std::vector<std::string> lines;
  do {
    for (std::string& line : file.lines()) lines.push_back(std::move(line));
  } while (file.has_more());
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0].size(), GrowingFile::kLongest);
  EXPECT_EQ(lines[1], "next");
}

TEST_F(GrowingFileTest, GivesTheLastWordsThatHaveNoEndOnce) {
  add("one\nlast words");
  GrowingFile file(path);
  EXPECT_THAT(file.lines(), ElementsAre("one"));
  EXPECT_EQ(file.take_rest(), "last words");
  EXPECT_EQ(file.take_rest(), "");
}

TEST_F(GrowingFileTest, GoesOnBehindWhatWasReadElsewhere) {
  add("one\ntwo\n");
  GrowingFile file = GrowingFile::behind(path, 4);
  EXPECT_THAT(file.lines(), ElementsAre("two"));
}

TEST_F(GrowingFileTest, APipeInItsPlaceHoldsNobodyUp) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(GrowingFile(path).lines(), IsEmpty());
}

TEST_F(GrowingFileTest, BeginsAgainWhereTheFileDoesAndSaysSoOnce) {
  add("one\ntwo\n");
  GrowingFile file(path);
  EXPECT_THAT(file.lines(), SizeIs(2));
  EXPECT_FALSE(file.began_anew());
  std::ofstream(path, std::ios::trunc) << "new\n";
  EXPECT_THAT(file.lines(), ElementsAre("new"));
  EXPECT_TRUE(file.began_anew());
  EXPECT_FALSE(file.began_anew());
}

TEST_F(GrowingFileTest, OfALineThatWasCutWithItsFileNothingIsLeft) {
  add("one\nand a part of tw");
  GrowingFile file(path);
  EXPECT_THAT(file.lines(), ElementsAre("one"));
  std::ofstream(path, std::ios::trunc) << "new\n";
  EXPECT_THAT(file.lines(), ElementsAre("new"));
}

TEST_F(GrowingFileTest, WhatIsBegunAnewIsNotSkipped) {
  add("a long line without its end");
  GrowingFile file(path, 10);
  EXPECT_THAT(file.lines(), IsEmpty());
  std::ofstream(path, std::ios::trunc) << "new\n";
  EXPECT_THAT(file.lines(), ElementsAre("new"));
}

}  // namespace
}  // namespace sterna::launcher
