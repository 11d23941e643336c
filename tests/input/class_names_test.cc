#include "input/place/class_names.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "scratch.h"

namespace sterna::input {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class ClassNamesTest : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) const {
    const fs::path path = fs::path(folder_.path()) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::optional<ClassLabels> names(std::uint32_t offset = 0) const {
    const auto found = class_names(folder_.path(), {.label_offset = offset});
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found ? *found : std::nullopt;
  }
  Names hints(std::uint32_t offset = 0) const {
    const auto found = class_hints(folder_.path(), {.label_offset = offset});
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found ? *found : Names();
  }
  TemporaryFolder folder_;
};

TEST_F(ClassNamesTest, OfRecordsAreThoseOfTheLabelsThatNetsSee) {
  put("train-00000-of-00001", "");
  put("validation-00000-of-00001", "");
  put("labels.txt", "0:background\n1:daisy\n2:rose\n");
  EXPECT_EQ(names(), (ClassLabels{{"background", "daisy", "rose"}, 0}));
  EXPECT_EQ(names(1), (ClassLabels{{"daisy", "rose"}, 0}));
  put("labels.txt", "1:daisy\n2:rose\n");
  EXPECT_EQ(names(), (ClassLabels{{"daisy", "rose"}, 1}));
  EXPECT_EQ(names(1), (ClassLabels{{"daisy", "rose"}, 0}));
  EXPECT_EQ(names(2), (ClassLabels{{"rose"}, 0}));
  EXPECT_EQ(names(5), (ClassLabels{{}, 0}));
}

TEST_F(ClassNamesTest, OfRecordsThatAPatternNamesAreThoseOfTheLabelsThatNetsSee) {
  put("a.bin", "");
  put("b.bin", "");
  put("labels.txt", "0:background\n1:daisy\n2:rose\n");
  const auto found =
      class_names(folder_.path(), {.label_offset = 1, .train_files = "a.*", .test_files = "b.*"});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(*found, (ClassLabels{{"daisy", "rose"}, 0}));
}

TEST_F(ClassNamesTest, AreNoneOfPicturesThatAreMadeUp) {
  put("labels.txt", "daisy\nrose\n");
  const auto found = class_names(folder_.path(), {.synthetic = SyntheticPictures()});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(*found, std::nullopt);
}

TEST_F(ClassNamesTest, OfAPictureFolderCountFromZero) {
  for (const char* name : {"train/b/1.png", "train/a/1.png", "val/a/1.png"}) put(name, "");
  EXPECT_EQ(names(), (ClassLabels{{"a", "b"}, 0}));
  put("train/labels.txt", "1:b\n2:a\n");
  EXPECT_EQ(names(), (ClassLabels{{"b", "a"}, 0}));
}

TEST_F(ClassNamesTest, OfRecordsAreCalledMissingWhereLabelsBeginAboveZero) {
  put("train-00000-of-00001", "");
  put("validation-00000-of-00001", "");
  put("labels.txt", "2:daisy\n3:rose\n");
  EXPECT_EQ(hints(),
            Names{"labels.txt begins at 2: classes 0 to 1 have no name; where no example has them, "
                  "data.label_offset = 2 leaves them out"});
  EXPECT_EQ(hints(1), Names{"labels.txt begins at 2: class 0 has no name; where no example has it, "
                            "data.label_offset = 2 leaves it out"});
  EXPECT_EQ(hints(2), Names{});
}

TEST_F(ClassNamesTest, WithoutAPictureToTrainOnAreToldOfAFolder) {
  for (const char* name : {"train/b/1.png", "train/a/1.png", "val/a/1.png"}) put(name, "");
  EXPECT_EQ(hints(), Names{});
  put("labels.txt", "1:b\n2:a\n3:c\n");
  EXPECT_EQ(hints(),
            (Names{"labels.txt counts from 1, and folders of pictures from 0: b is class 0",
                   "1 of 3 classes has no example to train on: c"}));
}

TEST_F(ClassNamesTest, AreNoneWhereNothingNamesThem) { EXPECT_EQ(names(), std::nullopt); }

}  // namespace
}  // namespace sterna::input
