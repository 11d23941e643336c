#include "input/formats/cifar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "packing.h"
#include "scratch.h"

namespace sterna::input {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::size_t kPlane = 32 * 32;

/// `count` records of a label byte (or two) and planes of red r, green r + 1 and blue r + 2.
std::vector<std::uint8_t> records(std::size_t count, std::size_t label_bytes = 1) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t r = 0; r < count; ++r) {
    bytes.insert(bytes.end(), label_bytes - 1, 19);
    bytes.push_back(static_cast<std::uint8_t>(r % 10));
    for (std::size_t channel = 0; channel < 3; ++channel)
      bytes.insert(bytes.end(), kPlane, static_cast<std::uint8_t>(r + channel));
  }
  return bytes;
}

class Cifar : public testing::Test {
 protected:
  Cifar() {
    for (int batch = 1; batch <= 5; ++batch)
      write_file(folder / ("data_batch_" + std::to_string(batch) + ".bin"), records(2));
    write_file(folder / "test_batch.bin", records(3));
  }
  std::string complaint() {
    const Result<Dataset> loaded = kCifar10.load(folder.path(), Split::train);
    return loaded ? "none" : loaded.error().message;
  }
  TemporaryFolder folder;
};

TEST_F(Cifar, HasItsChannelsBesideEachOther) {
  const Result<Dataset> train = kCifar10.load(folder.path(), Split::train);
  ASSERT_TRUE(train.ok()) << train.error().message;
  EXPECT_EQ(train->count, 10U);
  EXPECT_EQ(train->shape(), (PictureShape{32, 32, 3}));
  EXPECT_THAT(train->labels, ElementsAre(0, 1, 0, 1, 0, 1, 0, 1, 0, 1));
  EXPECT_THAT(train->image(3).first(6), ElementsAre(1, 2, 3, 1, 2, 3));
  EXPECT_EQ(kCifar10.facts(folder.path(), Split::train, {})->count, 10U);
  EXPECT_EQ(kCifar10.facts(folder.path(), Split::test, {})->count, 3U);
}

TEST_F(Cifar, IsTheFormatOfItsFolder) { EXPECT_EQ(&format_of(folder.path(), {}), &kCifar10); }

TEST_F(Cifar, OfAHundredClassesTakesTheFineOne) {
  TemporaryFolder hundred;
  write_file(hundred / "train.bin", records(4, 2));
  write_file(hundred / "test.bin", records(2, 2));
  EXPECT_EQ(&format_of(hundred.path(), {}), &kCifar100);
  const Result<Dataset> train = kCifar100.load(hundred.path(), Split::train);
  ASSERT_TRUE(train.ok()) << train.error().message;
  EXPECT_THAT(train->labels, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(train->classes, 100U);
}

TEST_F(Cifar, IsWrittenInPartsThatAreReadBack) {
  const Dataset whole = kCifar10.load(folder.path(), Split::train).value();
  TemporaryFolder shard;
  ASSERT_TRUE(kCifar10.write(shard.path(), Split::train, whole, {3, 10}).ok());
  const Result<Dataset> part = kCifar10.load(shard.path(), Split::train);
  ASSERT_TRUE(part.ok()) << part.error().message;
  ASSERT_EQ(part->count, 7U);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(part->labels[i], whole.labels[3 + i]);
    EXPECT_TRUE(std::ranges::equal(part->image(i), whole.image(3 + i))) << i;
  }
}

TEST_F(Cifar, CutShortIsRefusedByName) {
  std::vector<std::uint8_t> cut = records(2);
  cut.pop_back();
  write_file(folder / "data_batch_4.bin", cut);
  EXPECT_THAT(complaint(), HasSubstr("data_batch_4.bin: 6145 bytes are no records of 3073"));
  EXPECT_FALSE(kCifar10.facts(folder.path(), Split::train, {}).ok());
}

TEST_F(Cifar, PackedIsCountedAndReadAsItIs) {
  std::filesystem::remove(folder / "test_batch.bin");
  write_file(folder / "test_batch.bin.gz", gzip(records(3)));
  EXPECT_EQ(kCifar10.facts(folder.path(), Split::test, {})->count, 3U);
  EXPECT_THAT(kCifar10.load(folder.path(), Split::test)->labels, ElementsAre(0, 1, 2));
}

TEST_F(Cifar, PackedIsRefusedWhereASmallFileHoldsMoreThanAnyoneHasPublished) {
  std::filesystem::remove(folder / "test_batch.bin");
  const std::vector<std::uint8_t> member = gzip(std::vector<std::uint8_t>(3073 * 100));
  std::vector<std::uint8_t> members;
  for (int i = 0; i < 201; ++i) members.insert(members.end(), member.begin(), member.end());
  write_file(folder / "test_batch.bin.gz", members);
  const Result<SourceFacts> facts = kCifar10.facts(folder.path(), Split::test, {});
  ASSERT_FALSE(facts.ok());
  EXPECT_THAT(facts.error().message, HasSubstr("test_batch.bin.gz: more than 20000 records"));
  EXPECT_FALSE(kCifar10.load(folder.path(), Split::test).ok());
}

TEST_F(Cifar, WithALabelBeyondItsClassesIsRefused) {
  std::vector<std::uint8_t> wrong = records(2);
  wrong[3073] = 10;
  write_file(folder / "data_batch_2.bin", wrong);
  EXPECT_THAT(complaint(), HasSubstr("data_batch_2.bin: label 1 is 10"));
}

TEST_F(Cifar, WithoutAFileSaysWhichIsMissing) {
  std::filesystem::remove(folder / "data_batch_5.bin");
  EXPECT_THAT(complaint(), HasSubstr("has neither data_batch_5.bin nor data_batch_5.bin.gz"));
}

TEST_F(Cifar, OfNothingIsRefused) {
  for (int batch = 1; batch <= 5; ++batch)
    write_file(folder / ("data_batch_" + std::to_string(batch) + ".bin"), {});
  EXPECT_THAT(complaint(), HasSubstr("has no training examples"));
}

}  // namespace
}  // namespace sterna::input
