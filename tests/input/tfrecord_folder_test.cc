#include "input/formats/tfrecord_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "input/batches/prepare.h"
#include "input/pictures/encode.h"
#include "input/place/data_set.h"
#include "input/place/data_shard.h"
#include "input/records/example.h"
#include "tests/input/made_pictures.h"
#include "tests/input/record_bytes.h"
#include "tests/temporary_folder.h"

namespace sterna::input {
namespace {

using testing::HasSubstr;

/// A record of a JPEG whose shape depends on its label.
std::vector<std::uint8_t> record(std::int64_t label, bool damaged = false) {
  const auto side = static_cast<std::uint32_t>(20 + label);
  const std::vector<std::uint8_t> jpeg = encode_jpeg(made_picture({side, side, 3}), 90).value();
  PictureRecord picture;
  picture.bytes.assign(jpeg.begin(), jpeg.end());
  if (damaged) picture.bytes.resize(picture.bytes.size() / 2);
  picture.label = label;
  return pack_picture_record(picture);
}

/// Training files of four and three pictures, labelled 1 to 7, and a test file of two.
class TfRecordFolder : public testing::Test {
 protected:
  TfRecordFolder() {
    write_records(folder / "train-00000-of-00002", {record(1), record(2), record(3), record(4)});
    write_records(folder / "train-00001-of-00002", {record(5), record(6), record(7)});
    write_records(folder / "validation-00000-of-00001", {record(1), record(7)});
  }
  void name_classes(const std::string& text) const { std::ofstream(folder / "labels.txt") << text; }
  Result<std::shared_ptr<const Source>> open(const DataOptions& options = {}) const {
    return open_data(folder.path(), Split::train, options);
  }
  std::string refusal(const DataOptions& options = {}) const {
    const auto opened = open(options);
    return opened ? "none" : opened.error().message;
  }
  static Preparation prepared_at(std::uint32_t side) {
    return {.family = find_family("cifar"), .options = {.shape = {side, side, 3}}, .seed = 5};
  }
  TemporaryFolder folder;
};

TEST_F(TfRecordFolder, IsReadByPositionOverItsFiles) {
  name_classes("background\na\nb\nc\nd\ne\nf\ng\n");
  const auto source = open().value();
  EXPECT_EQ(source->facts().count, 7U);
  EXPECT_EQ(source->facts().classes, 8U);
  EXPECT_EQ(source->facts().family, "inception");
  for (const std::uint64_t i : {6U, 0U, 3U, 4U}) {
    const Result<StoredExample> example = source->read(i);
    ASSERT_TRUE(example.ok()) << example.error().message;
    EXPECT_EQ(example->label, i + 1);
    EXPECT_EQ(example->picture.coding, Coding::jpeg);
  }
  EXPECT_EQ(source->block_of(3), (ExampleRange{0, 4}));
  EXPECT_EQ(source->block_of(4), (ExampleRange{4, 7}));
}

TEST_F(TfRecordFolder, IsADataSetThatIsFoundByItsFiles) {
  EXPECT_EQ(&format_of(folder.path(), {}), &kTfRecord);
  EXPECT_EQ(data_set_in(folder.path()).name, "tfrecord");
}

TEST_F(TfRecordFolder, CountsClassesFromLabelZeroAndWithoutTheBackground) {
  name_classes("1:a\n2:b\n3:c\n4:d\n5:e\n6:f\n7:g\n");
  EXPECT_EQ(open()->get()->facts().classes, 8U);
  const auto source = open({.label_offset = 1}).value();
  EXPECT_EQ(source->facts().classes, 7U);
  EXPECT_EQ(source->read(0)->label, 0);
}

TEST_F(TfRecordFolder, WithoutClassesSaysHowToGiveThem) {
  EXPECT_THAT(refusal(), HasSubstr("labels.txt there, a line each, or set data.classes"));
  EXPECT_EQ(refusal({.classes = 8}), "none");
}

TEST_F(TfRecordFolder, TurnsBoxesWithThePictureThatItsExifTurns) {
  const std::vector<std::uint8_t> jpeg = encode_jpeg(made_picture({16, 32, 3}), 90).value();
  const std::vector<std::uint8_t> turned = with_orientation(jpeg, 6, true);
  PictureRecord picture;
  picture.bytes.assign(turned.begin(), turned.end());
  picture.label = 1;
  picture.boxes = {{.top = 0, .left = 0.25F, .bottom = 0.125F, .right = 0.5F}};
  write_records(folder / "train-00000-of-00002", {pack_picture_record(picture)});
  const Result<StoredExample> example = open({.classes = 8}).value()->read(0);
  ASSERT_TRUE(example.ok()) << example.error().message;
  EXPECT_THAT(example->boxes,
              testing::ElementsAre(Box{.top = 0.25F, .left = 0.875F, .bottom = 0.5F, .right = 1}));
}

TEST_F(TfRecordFolder, TakesTheFilesThatAPatternNames) {
  const auto source = open({.classes = 8, .train_files = "train-00001-*"}).value();
  EXPECT_EQ(source->facts().count, 3U);
  EXPECT_EQ(source->read(0)->label, 5);
  EXPECT_THAT(refusal({.classes = 8, .train_files = "x*"}), HasSubstr("fits the pattern x*"));
}

TEST_F(TfRecordFolder, RefusesAFileThatWouldBeTrainedOnAndTestedWith) {
  const std::string why = " would be trained on and tested with; give patterns for the files";
  const auto refused = [&](const DataOptions& options, const std::string& file) {
    for (const Split split : {Split::train, Split::test}) {
      const auto opened = open_data(folder.path(), split, options);
      ASSERT_FALSE(opened.ok());
      EXPECT_THAT(opened.error().message, HasSubstr(file + why));
    }
  };
  refused({.classes = 8, .train_files = "*-of-*"}, "validation-00000-of-00001");
  refused({.classes = 8, .test_files = "./*"}, "train-00000-of-00002");
  refused({.classes = 8, .train_files = "train-*", .test_files = "*-00001-of-00002"},
          "train-00001-of-00002");
  EXPECT_EQ(refusal({.classes = 8, .train_files = "train-00000-*", .test_files = "train-00001-*"}),
            "none");
}

TEST_F(TfRecordFolder, OfOneFileWithTheWordsOfBothSplitsIsRefused) {
  for (const char* name :
       {"train-00000-of-00002", "train-00001-of-00002", "validation-00000-of-00001"}) {
    std::filesystem::remove(folder / name);
  }
  write_records(folder / "faces_train_val.tfrecord", {record(1)});
  EXPECT_FALSE(record_files(folder.path(), Split::train, {}).ok());
  EXPECT_EQ(refusal({.classes = 8, .train_files = "*"}),
            record_files(folder.path(), Split::train, {}).error().message);
}

TEST_F(TfRecordFolder, RefusesALabelThatIsNoClassByItsRecord) {
  const auto source = open({.classes = 4}).value();
  const Result<StoredExample> example = source->read(5);
  ASSERT_FALSE(example.ok());
  EXPECT_EQ(example.error().code, Errc::invalid_argument);
  EXPECT_THAT(example.error().message, HasSubstr("train-00001-of-00002"));
  EXPECT_THAT(example.error().message, HasSubstr("has the label 6"));
}

TEST_F(TfRecordFolder, GivesEachShardItsRangeOfTheSameFiles) {
  const auto part = load_training_part(folder.path(), ShardId{1, 2}, {.classes = 8});
  ASSERT_TRUE(part.ok()) << part.error().message;
  EXPECT_EQ(part->range, (ExampleRange{3, 7}));
  EXPECT_EQ(part->first, 0U);
  EXPECT_EQ(part->source->facts().count, 7U);
  EXPECT_EQ(part->sha256.size(), 64U);
}

TEST_F(TfRecordFolder, ADamagedPictureIsStoodForByTheNextOfItsFile) {
  write_records(folder / "train-00001-of-00002", {record(5), record(6), record(7, true)});
  const auto source = open({.classes = 8}).value();
  Preparation how = prepared_at(8);
  const std::vector<BatchRow> rows{{0, 6}, {0, 4}, {2, 6}};
  PreparedBatch batch(how, rows.size());
  const Result<void> alone = prepare_training(*source, 0, rows, how, batch.rows());
  ASSERT_FALSE(alone.ok());
  EXPECT_THAT(alone.error().message, HasSubstr("train-00001-of-00002: record 2 at byte"));

  how.bad = std::make_shared<BadExamples>(7, 0.5);
  const Result<void> prepared = prepare_training(*source, 0, rows, how, batch.rows());
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  EXPECT_THAT(batch.labels, testing::ElementsAre(5, 5, 5));
  EXPECT_EQ(how.bad->count(), 1U);
  EXPECT_EQ(how.bad->news().size(), 1U);
  EXPECT_TRUE(how.bad->news().empty());

  how.bad = std::make_shared<BadExamples>(7, 0.1);
  ASSERT_TRUE(prepare_training(*source, 0, rows, how, batch.rows()).ok());
  how.bad = std::make_shared<BadExamples>(7, 0);
  const Result<void> refused = prepare_training(*source, 0, rows, how, batch.rows());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("1 of 7 examples are damaged"));
  const Result<void> asked_again = prepare_training(*source, 0, rows, how, batch.rows());
  ASSERT_FALSE(asked_again.ok());
  EXPECT_EQ(asked_again.error().message, refused.error().message);
}

TEST_F(TfRecordFolder, AFileOfDamageAloneIsAnError) {
  write_records(folder / "train-00001-of-00002", {record(5, true), record(6, true)});
  const auto source = open({.classes = 8}).value();
  Preparation how = prepared_at(8);
  how.bad = std::make_shared<BadExamples>(6, 1);
  PreparedBatch batch(how, 1);
  const std::vector<BatchRow> rows{{0, 5}};
  const Result<void> refused = prepare_training(*source, 0, rows, how, batch.rows());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("no example of 4 to 5 can be decoded"));
}

TEST_F(TfRecordFolder, WhoeverReadsARowPreparesTheSameBytes) {
  const auto source = open({.classes = 8}).value();
  const Preparation how = prepared_at(16);
  const std::vector<BatchRow> rows = batch_rows({.seed = 5, .step = 2, .batch = 6}, 7);
  PreparedBatch whole(how, rows.size());
  ASSERT_TRUE(prepare_training(*source, 0, rows, how, whole.rows()).ok());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    PreparedBatch one(how, 1);
    ASSERT_TRUE(prepare_training(*source, 0, std::span(rows).subspan(i, 1), how, one.rows()).ok());
    EXPECT_TRUE(std::ranges::equal(
        one.pixels, std::span(whole.pixels).subspan(i * how.row_pixels(), how.row_pixels())))
        << i;
    EXPECT_EQ(one.labels[0], whole.labels[i]);
  }
}

}  // namespace
}  // namespace sterna::input
