#include "input/formats/picture_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "input/pictures/encode.h"
#include "input/place/data_set.h"
#include "input/place/data_shard.h"
#include "scratch.h"
#include "tests/input/made_pictures.h"

namespace sterna::input {
namespace {

using testing::HasSubstr;

/// Two classes: 70 pictures to train on, 2 to test on.
class PictureSourceTest : public testing::Test {
 protected:
  PictureSourceTest() {
    const auto png = encode_png(made_picture({6, 5, 3})).value();
    for (const char* name : {"roses", "tulips"}) {
      std::filesystem::create_directories(folder / "train" / name);
      std::filesystem::create_directories(folder / "val" / name);
      write_file(folder / "val" / name / "1.png", png);
      for (int i = 0; i < 35; ++i)
        write_file(folder / "train" / name / (std::to_string(100 + i) + ".png"), png);
    }
  }
  TemporaryFolder folder;
};

TEST_F(PictureSourceTest, IsADataSetThatIsFoundByItsFolders) {
  EXPECT_EQ(&format_of(folder.path(), {}), &kPictureFolder);
  EXPECT_EQ(data_set_in(folder.path()).name, "pictures");
  const Result<SourceFacts> facts = data_facts(folder.path(), Split::train);
  ASSERT_TRUE(facts.ok()) << facts.error().message;
  EXPECT_EQ(facts->count, 70U);
  EXPECT_EQ(facts->classes, 2U);
  EXPECT_EQ(data_facts(folder.path(), Split::test)->count, 2U);
}

TEST_F(PictureSourceTest, ReadsAPictureByItsIndexAndHasBlocksOf64) {
  const auto source = open_data(folder.path(), Split::train).value();
  const Result<StoredExample> example = source->read(35);
  ASSERT_TRUE(example.ok()) << example.error().message;
  EXPECT_EQ(example->label, 1);
  EXPECT_EQ(example->picture.coding, Coding::png);
  EXPECT_EQ(source->block_of(35), (ExampleRange{0, 64}));
  EXPECT_EQ(source->block_of(69), (ExampleRange{64, 70}));
}

TEST_F(PictureSourceTest, IsNamedByItsFilesForShards) {
  const auto first = load_training_part(folder.path(), ShardId{0, 2}).value();
  const auto second = load_training_part(folder.path(), ShardId{1, 2}).value();
  EXPECT_EQ(first.range, (ExampleRange{0, 35}));
  EXPECT_EQ(first.sha256, second.sha256);
  std::filesystem::remove(folder / "train/tulips/134.png");
  EXPECT_NE(load_training_part(folder.path(), ShardId{0, 2})->sha256, first.sha256);
}

TEST_F(PictureSourceTest, IsOtherDataWhereItsLabelsOrSizesDiffer) {
  const auto name = [this] { return load_training_part(folder.path(), ShardId{0, 2})->sha256; };
  const auto label = [this](const char* text) { std::ofstream(folder / "labels.txt") << text; };
  const std::string as_they_are = name();
  label("roses\ntulips\n");
  EXPECT_EQ(name(), as_they_are);
  label("tulips\nroses\n");
  EXPECT_NE(name(), as_they_are);
  label("roses\ntulips\nweeds\n");
  EXPECT_NE(name(), as_they_are);
  std::filesystem::remove(folder / "labels.txt");
  std::ofstream(folder / "train/roses/100.png", std::ios::app) << "more";
  EXPECT_NE(name(), as_they_are);
}

TEST_F(PictureSourceTest, IsOtherDataWhereAPictureOfTheSameSizeIsAnotherAndTheSameWhereItIsACopy) {
  const auto name = [this] { return load_training_part(folder.path(), ShardId{0, 2})->sha256; };
  const std::filesystem::path picture = folder / "train/roses/100.png";
  const std::string as_they_are = name();
  std::vector<std::uint8_t> bytes = read_file(picture);
  std::filesystem::last_write_time(picture, std::filesystem::file_time_type{});
  EXPECT_EQ(name(), as_they_are);
  bytes.back() ^= 1U;
  write_file(picture, bytes);
  EXPECT_NE(name(), as_they_are);
}

TEST_F(PictureSourceTest, GivesTestPicturesTheLabelsOfTraining) {
  std::filesystem::remove_all(folder / "val/roses");
  const auto source = open_data(folder.path(), Split::test).value();
  EXPECT_EQ(source->facts().classes, 2U);
  EXPECT_EQ(source->read(0)->label, 1);  // tulips
  std::filesystem::rename(folder / "val/tulips", folder / "val/weeds");
  const auto unknown = open_data(folder.path(), Split::test);
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message, HasSubstr("weeds is of a class that the training pictures"));
}

TEST_F(PictureSourceTest, OfAnEmptyClassIsRefused) {
  std::filesystem::create_directories(folder / "train/weeds");
  const auto opened = open_data(folder.path(), Split::train);
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().message, HasSubstr("weeds"));
}

}  // namespace
}  // namespace sterna::input
