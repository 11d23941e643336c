#include "input/formats/picture_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "input/formats/labels.h"
#include "input/formats/passed_over.h"
#include "input/pictures/encode.h"
#include "made_pictures.h"
#include "real_data.h"
#include "scratch.h"

namespace sterna::input {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class PictureFolderTest : public testing::Test {
 protected:
  fs::path dir() const { return folder_.path(); }
  void put(const std::string& name, const std::string& text = "x") const {
    fs::create_directories((dir() / name).parent_path());
    write_file(dir() / name, Bytes(text.begin(), text.end()));
  }
  /// "label class/file" of each picture.
  std::vector<std::string> listed() const {
    const Result<PictureFolder> found = list_picture_folder(dir());
    EXPECT_TRUE(found.ok()) << found.error().message;
    if (!found) return {};
    std::vector<std::string> lines;
    for (const auto& [path, label] : found->pictures) {
      lines.push_back(std::to_string(label) + " " + fs::relative(path, dir()).string());
    }
    return lines;
  }
  std::string refused() const {
    const Result<PictureFolder> found = list_picture_folder(dir());
    EXPECT_FALSE(found.ok());
    return found ? "" : found.error().message;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(PictureFolderTest, IsSortedByClassAndFileName) {
  for (const char* name : {"tulips/b.PNG", "roses/2.jpg", "tulips/a.JpEg", "roses/10.jpg"})
    put(name);
  EXPECT_THAT(listed(),
              ElementsAre("0 roses/10.jpg", "0 roses/2.jpg", "1 tulips/a.JpEg", "1 tulips/b.PNG"));
}

TEST_F(PictureFolderTest, PassesOverWhatIsHiddenOrNoPicture) {
  for (const char* name : {"a/1.jpg", "a/.2.jpg", "a/notes.txt", "a/jpg", ".cache/3.jpg",
                           "LICENSE.jpg", "a/deeper.jpg/4.jpg"}) {
    put(name);
  }
  EXPECT_THAT(listed(), ElementsAre("0 a/1.jpg"));
}

TEST_F(PictureFolderTest, CountsWhatIsPassedOver) {
  put("train/a/1.jpg");
  put("val/a/1.jpg");
  EXPECT_EQ(to_text(passed_over(dir()).value()), "");
  for (const char* name :
       {"train/a/2.GIF", "train/a/3.gif", "val/a/2.heic", "train/a/raw", "train/a/more/4.jpg",
        "train/5.jpg", "val/6.jpg", "train/a/.hidden", "train/labels.txt", "README"}) {
    put(name);
  }
  EXPECT_EQ(
      to_text(passed_over(dir()).value()),
      "4 files of other formats (without an ending, .gif, .heic), 1 subfolder, 2 loose files");
  EXPECT_EQ(to_text(passed_over(dir() / "train").value()),
            "3 files of other formats (without an ending, .gif), 1 subfolder, 1 loose file");
}

TEST_F(PictureFolderTest, SaysWhichLinkLeadsNowhere) {
  put("a/1.jpg");
  fs::create_symlink(dir() / "nowhere", dir() / "a/notes.txt");
  EXPECT_THAT(listed(), ElementsAre("0 a/1.jpg"));
  fs::create_symlink(dir() / "nowhere", dir() / "a/2.jpg");
  EXPECT_THAT(refused(), HasSubstr("a/2.jpg is a link that leads nowhere"));
  fs::remove(dir() / "a/2.jpg");
  fs::create_symlink(dir() / "a/1.jpg", dir() / "a/2.jpg");
  EXPECT_EQ(listed().size(), 2U);
}

TEST_F(PictureFolderTest, SaysWhichLinkCannotBeFollowed) {
  put("a/1.jpg");
  fs::create_symlink("2.jpg", dir() / "a/2.jpg");
  EXPECT_THAT(refused(), HasSubstr("cannot tell what " + (dir() / "a/2.jpg").string() + " is: "));
  fs::remove(dir() / "a/2.jpg");
  fs::create_directory_symlink("b", dir() / "b");
  EXPECT_THAT(refused(), HasSubstr((dir() / "b").string() + " is: "));
}

TEST_F(PictureFolderTest, CountsClassesAsItsLabelsSay) {
  put("a/1.jpg");
  put("b/1.jpg");
  put("labels.txt", "b\na\n");
  EXPECT_THAT(listed(), ElementsAre("1 a/1.jpg", "0 b/1.jpg"));
  put("labels.txt", "2:a\n1:b\n");
  EXPECT_THAT(listed(), ElementsAre("1 a/1.jpg", "0 b/1.jpg"));
}

TEST_F(PictureFolderTest, TakesTheLabelsBesideItsSplit) {
  put("train/a/1.jpg");
  put("train/b/1.jpg");
  put("labels.txt", "b\nnot in this split\na\n");
  for (const fs::path& train : {dir() / "train", dir() / "train/"}) {
    const Result<PictureFolder> found = list_picture_folder(train);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_THAT(found->classes, ElementsAre("b", "not in this split", "a"));
    EXPECT_EQ(found->pictures.front().label, 2);
  }
}

TEST_F(PictureFolderTest, RefusesLabelsOfOtherClasses) {
  put("a/1.jpg");
  put("labels.txt", "a\nb\n");
  EXPECT_THAT(refused(), HasSubstr("names the class \"b\", which has no folder"));
  put("labels.txt", "a\n");
  put("c/1.jpg");
  EXPECT_THAT(refused(), HasSubstr("has the folder c, which"));
}

TEST_F(PictureFolderTest, SaysWhereNamesDifferInTheFormOfTheirLettersAlone) {
  put("train/Caf\xc3\xa9/1.jpg");
  put("val/Cafe\xcc\x81/1.jpg");
  const auto val = list_split(dir(), Split::test);
  ASSERT_FALSE(val.ok());
  EXPECT_THAT(val.error().message,
              EndsWith(R"(; "Cafe\xcc\x81" and "Caf\xc3\xa9" seem to differ only in the )"
                       "form of their Unicode letters (NFC, NFD): give both one form"));
  put("train/labels.txt", "Cafe\xcc\x81\n");
  EXPECT_THAT(list_split(dir(), Split::train).error().message, HasSubstr("seem to differ only"));
  // Of two that are spelled otherwise nothing is said.
  fs::remove_all(dir() / "val");
  fs::remove(dir() / "train/labels.txt");
  put("val/Caf\xc3\xa8/1.jpg");
  EXPECT_THAT(list_split(dir(), Split::test).error().message, EndsWith("its pictures there"));
}

TEST_F(PictureFolderTest, RefusesAClassWhoseNameWouldBreakALineOfLabels) {
  put("a/1.jpg");
  put("b\n1:c/1.jpg");
  EXPECT_THAT(refused(),
              HasSubstr("has the class folder \"b\\u000A1:c\", whose name holds the end of "
                        "a line"));
  EXPECT_EQ(refused().find('\n'), std::string::npos);
}

TEST_F(PictureFolderTest, RefusesAClassWithoutPictures) {
  put("a/1.jpg");
  put("b/readme.txt");
  EXPECT_THAT(refused(), HasSubstr("/b is a class without a picture"));
}

TEST_F(PictureFolderTest, OfOtherThingsIsNoDataFolderAndLosesNothing) {
  put("guide/a.md");
  put("notes/b.md");
  put("photos/1.jpg");
  EXPECT_THAT(refused(),
              HasSubstr(dir().string() + " is no data folder: 2 of its 3 folders hold no "
                                         "picture (.jpg, .jpeg, .png), such as "));
  EXPECT_EQ(refused().find("remove"), std::string::npos);
}

TEST_F(PictureFolderTest, RefusesAFolderWithoutClasses) {
  put("1.jpg");
  EXPECT_THAT(refused(), HasSubstr("has no class folders"));
  const Result<PictureFolder> none = list_picture_folder(dir() / "nowhere");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Errc::not_found);
}

TEST_F(PictureFolderTest, KnowsItsSplitsByTheirFolders) {
  put("val/a/1.jpg");
  EXPECT_EQ(split_folder(dir(), Split::test), std::nullopt) << "no train beside it";
  put("train/a/1.jpg");
  put("test/a/1.jpg");
  EXPECT_EQ(split_folder(dir(), Split::train), dir() / "train");
  EXPECT_EQ(split_folder(dir(), Split::test), dir() / "val");
  EXPECT_EQ(split_folder(dir() / "train", Split::train), std::nullopt);
}

TEST_F(PictureFolderTest, ReadsAPictureAsWhatItsBytesAre) {
  fs::create_directories(dir() / "a");
  const Result<Bytes> png = encode_png(made_picture({5, 7, 3}));
  ASSERT_TRUE(png.ok());
  write_file(dir() / "a/1.jpg", *png);
  put("a/2.jpg", "neither");
  const Result<PictureFolder> found = list_picture_folder(dir());
  ASSERT_TRUE(found.ok());
  const Result<StoredExample> example = read_picture(*found, 0);
  ASSERT_TRUE(example.ok()) << example.error().message;
  EXPECT_EQ(example->picture.coding, Coding::png);
  EXPECT_EQ(Bytes(example->picture.bytes.begin(), example->picture.bytes.end()), *png);
  const Result<StoredExample> neither = read_picture(*found, 1);
  ASSERT_FALSE(neither.ok());
  EXPECT_EQ(neither.error().code, Errc::malformed);
  EXPECT_THAT(neither.error().message, HasSubstr("a/2.jpg: neither a JPEG nor a PNG"));
}

class LabelsTest : public PictureFolderTest {
 protected:
  Result<ClassLabels> read(const std::string& text) const {
    put("labels.txt", text);
    return read_labels(dir() / kLabelsFile);
  }
  void expect_refused(const std::string& text, const std::string& why) const {
    const Result<ClassLabels> labels = read(text);
    ASSERT_FALSE(labels.ok()) << text;
    EXPECT_THAT(labels.error().message, HasSubstr(why));
  }
};

TEST_F(LabelsTest, AreReadBackAsTheyWereWritten) {
  const ClassLabels labels{{"sea eagle", "3:4", "tern"}, 1};
  ASSERT_TRUE(write_labels(dir() / kLabelsFile, labels).ok());
  const Result<ClassLabels> again = read_labels(dir() / kLabelsFile);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, labels);
}

TEST_F(LabelsTest, AreNamesOrNumberedNames) {
  EXPECT_EQ(*read("a\r\nb\r\n\n"), (ClassLabels{{"a", "b"}, 0}));
  EXPECT_EQ(*read("3:c\n2:b\n"), (ClassLabels{{"b", "c"}, 2}));
  EXPECT_EQ(*read("3:c\nb\n"), (ClassLabels{{"3:c", "b"}, 0}));
}

TEST_F(LabelsTest, OfBothFormsAreRefusedWhereTheIdsAreThoseOfTheirLines) {
  expect_refused("0:a\nb\n1:c\n", "labels.txt:2: \"b\" has no id, and line 1 reads as id 0");
  expect_refused("a\n2:b\n", "labels.txt:1: \"a\" has no id, and line 2 reads as id 2");
  EXPECT_EQ(*read("wide\n16:9\n4:3\n"), (ClassLabels{{"wide", "16:9", "4:3"}, 0}));
}

TEST_F(LabelsTest, AreNotWrittenWithTheEndOfALineInAName) {
  const Result<void> written = write_labels(dir() / kLabelsFile, {{"a", "b\nc"}, 0});
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, HasSubstr("cannot name the class \"b\\u000Ac\""));
}

TEST_F(LabelsTest, HaveNoByteOrderMarkInTheirFirstName) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(*read(mark + "a\nb\n"), (ClassLabels{{"a", "b"}, 0}));
  EXPECT_EQ(*read(mark + "1:a\n2:b\n"), (ClassLabels{{"a", "b"}, 1}));
}

TEST_F(LabelsTest, AreRefusedWithTheirLine) {
  expect_refused("", "labels.txt:1: it names no class");
  expect_refused("a\n\nb\n", "labels.txt:2: an empty name");
  expect_refused("a\nb\na\n", "labels.txt:3: \"a\" is named twice");
  expect_refused("0:a\n2:b\n", "labels.txt:2: id 2 where 1 is next");
  expect_refused("0:a\n0:b\n", "labels.txt:2: id 0 where 1 is next");
  expect_refused("70000:a\n", "labels.txt:1: id 70000, and labels end at 65535");
}

TEST(RealFlowerPhotos, AreListedByClass) {
  const auto dir = real_data("flower_photos/train");
  if (!dir) GTEST_SKIP() << "SKIPPED: no flower_photos/train among the real data";
  const Result<PictureFolder> found = list_picture_folder(*dir);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_THAT(found->classes, ElementsAre("daisy", "dandelion", "roses", "sunflowers", "tulips"));
  EXPECT_EQ(found->pictures.size(), 600U);
  EXPECT_TRUE(split_folder(dir->parent_path(), Split::test).has_value());
}

}  // namespace
}  // namespace sterna::input
