// Shards of TFRecord files and of pictures: whole files, of which batches are the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "input/batches/prepare.h"
#include "input/files/linked_file.h"
#include "input/pictures/encode.h"
#include "input/place/data_set.h"
#include "input/place/data_shard.h"
#include "input/records/example.h"
#include "scratch.h"
#include "tests/input/made_pictures.h"
#include "tests/input/record_bytes.h"

namespace sterna::input {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::uint32_t kShards = 3;
const DataOptions kFourClasses{.classes = 4};

/// A PNG that no other number has; cut in half where it is to be damaged.
std::vector<std::uint8_t> png(int number, bool damaged) {
  Picture picture = made_picture({9, 8, 3});
  picture.pixels[0] = static_cast<std::uint8_t>(number);
  std::vector<std::uint8_t> bytes = encode_png(picture).value();
  if (damaged) bytes.resize(bytes.size() / 2);
  return bytes;
}

class SplitFiles : public testing::Test {
 protected:
  /// Files of 4, 1, 6 and 2 records; number 4, all of its file, is whole, and 7 and 12 damaged.
  void write_records_set() const {
    fs::create_directories(whole());
    int number = 0;
    const std::vector<int> sizes{4, 1, 6, 2};
    for (std::size_t file = 0; file < sizes.size(); ++file) {
      std::vector<std::vector<std::uint8_t>> records;
      for (int i = 0; i < sizes[file]; ++i, ++number) {
        records.push_back(record(number, number == 7 || number == 12));
      }
      write_records(whole() / ("train-0000" + std::to_string(file) + "-of-00004"), records);
    }
    write_records(whole() / "flowers_test.tfrecord", {record(1), record(2)});
    std::ofstream(whole() / "labels.txt") << "a\nb\nc\nd\n";
  }
  /// 4 classes of 40, of which some are damaged.
  void write_picture_set() const {
    for (const std::string name : {"a", "b", "c", "d"}) {
      for (int i = 0; i < 40; ++i) {
        const fs::path of_class = whole() / "train" / name;
        fs::create_directories(of_class);
        write_file(of_class / (std::to_string(100 + i) + ".png"), png(i, i % 9 == 3));
      }
    }
    fs::create_directories(whole() / "val/d");
    write_file(whole() / "val/d/1.png", png(1, false));
  }
  static std::vector<std::uint8_t> record(int number, bool damaged = false) {
    const std::vector<std::uint8_t> bytes = png(number, damaged);
    PictureRecord picture;
    picture.bytes.assign(bytes.begin(), bytes.end());
    picture.label = number % 4;
    return pack_picture_record(picture);
  }

  void split() const {
    const Result<void> done = split_data(whole(), kShards, scratch_ / "parts");
    ASSERT_TRUE(done.ok()) << done.error().message;
  }
  TrainingPart load(const fs::path& dir, std::uint32_t index) const {
    Result<TrainingPart> part = load_training_part(dir, ShardId{index, kShards}, kFourClasses);
    EXPECT_TRUE(part.ok()) << part.error().message;
    return part ? *std::move(part) : TrainingPart{};
  }
  /// Every example of the whole set is read through the one shard it lies in, and through the
  /// whole.
  void expect_the_same_rows() const {
    std::uint64_t read = 0;
    for (std::uint32_t index = 0; index < kShards; ++index) {
      const TrainingPart cut = load(shard(index), index);
      const TrainingPart taken = load(whole(), index);
      EXPECT_EQ(cut.examples, taken.examples);
      EXPECT_EQ(cut.range, taken.range);
      EXPECT_EQ(cut.sha256, taken.sha256);
      EXPECT_EQ(cut.source->facts().classes, 4U);
      for (std::uint64_t i = cut.range.first; i < cut.range.end; ++i, ++read) {
        EXPECT_EQ(row(cut, i), row(taken, i)) << "example " << i << " of shard " << index;
      }
      EXPECT_EQ(open_data(shard(index), Split::test)->get()->facts().count,
                open_data(whole(), Split::test)->get()->facts().count);
    }
    EXPECT_EQ(read, load(whole(), 0).examples);
  }
  static std::vector<std::uint8_t> row(const TrainingPart& part, std::uint64_t example) {
    const Preparation how{.family = find_family("cifar"),
                          .options = {.shape = {9, 8, 3}},
                          .seed = 5,
                          .bad = std::make_shared<BadExamples>(100, 1)};
    PreparedBatch batch(how, 1);
    const std::vector<BatchRow> rows{{0, example}};
    const Result<void> prepared =
        prepare_training(*part.source, part.first, rows, how, batch.rows());
    EXPECT_TRUE(prepared.ok()) << prepared.error().message;
    batch.pixels.push_back(static_cast<std::uint8_t>(batch.labels[0]));
    return batch.pixels;
  }
  fs::path whole() const { return scratch_ / "whole"; }
  fs::path shard(std::uint32_t index) const {
    return scratch_ / "parts" / folder_name({index, kShards});
  }

  TemporaryFolder scratch_;
};

TEST_F(SplitFiles, RecordsAreReadTheSameThroughShardsAsFromTheWholeSet) {
  write_records_set();
  split();
  expect_the_same_rows();
}

TEST_F(SplitFiles, AShardHasEveryRecordFileOfItsRangeAsALink) {
  write_records_set();
  split();
  // Of 13 records shard 1 has 4 to 7: the second file, and the third, which shard 2 has, too.
  EXPECT_THAT(files_in(shard(1)),
              testing::IsSupersetOf({"SHARD.txt", "labels.txt", "train-00000-of-00002",
                                     "train-00001-of-00002", "validation-00000-of-00001"}));
  EXPECT_TRUE(fs::equivalent(shard(1) / "train-00001-of-00002", whole() / "train-00002-of-00004"));
  EXPECT_TRUE(fs::equivalent(shard(2) / "train-00000-of-00002", whole() / "train-00002-of-00004"));
}

TEST_F(SplitFiles, PicturesAreReadTheSameThroughShardsAsFromTheWholeSet) {
  write_picture_set();
  split();
  expect_the_same_rows();
  EXPECT_FALSE(fs::exists(shard(0) / "train/d"));
}

TEST_F(SplitFiles, IsMadeAgainOverItself) {
  write_records_set();
  split();
  split();
  fs::remove(shard(1) / "train-00001-of-00002");
  split();
  expect_the_same_rows();
}

TEST_F(SplitFiles, AShardThatLacksPicturesOrIsAnothersSaysSo) {
  write_picture_set();
  split();
  const auto refusal = [](const Result<TrainingPart>& part) {
    return part.ok() ? "nothing is wrong" : part.error().message;
  };
  fs::remove(shard(0) / "train/a/100.png");
  EXPECT_THAT(refusal(load_training_part(shard(0), ShardId{0, kShards})),
              HasSubstr("holds 63 training examples, but shard 0 of 3 of 160 has 64"));
  EXPECT_THAT(refusal(load_training_part(shard(0), ShardId{1, kShards})),
              HasSubstr("holds shard 0 of 3, but shard 1 of 3 is wanted"));
  EXPECT_THAT(refusal(load_training_part(shard(0), std::nullopt)),
              HasSubstr("but the whole training set is wanted"));
}

TEST(LinkedFile, IsALinkOrWhereThereCanBeNoneACopy) {
  const TemporaryFolder folder;
  write_file(folder / "a", std::vector<std::uint8_t>{1, 2});
  write_file(folder / "b.part", std::vector<std::uint8_t>{3});  // somebody else's
  write_file(folder / "b", std::vector<std::uint8_t>{4});
  ASSERT_TRUE(link_or_copy(folder / "a", folder / "b").ok());
  EXPECT_TRUE(fs::equivalent(folder / "a", folder / "b"));
  // Of another file system.
  const Result<void> copied = link_or_copy("/proc/version", folder / "b");
  ASSERT_TRUE(copied.ok()) << copied.error().message;
  EXPECT_EQ(read_file(folder / "b"), read_file("/proc/version"));
  EXPECT_EQ(read_file(folder / "a").size(), 2U);
  EXPECT_THAT(files_in(folder.path()), testing::ElementsAre("a", "b", "b.part"));
  const Result<void> none = link_or_copy(folder / "none", folder / "c");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("copying " + (folder / "none").string() + " to "));
}

}  // namespace
}  // namespace sterna::input
