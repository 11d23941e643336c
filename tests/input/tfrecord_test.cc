#include "input/records/tfrecord.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "input/records/crc32c.h"
#include "input/records/little_endian.h"
#include "input/records/record_index.h"
#include "record_bytes.h"
#include "scratch.h"

namespace sterna::input {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Bytes8 = std::vector<std::uint8_t>;

const std::vector<std::size_t> kLengths{0, 1, 500, 70'000, 9, 5'000, 4'096, 4'080, 300'000};

/// A file of records of kLengths, as it is now.
class Records : public ::testing::Test {
 protected:
  Records() : path_(scratch_ / "train-00000-of-00001"), records_(noise(kLengths)) {
    write_records(path_, records_);
  }

  RecordFile opened() {
    Result<RecordFile> file = RecordFile::open(path_);
    EXPECT_TRUE(file.ok()) << file.error().message;
    return *std::move(file);
  }

  RecordIndex scanned() {
    Result<RecordIndex> index = RecordIndex::scan(opened());
    EXPECT_TRUE(index.ok()) << index.error().message;
    return *std::move(index);
  }

  void change(const std::function<void(Bytes8&)>& how) {
    Bytes8 bytes = read_file(path_);
    how(bytes);
    write_file(path_, bytes);
  }

  /// Puts a header with the right CRC for `length` at `offset`.
  void put_length(Bytes8& bytes, std::size_t offset, std::uint64_t length) {
    const std::span<std::uint8_t> header = std::span(bytes).subspan(offset, kRecordHeader);
    put_little_endian(length, header);
    put_little_endian(masked_crc32c(header.first(8)), header.subspan(8));
  }

  /// The error, which must be one line, name the file and hold `words`.
  template <class T>
  void expect_error(const Result<T>& result, const std::string& words) {
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().message, HasSubstr(path_.string()));
    EXPECT_THAT(result.error().message, HasSubstr(words));
    EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
  }

  TemporaryFolder scratch_;
  std::filesystem::path path_;
  std::vector<Bytes8> records_;
};

TEST_F(Records, AreReadByPositionInAnyOrder) {
  const RecordIndex index = scanned();
  const RecordFile file = opened();
  ASSERT_EQ(index.count(), kLengths.size());
  Bytes8 data;
  for (const std::size_t i : {8U, 0U, 3U, 3U, 1U, 7U, 2U, 6U, 5U, 4U}) {
    const RecordPlace place = index.place(i);
    EXPECT_EQ(place.number, i);
    EXPECT_EQ(place.length, kLengths[i]);
    EXPECT_EQ(place.crc, masked_crc32c(records_[i]));
    file.announce(place);
    const Result<void> read = file.read(place, data);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(data, records_[i]);
  }
}

TEST_F(Records, AreReadBySeveralThreadsAtOnce) {
  const RecordIndex index = scanned();
  const RecordFile file = opened();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      Bytes8 data;
      for (std::size_t i = 0; i < 50; ++i) {
        const std::size_t number = (i * (t + 1)) % index.count();
        if (!file.read(index.place(number), data) || data != records_[number]) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0, 0));
}

TEST_F(Records, AppearWithFinishAndNotBefore) {
  const auto path = scratch_ / "half";
  {
    Result<TfRecordWriter> writer = TfRecordWriter::create(path);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->append(records_[3]).ok());
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_THAT(files_in(scratch_.path()), ElementsAre("train-00000-of-00001"));
}

TEST_F(Records, AreWrittenByteForByteAsTheFormatSays) {
  write_records(path_, {{}, {'a'}});
  EXPECT_THAT(read_file(path_), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0x29, 0x03, 0x98, 0x07,  //
                                            0xd8, 0xea, 0x82, 0xa2,                          //
                                            1, 0, 0, 0, 0, 0, 0, 0, 0x01, 0x75, 0xde, 0x41,  //
                                            'a', 0x78, 0x6e, 0xe4, 0x28));
}

TEST_F(Records, OfAnEmptyFileAreNone) {
  write_file(path_, {});
  EXPECT_EQ(scanned().count(), 0U);
}

TEST_F(Records, WithADamagedByteAreNamedWithTheirPlace) {
  const RecordIndex index = scanned();
  const std::uint64_t offset = index.place(3).offset;
  change([&](Bytes8& bytes) { bytes[offset + kRecordHeader + 1234] ^= 1; });
  Bytes8 data;
  const RecordFile file = opened();
  expect_error(
      file.read(index.place(3), data),
      "record 3 at byte " + std::to_string(offset) +
          ": its data do not match their CRC: the file is damaged; fetch or copy it again");
  EXPECT_TRUE(file.read(index.place(4), data).ok());
}

TEST_F(Records, WithADamagedLengthEndTheScan) {
  const std::uint64_t offset = scanned().place(2).offset;
  for (const std::size_t byte : {0U, 7U, 8U, 11U}) {
    change([&](Bytes8& bytes) { bytes[offset + byte] ^= 0x80; });
    expect_error(RecordIndex::scan(opened()), "record 2 at byte " + std::to_string(offset) +
                                                  ": the length does not match its CRC");
    change([&](Bytes8& bytes) { bytes[offset + byte] ^= 0x80; });
  }
}

TEST_F(Records, LargerThanTheFileAreRefusedBeforeAnyMemoryIsTaken) {
  const std::uint64_t offset = scanned().place(5).offset;
  change([&](Bytes8& bytes) { put_length(bytes, offset, std::uint64_t{200} << 20); });
  expect_error(RecordIndex::scan(opened()), "record 5 at byte " + std::to_string(offset) +
                                                ": it declares 209715200 bytes, and ");
  for (const std::uint64_t length : {kMostRecordBytes + 1, ~std::uint64_t{0}, ~std::uint64_t{15}}) {
    change([&](Bytes8& bytes) { put_length(bytes, offset, length); });
    expect_error(RecordIndex::scan(opened()), "it declares " + std::to_string(length) +
                                                  " bytes, and a record may have 268435456");
  }
}

TEST_F(Records, CutShortAnywhereAreAnError) {
  const Bytes8 whole = read_file(path_);
  const RecordIndex index = scanned();
  const RecordPlace last = index.place(8);
  for (const std::uint64_t size :
       {last.offset + 1, last.offset + 11, last.offset + 12, last.offset + 15, last.offset + 16,
        last.offset + 5000, std::uint64_t{whole.size()} - 1}) {
    write_file(path_, std::span(whole).first(size));
    expect_error(RecordIndex::scan(opened()), "record 8 at byte " + std::to_string(last.offset));
    expect_error(RecordIndex::scan(opened()), "the file is cut short; fetch or copy it again");
    Bytes8 data;
    expect_error(opened().read(last, data), "it would end behind the file's end");
  }
  write_file(path_, std::span(whole).first(last.offset));
  EXPECT_EQ(scanned().count(), 8U);
}

TEST_F(Records, OfAFileThatShrinksWhileItIsOpenAreAnError) {
  const RecordIndex index = scanned();
  const RecordFile file = opened();
  std::filesystem::resize_file(path_, index.place(8).offset + 100);
  Bytes8 data;
  expect_error(file.read(index.place(8), data), "the file has become shorter; start again");
  expect_error(RecordIndex::scan(file), "has become shorter; start again");
}

TEST_F(Records, ThatAreNotThoseOfTheIndexAreAnError) {
  const RecordIndex index = scanned();
  write_records(path_, noise(kLengths, 8));
  Bytes8 data;
  expect_error(opened().read(index.place(2), data),
               "it is not the record of the index: the file has changed; delete its index");
  std::vector<std::size_t> lengths = kLengths;
  lengths[1] = 2;
  lengths[2] = 499;
  write_records(path_, noise(lengths));
  expect_error(opened().read(index.place(1), data), "it has 2 bytes, but 1 in the index");
}

TEST_F(Records, OfSomethingElseAreRefused) {
  write_file(path_, Bytes8(5000, 'x'));
  expect_error(RecordIndex::scan(opened()), "this is no TFRecord file, or a damaged one");
}

TEST_F(Records, OfWhatCannotBeReadAreRefused) {
  path_ = scratch_ / "missing";
  expect_error(RecordFile::open(path_), "cannot open");
  EXPECT_EQ(RecordFile::open(path_).error().code, Errc::not_found);
  path_ = scratch_.path();
  expect_error(RecordFile::open(path_), "is not a regular file");
  path_ = scratch_ / "pipe";
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  expect_error(RecordFile::open(path_), "is not a regular file");
}

TEST_F(Records, OfWhatIsForbiddenAreRefused) {
  path_ = scratch_ / "secret";
  write_file(path_, Bytes8(16));
  ASSERT_EQ(::chmod(path_.c_str(), 0), 0);
  if (::geteuid() == 0) GTEST_SKIP() << "SKIPPED: the superuser may read everything";
  expect_error(RecordFile::open(path_), "cannot open");
  EXPECT_EQ(RecordFile::open(path_).error().code, Errc::permission);
}

TEST_F(Records, CannotBeWrittenWhereThereIsNoFolder) {
  path_ = scratch_ / "missing/file";
  expect_error(TfRecordWriter::create(path_), "cannot write");
}

}  // namespace
}  // namespace sterna::input
