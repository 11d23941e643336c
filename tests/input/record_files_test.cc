#include "input/records/record_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "input/files/pending_file.h"
#include "input/records/record_index.h"
#include "input/records/unpacked.h"
#include "packing.h"
#include "record_bytes.h"
#include "scratch.h"

namespace sterna::input {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Bytes8 = std::vector<std::uint8_t>;
using Paths = std::vector<fs::path>;

class Folder : public ::testing::Test {
 protected:
  void put(const std::vector<std::string>& names) {
    for (const std::string& name : names) write_file(scratch_ / name, {});
  }

  /// The names found, or the error.
  static std::vector<std::string> told(const Result<Paths>& found) {
    if (!found.ok()) {
      EXPECT_EQ(found.error().message.find('\n'), std::string::npos);
      return {"error: " + found.error().message};
    }
    std::vector<std::string> names;
    for (const fs::path& path : *found) names.push_back(path.filename().string());
    return names;
  }
  std::vector<std::string> training() {
    return told(find_record_files(scratch_.path(), kTrainingWords));
  }
  std::vector<std::string> test() { return told(find_record_files(scratch_.path(), kTestWords)); }
  std::vector<std::string> matching(const std::string& pattern) {
    return told(match_record_files(scratch_.path(), pattern));
  }

  TemporaryFolder scratch_;
};

TEST_F(Folder, OfNumberedFilesHasThemInOrder) {
  put({"train-00001-of-00002", "train-00000-of-00002", "validation-00000-of-00001", "labels.txt",
       "train-00000-of-00002.sterna-index", "trainer.txt"});
  EXPECT_THAT(training(), ElementsAre("train-00000-of-00002", "train-00001-of-00002"));
  EXPECT_THAT(test(), ElementsAre("validation-00000-of-00001"));
}

TEST_F(Folder, OfSlimsFlowersHasBothSplits) {
  put({"flowers_train_00000-of-00002.tfrecord", "flowers_train_00001-of-00002.tfrecord",
       "flowers_validation_00000-of-00001.tfrecord", "labels.txt"});
  EXPECT_THAT(training(), ElementsAre("flowers_train_00000-of-00002.tfrecord",
                                      "flowers_train_00001-of-00002.tfrecord"));
  EXPECT_THAT(test(), ElementsAre("flowers_validation_00000-of-00001.tfrecord"));
}

TEST_F(Folder, OfOneFileASplitHasEach) {
  put({"cifar10_train.tfrecord", "test-mnist.tfrecords.gz", "attest.tfrecord", "train.txt"});
  EXPECT_THAT(training(), ElementsAre("cifar10_train.tfrecord"));
  EXPECT_THAT(test(), ElementsAre("test-mnist.tfrecords.gz"));
}

TEST_F(Folder, WithNumbersOfSeveralWidthsHasThemInOrder) {
  for (int i = 0; i < 11; ++i) put({"train-" + std::to_string(i) + "-of-11"});
  EXPECT_EQ(training().at(2), "train-2-of-11");
  EXPECT_EQ(training().at(10), "train-10-of-11");
}

TEST_F(Folder, ThatLacksAFileOfASetNamesIt) {
  put({"train-00000-of-00005", "train-00002-of-00005", "flowers_test_00000-of-00002.tfrecord"});
  EXPECT_THAT(training(),
              ElementsAre("error: " + scratch_.path() +
                          ": train-00001-of-00005 is missing; fetch it, or name the files that are "
                          "there by a pattern (data.train_files, data.test_files)"));
  EXPECT_THAT(test().front(), HasSubstr("flowers_test_00001-of-00002.tfrecord is missing"));
  EXPECT_THAT(matching("train-*"), ElementsAre("train-00000-of-00005", "train-00002-of-00005"));
}

TEST_F(Folder, ThatMixesSetsNamesAFileOfEach) {
  put({"train-00000-of-00002", "train-00001-of-00002", "train-00000-of-00005"});
  EXPECT_THAT(training(),
              ElementsAre("error: " + scratch_.path() +
                          ": train-00000-of-00002 and train-00000-of-00005 are of different sets; "
                          "move one away, or name the files of one by a pattern (data.train_files, "
                          "data.test_files)"));
  EXPECT_THAT(matching("train-*").front(), HasSubstr("are of different sets"));
  EXPECT_THAT(matching("train-*-of-00002"),
              ElementsAre("train-00000-of-00002", "train-00001-of-00002"));
  put({"test-00000-of-00001", "validation-00000-of-00001"});
  EXPECT_THAT(test().front(), HasSubstr("are of different sets"));
}

TEST_F(Folder, WithAFileOfEqualNumberOrBeyondTheLastIsMixed) {
  put({"train-0-of-2", "train-00-of-2", "train-1-of-2"});
  EXPECT_THAT(training().front(), HasSubstr("train-0-of-2 and train-00-of-2 are of different"));
  put({"test-0-of-1", "test-1-of-1"});
  EXPECT_THAT(test().front(), HasSubstr("test-0-of-1 and test-1-of-1 are of different"));
}

TEST_F(Folder, WithMonstrousNumbersIsNoTrouble) {
  put({"train-0-of-999999999", "train-1-of-99999999999999999999999", "train-of-", "-of-"});
  EXPECT_THAT(training().front(), HasSubstr("train-1-of-999999999 is missing"));
}

TEST_F(Folder, WithoutSuchFilesSaysHowTheyAreNamed) {
  EXPECT_THAT(training().front(), HasSubstr(scratch_.path() + " has no TFRecord files named as "
                                                              "train-00000-of-00002 or "
                                                              "data_train.tfrecord"));
  EXPECT_THAT(matching("a*").front(), HasSubstr("has no file that fits the pattern a*"));
  EXPECT_EQ(find_record_files(scratch_ / "missing", kTestWords).error().code, Errc::not_found);
  EXPECT_EQ(match_record_files(scratch_ / "missing", "*").error().code, Errc::not_found);
}

TEST_F(Folder, IsMatchedByAPatternThatMayNameFoldersToo) {
  fs::create_directory(scratch_ / "a[b");
  put({"a[b/one.tfrecord", "a[b/two.tfrecord", "a[b/.hidden.tfrecord"});
  EXPECT_THAT(matching("a[b/*.tfrecord"), ElementsAre("one.tfrecord", "two.tfrecord"));
  EXPECT_THAT(matching((scratch_ / "a[b/t??.tfrecord").string()), ElementsAre("two.tfrecord"));
}

/// A TFRecord file of 100,000 bytes, and its packed forms.
class Packed : public ::testing::Test {
 protected:
  Packed() : path_(scratch_ / "train-00000-of-00001.gz"), cache_(scratch_ / "cache") {
    write_records(scratch_ / "plain", noise({40'000, 59'968}));
    plain_ = read_file(scratch_ / "plain");
  }

  Result<Paths> plain(std::uint64_t most = 1 << 20) {
    return plain_record_files(std::vector<fs::path>{path_}, {.cache = cache_, .most_bytes = most});
  }
  void expect_error(const Result<Paths>& result, const std::string& words) {
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().message, HasSubstr(path_.string()));
    EXPECT_THAT(result.error().message, HasSubstr(words));
    EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
    // Nothing half done is left.
    EXPECT_TRUE(!fs::exists(cache_) || files_in(cache_).empty());
  }

  TemporaryFolder scratch_;
  fs::path path_;
  fs::path cache_;
  Bytes8 plain_;
};

TEST_F(Packed, AreUnpackedOnceIntoTheCache) {
  for (const Bytes8& bytes : {gzip(plain_), zlib(plain_)}) {
    fs::remove_all(cache_);
    write_file(path_, bytes);
    const Result<Paths> first = plain();
    ASSERT_TRUE(first.ok()) << first.error().message;
    ASSERT_EQ(first->size(), 1U);
    const fs::path& kept = first->front();
    EXPECT_EQ(kept.parent_path(), cache_);
    EXPECT_EQ(read_file(kept), plain_);
    const auto written = fs::last_write_time(kept);
    const Result<Paths> second = plain();
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(*second, *first);
    EXPECT_EQ(fs::last_write_time(kept), written);
  }
}

TEST_F(Packed, ThatChangedAreUnpackedAgainAndTheOldOnesRemoved) {
  write_file(path_, gzip(plain_));
  const Result<Paths> before = plain();
  ASSERT_TRUE(before.ok());
  ASSERT_TRUE(load_index(RecordFile::open(before->front()).value(), cache_).ok());
  EXPECT_EQ(files_in(cache_).size(), 2U);
  write_records(scratch_ / "plain", noise({10}));
  write_file(path_, gzip(read_file(scratch_ / "plain")));
  const Result<Paths> again = plain();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(read_file(again->front()), read_file(scratch_ / "plain"));
  EXPECT_EQ(files_in(cache_).size(), 1U);
}

TEST_F(Packed, OfAReaderThatWasKilledAreRemovedAndOfOneAtWorkStay) {
  write_file(path_, gzip(plain_));
  const fs::path kept = plain()->front();
  write_file(kept.string() + ".12345", Bytes8(3));
  write_file(cache_ / "another.9-7.unpacked.678", Bytes8(3));
  write_file(cache_ / "notes.unpacked.x1", Bytes8(3));
  {
    const Result<PendingFile> at_work = PendingFile::create(kept);
    ASSERT_TRUE(at_work.ok());
    ASSERT_TRUE(plain().ok());
    EXPECT_EQ(files_in(cache_).size(), 3U);
    EXPECT_FALSE(fs::exists(kept.string() + ".12345"));
  }
  EXPECT_THAT(files_in(cache_),
              testing::UnorderedElementsAre(kept.filename().string(), "notes.unpacked.x1"));
}

TEST_F(Packed, ArePlainFilesLeftAlone) {
  write_file(path_, plain_);
  const Result<Paths> found = plain(0);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(*found, ElementsAre(path_));
  write_file(path_, {});
  EXPECT_TRUE(plain(0).ok());
}

TEST_F(Packed, AreNotToldByAFirstLengthThatLooksSo) {
  for (const std::size_t length : {0x8b1fU, 0x9c78U}) {
    write_records(path_, noise({length}));
    EXPECT_EQ(read_file(path_)[0], length & 0xff);
    const Result<Paths> found = plain(0);
    ASSERT_TRUE(found.ok());
    EXPECT_THAT(*found, ElementsAre(path_));
  }
}

TEST_F(Packed, MayBePaddedWithZerosButWithNothingElse) {
  Bytes8 padded = gzip(plain_);
  padded.resize(padded.size() + 100'000);
  write_file(path_, padded);
  const Result<Paths> found = plain();
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(read_file(found->front()), plain_);
  padded.back() = 1;
  write_file(path_, padded);
  expect_error(plain(), "other bytes than zeros lie behind its packed stream");
}

TEST_F(Packed, ThatUnpackToTooMuchAreRefused) {
  // 20 MB of zeros after the records, a thousandth of it packed.
  Bytes8 bomb = plain_;
  bomb.resize(20'000'000);
  write_file(path_, gzip(bomb));
  ASSERT_LT(fs::file_size(path_), 150'000U);
  expect_error(plain(), "unpacks to more than the 1MiB that the cache has for it");
}

TEST_F(Packed, ShareWhatTheCacheMayTake) {
  write_file(path_, gzip(plain_));
  const fs::path other = scratch_ / "train-2.gz";
  write_file(other, gzip(plain_));
  const std::vector<fs::path> both{path_, other};
  EXPECT_TRUE(plain_record_files(both, {.cache = cache_, .most_bytes = 200'000}).ok());
  fs::remove_all(cache_);
  const Result<Paths> found = plain_record_files(both, {.cache = cache_, .most_bytes = 199'999});
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, HasSubstr(other.string() + " unpacks to more than"));
}

TEST_F(Packed, ThatAreDamagedOrCutShortAreRefused) {
  const Bytes8 whole = gzip(plain_);
  write_file(path_, std::span(whole).first(whole.size() / 2));
  expect_error(plain(), "the packed stream is cut short; fetch or copy the file again");
  Bytes8 damaged = whole;
  damaged[damaged.size() - 6] ^= 1;  // of its own CRC
  write_file(path_, damaged);
  expect_error(plain(), "fetch or copy the file again");
}

TEST_F(Packed, ThatHoldSomethingElseAreRefused) {
  write_file(path_, gzip(Bytes8(50'000, 'x')));
  expect_error(plain(), "does not unpack to a TFRecord file");
  write_file(path_, gzip({1, 2, 3}));
  expect_error(plain(), "does not unpack to a TFRecord file");
}

TEST_F(Packed, NeedACacheThatCanBeWritten) {
  write_file(path_, gzip(plain_));
  write_file(cache_, {});
  const Result<Paths> found = plain();
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, HasSubstr(cache_.string()));
}

}  // namespace
}  // namespace sterna::input
