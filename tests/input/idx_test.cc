#include "input/formats/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "packing.h"
#include "scratch.h"

namespace sterna::input {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Bytes8 = std::vector<std::uint8_t>;

Bytes8 labels_file(std::uint32_t count, Bytes8 labels) {
  Bytes8 file = {0, 0, 8, 1};
  for (const int shift : {24, 16, 8, 0}) file.push_back(static_cast<std::uint8_t>(count >> shift));
  file.insert(file.end(), labels.begin(), labels.end());
  return file;
}

using Labels = std::vector<std::uint16_t>;

/// A directory with a training split of three images of noise and the labels 3, 1, 4.
class MnistFiles : public ::testing::Test {
 protected:
  MnistFiles()
      : images_(scratch_ / "train-images-idx3-ubyte"),
        labels_(scratch_ / "train-labels-idx1-ubyte"),
        pixels_(std::size_t{3} * 28 * 28) {
    std::iota(pixels_.begin(), pixels_.end(), std::uint8_t{0});
    EXPECT_TRUE(write_idx_images(images_, pixels_, 28, 28).ok());
    EXPECT_TRUE(write_idx_labels(labels_, Labels{3, 1, 4}).ok());
  }

  /// The error of loading, which must be one line, name `path` and hold `words`.
  void expect_error(const std::filesystem::path& path, const std::string& words) {
    const Result<Dataset> loaded = load_mnist(scratch_.path(), Split::train);
    ASSERT_FALSE(loaded.ok());
    EXPECT_THAT(loaded.error().message, HasSubstr(path.string()));
    EXPECT_THAT(loaded.error().message, HasSubstr(words));
    EXPECT_EQ(loaded.error().message.find('\n'), std::string::npos);
  }

  void change_images(const std::function<void(Bytes8&)>& change) {
    Bytes8 file = read_file(images_);
    change(file);
    write_file(images_, file);
  }

  TemporaryFolder scratch_;
  std::filesystem::path images_;
  std::filesystem::path labels_;
  Bytes8 pixels_;
};

TEST_F(MnistFiles, WhatIsWrittenIsRead) {
  const Result<Dataset> loaded = load_mnist(scratch_.path(), Split::train);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->count, 3U);
  EXPECT_EQ(loaded->rows, 28U);
  EXPECT_EQ(loaded->columns, 28U);
  EXPECT_EQ(loaded->channels, 1U);
  EXPECT_EQ(loaded->classes, 10U);
  EXPECT_EQ(loaded->images, pixels_);
  EXPECT_THAT(loaded->labels, ElementsAre(3, 1, 4));
  EXPECT_EQ(loaded->image(1)[0], pixels_[784]);
}

TEST_F(MnistFiles, TheWriterLeavesNothingButTheFiles) {
  EXPECT_THAT(files_in(scratch_.path()),
              ElementsAre("train-images-idx3-ubyte", "train-labels-idx1-ubyte"));
  EXPECT_THAT(read_file(labels_), ElementsAre(0, 0, 8, 1, 0, 0, 0, 3, 3, 1, 4));
}

TEST_F(MnistFiles, AGzFileIsReadWhereThePlainOneIsMissing) {
  write_file(images_.string() + ".gz", gzip(read_file(images_)));
  std::filesystem::remove(images_);
  const Result<Dataset> loaded = load_mnist(scratch_.path(), Split::train);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->images, pixels_);
}

TEST_F(MnistFiles, TheContentDecidesWhatIsGzipNotTheName) {
  write_file(images_, gzip(read_file(images_)));
  std::filesystem::rename(labels_, labels_.string() + ".gz");
  const Result<Dataset> loaded = load_mnist(scratch_.path(), Split::train);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->images, pixels_);
}

TEST_F(MnistFiles, AGzipFileOfSeveralMembersIsOneStream) {
  const Bytes8 plain = read_file(images_);
  Bytes8 packed = gzip({plain.begin(), plain.begin() + 1000});
  const Bytes8 rest = gzip({plain.begin() + 1000, plain.end()});
  packed.insert(packed.end(), rest.begin(), rest.end());
  write_file(images_, packed);
  EXPECT_TRUE(load_mnist(scratch_.path(), Split::train).ok());
}

TEST_F(MnistFiles, AMissingFileIsNamedWithTheCommandsThatMakeIt) {
  std::filesystem::remove(labels_);
  expect_error(scratch_.path(), "train-labels-idx1-ubyte");
  expect_error(scratch_.path(), "sterna data fetch mnist");
}

TEST_F(MnistFiles, ATruncatedFileIsRefused) {
  change_images([](Bytes8& file) { file.pop_back(); });
  expect_error(images_, "cut short");
  change_images([](Bytes8& file) { file.resize(10); });
  expect_error(images_, "cut short in its header");
  change_images([](Bytes8& file) { file.resize(3); });
  expect_error(images_, "too short");
  change_images([](Bytes8& file) { file.clear(); });
  expect_error(images_, "too short");
}

TEST_F(MnistFiles, ATruncatedGzipFileIsRefusedWhereverItIsCut) {
  const Bytes8 whole = gzip(read_file(images_));
  for (std::size_t size = 2; size < whole.size(); size += 7) {
    write_file(images_, {whole.data(), size});
    EXPECT_FALSE(load_mnist(scratch_.path(), Split::train).ok()) << size << " bytes";
  }
  write_file(images_, {whole.data(), whole.size() - 1});
  expect_error(images_, "cut short");
}

TEST_F(MnistFiles, ADamagedGzipFileIsRefused) {
  Bytes8 packed = gzip(read_file(images_));
  packed[packed.size() - 6] ^= 1;  // in the checksum
  write_file(images_, packed);
  expect_error(images_, "fetch or copy the file again");
}

TEST_F(MnistFiles, TrailingBytesAreRefused) {
  const Bytes8 plain = read_file(images_);
  change_images([](Bytes8& file) { file.push_back(0); });
  expect_error(images_, "holds more");
  Bytes8 packed = gzip(plain);
  packed.push_back('x');
  write_file(images_, packed);
  expect_error(images_, "");
}

TEST_F(MnistFiles, AWrongMagicNumberIsRefusedWithWhatWasFound) {
  write_file(images_, read_file(labels_));
  expect_error(images_, "that is a labels file");
  change_images([](Bytes8& file) { file[2] = 0x0d; });
  expect_error(images_, "0x00000d01");
}

TEST_F(MnistFiles, CountsThatDifferAreRefused) {
  ASSERT_TRUE(write_idx_labels(labels_, Labels{1, 2}).ok());
  expect_error(labels_, "2 labels for the 3 images");
}

TEST_F(MnistFiles, ALabelOutOfRangeIsRefusedWithItsPlace) {
  ASSERT_TRUE(write_idx_labels(labels_, Labels{1, 2, 10}).ok());
  expect_error(labels_, "label 2 is 10");
}

TEST_F(MnistFiles, ImagesOfAnotherSizeAreRefused) {
  ASSERT_TRUE(write_idx_images(images_, Bytes8(std::size_t{3} * 32 * 32), 32, 32).ok());
  expect_error(images_, "32 x 32");
}

TEST_F(MnistFiles, AHeaderThatDeclaresMoreThanTheFileCanHoldAllocatesNothing) {
  const Bytes8 huge = {0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 7};
  write_file(images_, huge);
  expect_error(images_, "more than the file can hold");
  write_file(images_, gzip(huge));
  expect_error(images_, "more than the file can hold");
  write_file(labels_, labels_file(0, {}));
  EXPECT_FALSE(read_idx_labels(labels_, 10).ok());
}

TEST_F(MnistFiles, WhatIsNotARegularFileIsRefusedWithoutWaiting) {
  std::filesystem::remove(images_);
  std::filesystem::create_directory(images_);
  expect_error(images_, "not a regular file");
  std::filesystem::remove(images_);
  ASSERT_EQ(mkfifo(images_.c_str(), 0600), 0);
  expect_error(images_, "not a regular file");
}

TEST_F(MnistFiles, AnUnreadableFileIsRefused) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  std::filesystem::permissions(images_, std::filesystem::perms::none);
  expect_error(images_, "Permission denied");
}

TEST_F(MnistFiles, AGlanceLetsWholeFilesPassInEveryForm) {
  const Bytes8 images = read_file(images_);
  const auto half = images.begin() + static_cast<std::ptrdiff_t>(images.size() / 2);
  Bytes8 members = gzip({images.begin(), half});
  const Bytes8 second = gzip({half, images.end()});
  members.insert(members.end(), second.begin(), second.end());
  for (const Bytes8& form : {images, gzip(images), members}) {
    write_file(images_, form);
    EXPECT_TRUE(glance_at_mnist(scratch_.path(), Split::train).ok());
  }
}

TEST_F(MnistFiles, AGlanceSaysOfABrokenFileWhatReadingItSays) {
  const Bytes8 images = read_file(images_);
  const Bytes8 packed = gzip(images);
  Bytes8 longer = images;
  longer.push_back(0);
  const Bytes8 shorter(images.begin(), images.end() - 1);
  const Bytes8 cut(packed.begin(), packed.end() - 30);
  const Bytes8 labels = read_file(labels_);
  for (const Bytes8& broken : {longer, shorter, cut, labels, Bytes8{}}) {
    write_file(images_, broken);
    const Result<SourceFacts> glanced = glance_at_mnist(scratch_.path(), Split::train);
    const Result<Dataset> loaded = load_mnist(scratch_.path(), Split::train);
    ASSERT_FALSE(glanced.ok());
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(glanced.error().message, loaded.error().message);
  }
}

TEST_F(MnistFiles, ALabelThatDoesNotFitAByteIsNotWritten) {
  const Result<void> written = write_idx_labels(labels_, Labels{1, 256});
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, HasSubstr(labels_.string()));
  EXPECT_EQ(read_idx_labels(labels_, 10).value(), (Labels{3, 1, 4}));
}

TEST(Idx, WritingToAMissingDirectoryIsAnErrorThatNamesTheFile) {
  const Result<void> written = write_idx_labels("/nonexistent-sterna/labels", Labels{1});
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, HasSubstr("/nonexistent-sterna/labels"));
}

}  // namespace
}  // namespace sterna::input
