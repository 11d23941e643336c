#include "input/records/record_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "input/records/crc32c.h"
#include "input/records/little_endian.h"
#include "record_bytes.h"
#include "scratch.h"

namespace sterna::input {
namespace {

namespace fs = std::filesystem;
using Bytes8 = std::vector<std::uint8_t>;

class Index : public ::testing::Test {
 protected:
  Index()
      : dir_(scratch_ / "data"),
        path_(dir_ / "train-00000-of-00001"),
        beside_(path_.string() + ".sterna-index"),
        cache_(scratch_ / "cache") {
    fs::create_directory(dir_);
    write_records(path_, noise({10, 0, 20'000, 3}));
  }

  KeptIndex loaded() {
    const Result<RecordFile> file = RecordFile::open(path_);
    EXPECT_TRUE(file.ok());
    Result<KeptIndex> index = load_index(*file, cache_);
    EXPECT_TRUE(index.ok()) << index.error().message;
    return *std::move(index);
  }

  /// The lengths that the index has.
  std::vector<std::uint64_t> lengths(const RecordIndex& index) {
    std::vector<std::uint64_t> found;
    for (std::size_t i = 0; i < index.count(); ++i) found.push_back(index.place(i).length);
    return found;
  }

  /// Puts the right checksum at the end of the index beside the file.
  void write_index(Bytes8 bytes) {
    const std::span<std::uint8_t> all = bytes;
    put_little_endian(crc32c(all.first(all.size() - 4)), all.last(4));
    write_file(beside_, bytes);
  }

  TemporaryFolder scratch_;
  fs::path dir_;
  fs::path path_;
  fs::path beside_;
  fs::path cache_;
};

using ::testing::ElementsAre;

TEST_F(Index, IsKeptBesideItsFileAndUsedAgain) {
  const KeptIndex first = loaded();
  EXPECT_TRUE(first.scanned);
  EXPECT_EQ(first.kept, beside_);
  const KeptIndex second = loaded();
  EXPECT_FALSE(second.scanned);
  EXPECT_EQ(second.kept, beside_);
  EXPECT_THAT(lengths(second.index), ElementsAre(10, 0, 20'000, 3));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(second.index.place(i), first.index.place(i));
  EXPECT_EQ(fs::file_size(beside_), 32 + 4 * 8 + 4);
  EXPECT_FALSE(fs::exists(cache_));
}

TEST_F(Index, IsKeptInTheCacheWhereItsFolderCannotBeWritten) {
  // A folder in the index's place does as well as a folder that forbids it, and for the superuser.
  fs::create_directories(beside_ / "full");
  const KeptIndex first = loaded();
  EXPECT_TRUE(first.scanned);
  EXPECT_EQ(first.kept.parent_path(), cache_);
  EXPECT_FALSE(loaded().scanned);
  EXPECT_THAT(lengths(loaded().index), ElementsAre(10, 0, 20'000, 3));
}

TEST_F(Index, IsFoundEveryTimeWhereNothingCanBeWritten) {
  fs::create_directories(beside_ / "full");
  write_file(cache_, Bytes8{1});
  EXPECT_TRUE(loaded().scanned);
  const KeptIndex again = loaded();
  EXPECT_TRUE(again.scanned);
  EXPECT_TRUE(again.kept.empty());
  EXPECT_EQ(again.index.count(), 4U);
}

TEST_F(Index, OlderThanItsFileIsReplaced) {
  loaded();
  write_records(path_, noise({10, 0, 20'000, 3, 4}));
  EXPECT_TRUE(loaded().scanned);
  EXPECT_EQ(loaded().index.count(), 5U);
  EXPECT_FALSE(loaded().scanned);
  // The same size at another time.
  fs::last_write_time(path_, fs::last_write_time(path_) + std::chrono::nanoseconds(1));
  EXPECT_TRUE(loaded().scanned);
}

TEST_F(Index, OfEqualFilesInOneCacheAreApart) {
  fs::create_directories(beside_ / "full");
  const KeptIndex first = loaded();
  fs::create_directories(scratch_ / "other");
  path_ = scratch_ / "other/train-00000-of-00001";
  write_records(path_, noise({1}));
  fs::create_directories(path_.string() + ".sterna-index/full");
  const KeptIndex second = loaded();
  EXPECT_NE(first.kept, second.kept);
  EXPECT_EQ(second.index.count(), 1U);
}

TEST_F(Index, DamagedAnywhereIsReplaced) {
  loaded();
  const Bytes8 whole = read_file(beside_);
  std::mt19937 random(3);
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    Bytes8 damaged = whole;
    damaged[at] ^= static_cast<std::uint8_t>(1U << random() % 8);
    write_file(beside_, damaged);
    ASSERT_TRUE(loaded().scanned) << at;
    ASSERT_EQ(read_file(beside_), whole) << at;
  }
  for (std::size_t size = 0; size < whole.size(); size += 5) {
    write_file(beside_, std::span(whole).first(size));
    ASSERT_TRUE(loaded().scanned) << size;
  }
}

TEST_F(Index, MadeUpWithTheRightChecksumIsNotBelieved) {
  loaded();
  const Bytes8 whole = read_file(beside_);
  const std::size_t entries = 32;
  const auto expect_refused = [&](const Bytes8& bytes) {
    write_index(bytes);
    EXPECT_TRUE(loaded().scanned);
    EXPECT_THAT(lengths(loaded().index), ElementsAre(10, 0, 20'000, 3));
  };
  Bytes8 longer = whole;
  longer[entries] = 11;  // all records together are longer than the file
  expect_refused(longer);
  Bytes8 shorter = whole;
  shorter[entries] = 9;
  expect_refused(shorter);
  Bytes8 huge = whole;
  put_little_endian(std::uint32_t{0xffffffff}, std::span(huge).subspan(entries));
  expect_refused(huge);
  Bytes8 counts = whole;
  put_little_endian(~std::uint64_t{0}, std::span(counts).subspan(24));
  expect_refused(counts);
  Bytes8 cut = whole;
  cut.resize(entries + 4);
  expect_refused(cut);
}

TEST_F(Index, WhoseCutsAreMadeUpGivesAnErrorNotAnotherRecord) {
  loaded();
  Bytes8 moved = read_file(beside_);
  moved[32] = 9;  // the sum of all lengths stays
  moved[40] = 1;
  write_index(moved);
  const KeptIndex index = loaded();
  ASSERT_FALSE(index.scanned);
  const Result<RecordFile> file = RecordFile::open(path_);
  Bytes8 data;
  EXPECT_THAT(file->read(index.index.place(0), data).error().message,
              ::testing::HasSubstr("it has 10 bytes, but 9 in the index"));
  EXPECT_THAT(file->read(index.index.place(1), data).error().message,
              ::testing::HasSubstr("the length does not match its CRC"));
}

TEST_F(Index, OfWhatIsNoTfRecordFileIsAnError) {
  write_file(path_, Bytes8(100, 'x'));
  const Result<RecordFile> file = RecordFile::open(path_);
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(load_index(*file, cache_).ok());
  EXPECT_FALSE(fs::exists(beside_));
}

TEST_F(Index, NamesADataSetByWhatItsRecordsAreNotByHowTheyAreCut) {
  const auto records = noise({10, 0, 20'000, 3});
  const auto index_of = [this](const std::vector<Bytes8>& some) {
    write_records(path_, some);
    return loaded().index;
  };
  const std::vector<RecordIndex> one{index_of(records)};
  const std::vector<RecordIndex> two{index_of({records[0]}),
                                     index_of({records.begin() + 1, records.end()})};
  EXPECT_EQ(sha256_of_indexes(one), sha256_of_indexes(two));
  const std::vector<RecordIndex> turned{two[1], two[0]};
  EXPECT_NE(sha256_of_indexes(one), sha256_of_indexes(turned));
  const std::vector<RecordIndex> other{index_of(noise({10, 0, 20'000, 3}, 8))};
  EXPECT_NE(sha256_of_indexes(one), sha256_of_indexes(other));
}

TEST_F(Index, NamesADataSetByTheSumOverLengthsAndStoredCrcs) {
  write_records(path_, {{}, {'a'}});
  // sha256sum of 0 (8 bytes), d8 ea 82 a2, 1 (8 bytes), 78 6e e4 28.
  EXPECT_EQ(sha256_of_indexes(std::vector<RecordIndex>{loaded().index}),
            "6caf569cff756b591e251bbfd304efff746c6096de8d378f068802325ebea665");
}

}  // namespace
}  // namespace sterna::input
