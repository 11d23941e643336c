#include "input/place/data_shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "input/digits/digits.h"
#include "input/files/folder_lock.h"
#include "input/formats/idx.h"
#include "scratch.h"

namespace sterna::input {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(Shards, EveryExampleLiesInTheOneShardWhoseRangeContainsIt) {
  for (const std::uint64_t examples : {1U, 2U, 7U, 10U, 60000U}) {
    for (std::uint32_t shards = 1; shards <= std::min<std::uint64_t>(examples, 12); ++shards) {
      std::uint64_t next = 0;
      for (std::uint32_t index = 0; index < shards; ++index) {
        const ExampleRange range = range_of({index, shards}, examples);
        EXPECT_EQ(range.first, next);
        EXPECT_GT(range.count(), 0U);
        for (const std::uint64_t example : {range.first, range.end - 1}) {
          EXPECT_EQ(shard_of(example, shards, examples), index) << example << " of " << examples;
        }
        next = range.end;
      }
      EXPECT_EQ(next, examples);
    }
  }
}

const Dataset& dataset_of(const TrainingPart& part) {
  return dynamic_cast<const MemorySource&>(*part.source).dataset();
}

class SplitData : public ::testing::Test {
 protected:
  SplitData() { draw("whole", 1); }

  void draw(const std::string& name, std::uint64_t seed) const {
    EXPECT_TRUE(make_digits(scratch_ / name, {.seed = seed, .train = 11, .test = 3}).ok());
  }
  void split(std::uint32_t shards) const {
    const Result<void> done = split_data(scratch_ / "whole", shards, scratch_ / "parts");
    ASSERT_TRUE(done.ok()) << done.error().message;
  }
  fs::path shard(std::uint32_t index, std::uint32_t shards) const {
    return scratch_ / "parts" / folder_name({index, shards});
  }
  TrainingPart load(const fs::path& dir, std::optional<ShardId> wanted) const {
    Result<TrainingPart> part = load_training_part(dir, wanted);
    EXPECT_TRUE(part.ok()) << part.error().message;
    return part.ok() ? *std::move(part) : TrainingPart{};
  }
  static std::string refusal(const Result<TrainingPart>& part) {
    return part.ok() ? "nothing is wrong" : part.error().message;
  }
  void write(const fs::path& path, const std::string& text) const {
    std::ofstream(path, std::ios::binary) << text;
  }

  TemporaryFolder scratch_;
};

TEST_F(SplitData, TheShardsInTheirOrderAreTheWholeSetAndEachHasAllTestExamples) {
  split(3);
  const Dataset whole = load_mnist(scratch_ / "whole", Split::train).value();
  const Dataset test = load_mnist(scratch_ / "whole", Split::test).value();
  std::vector<std::uint8_t> images;
  std::vector<std::uint16_t> labels;
  for (std::uint32_t index = 0; index < 3; ++index) {
    const TrainingPart part = load(shard(index, 3), ShardId{index, 3});
    EXPECT_EQ(part.examples, 11U);
    EXPECT_EQ(part.range, range_of({index, 3}, 11));
    const Dataset& dataset = dataset_of(part);
    EXPECT_EQ(dataset.count, part.range.count());
    images.insert(images.end(), dataset.images.begin(), dataset.images.end());
    labels.insert(labels.end(), dataset.labels.begin(), dataset.labels.end());
    EXPECT_EQ(load_mnist(shard(index, 3), Split::test)->images, test.images);
    EXPECT_TRUE(fs::exists(shard(index, 3) / kDrawnMarker));
  }
  EXPECT_EQ(images, whole.images);
  EXPECT_EQ(labels, whole.labels);
}

TEST_F(SplitData, AWholeSetGivesTheSamePartAsTheShardsFolder) {
  split(3);
  const TrainingPart cut = load(shard(1, 3), ShardId{1, 3});
  const TrainingPart taken = load(scratch_ / "whole", ShardId{1, 3});
  EXPECT_EQ(dataset_of(taken).images, dataset_of(cut).images);
  EXPECT_EQ(dataset_of(taken).labels, dataset_of(cut).labels);
  EXPECT_EQ(dataset_of(taken).count, dataset_of(cut).count);
  EXPECT_EQ(taken.range, cut.range);
  EXPECT_EQ(taken.sha256, cut.sha256);
  EXPECT_EQ(training_facts(shard(1, 3))->count, 11U);
  EXPECT_EQ(training_facts(scratch_ / "whole")->count, 11U);
}

TEST_F(SplitData, AShardIsNotTakenForAnotherNorForTheWholeSet) {
  split(3);
  EXPECT_THAT(refusal(load_training_part(shard(1, 3), ShardId{0, 3})),
              HasSubstr("holds shard 1 of 3, but shard 0 of 3 is wanted"));
  EXPECT_THAT(refusal(load_training_part(shard(1, 3), ShardId{1, 4})),
              HasSubstr("but shard 1 of 4 is wanted"));
  EXPECT_THAT(refusal(load_training_part(shard(1, 3), std::nullopt)),
              HasSubstr("but the whole training set is wanted"));
  EXPECT_FALSE(split_data(shard(1, 3), 2, scratch_ / "more").ok());
}

TEST_F(SplitData, AShardWhoseFilesAreNotItsOwnSaysSo) {
  split(3);
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"}) {
    fs::copy_file(scratch_ / "whole" / name, shard(1, 3) / name,
                  fs::copy_options::overwrite_existing);
  }
  EXPECT_THAT(refusal(load_training_part(shard(1, 3), ShardId{1, 3})),
              HasSubstr("holds 11 training examples, but shard 1 of 3 of 11 has 4"));
}

TEST_F(SplitData, ALabelThatMakesNoSenseIsRefused) {
  split(3);
  const std::string sum(64, 'a');
  for (const std::string& text : std::vector<std::string>{
           "", "format 2\nindex 0\nshards 3\nexamples 11\nsha256 " + sum + "\n",
           "format 1\nindex 3\nshards 3\nexamples 11\nsha256 " + sum + "\n",
           "format 1\nindex 0\nshards 3\nexamples 2\nsha256 " + sum + "\n",
           "format 1\nindex 0\nshards 3\nexamples 18446744073709551615\nsha256 " + sum + "\n",
           "format 1\nindex -1\nshards 3\nexamples 11\nsha256 " + sum + "\n",
           "format 1\nindex 0\nshards 3\nexamples 11\nsha256 abc\n",
           "format 1\nindex 0\nshards 3\nexamples 11\nsha256 " + sum + "\nmore\n",
           std::string(100000, 'x')}) {
    write(shard(0, 3) / kShardFile, text);
    EXPECT_THAT(refusal(load_training_part(shard(0, 3), ShardId{0, 3})),
                HasSubstr("does not say which shard"));
  }
}

TEST_F(SplitData, GoesOverAnEarlierSplitOfTheSameSetAndOverNothingElse) {
  split(2);
  split(2);
  draw("other", 2);
  const Result<void> other = split_data(scratch_ / "other", 2, scratch_ / "parts");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Errc::already_exists);
  fs::create_directories(scratch_ / "mine/shard-1-of-2");
  write(scratch_ / "mine/shard-1-of-2/letter", "x");
  EXPECT_FALSE(split_data(scratch_ / "whole", 2, scratch_ / "mine").ok());
  EXPECT_FALSE(fs::exists(scratch_ / "mine/shard-0-of-2"));
}

TEST_F(SplitData, RemovesWhatASplitThatWasKilledLeft) {
  split(2);
  write(shard(0, 2) / "train-images-idx3-ubyte.1234567890123456789", "half");
  const char* const mine[] = {"notes.1700000000", "labels.20240101120000",
                              "train-images-idx3-ubyte.1700000000",
                              "old/backup.1234567890123456789", "SHARD.txt.1"};
  fs::create_directory(shard(0, 2) / "old");
  for (const char* name : mine) write(shard(0, 2) / name, "of somebody's own");
  fs::remove_all(shard(1, 2));
  fs::create_directory(shard(1, 2));
  write(shard(1, 2) / "SHARD.txt.1234567890123456789", "for");
  split(2);
  EXPECT_FALSE(fs::exists(shard(0, 2) / "train-images-idx3-ubyte.1234567890123456789"));
  for (const char* name : mine) EXPECT_TRUE(fs::exists(shard(0, 2) / name)) << name;
  EXPECT_FALSE(fs::exists(shard(1, 2) / "SHARD.txt.1234567890123456789"));
  EXPECT_TRUE(load_training_part(shard(1, 2), ShardId{1, 2}).ok());
}

TEST_F(SplitData, LeavesAFolderAloneThatAnotherProcessSplitsInto) {
  split(2);
  const auto lock = FolderLock::take(shard(1, 2));
  ASSERT_TRUE(lock.ok());
  const Result<void> refused = split_data(scratch_ / "whole", 2, scratch_ / "parts");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::already_exists);
}

TEST_F(SplitData, WhatIsNoFolderIsRefused) {
  const auto refused = split_data(scratch_ / "nowhere", 2, scratch_ / "parts", scratch_ / "cache");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, (scratch_ / "nowhere").string() + ": there is no such folder");
}

TEST_F(SplitData, NoShardIsEmpty) {
  EXPECT_FALSE(split_data(scratch_ / "whole", 0, scratch_ / "parts").ok());
  EXPECT_FALSE(split_data(scratch_ / "whole", 12, scratch_ / "parts").ok());
  EXPECT_THAT(refusal(load_training_part(scratch_ / "whole", ShardId{0, 12})),
              HasSubstr("shard 0 of 12 has none of its 11 training examples"));
}

}  // namespace
}  // namespace sterna::input
