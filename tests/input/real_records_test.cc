// The TFRecord files that TensorFlow and others wrote, where somebody laid them beside the
// checkout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "input/records/example.h"
#include "input/records/record_files.h"
#include "input/records/record_index.h"
#include "real_data.h"
#include "scratch.h"

namespace sterna::input {
namespace {

namespace fs = std::filesystem;
using Bytes8 = std::vector<std::uint8_t>;

/// Every record of these files, read by position from last to first, its CRC checked.
std::vector<PictureRecord> all_records(const std::vector<fs::path>& paths) {
  std::vector<PictureRecord> records;
  for (const fs::path& path : paths) {
    const Result<RecordFile> file = RecordFile::open(path);
    EXPECT_TRUE(file.ok());
    const Result<RecordIndex> index = RecordIndex::scan(*file);
    EXPECT_TRUE(index.ok()) << index.error().message;
    if (!file || !index) return {};
    Bytes8 data;
    std::vector<PictureRecord> own(index->count());
    for (std::size_t i = index->count(); i-- > 0;) {
      const Result<void> read = file->read(index->place(i), data);
      EXPECT_TRUE(read.ok()) << read.error().message;
      Result<PictureRecord> record = parse_picture_record(data);
      EXPECT_TRUE(record.ok()) << record.error().message;
      if (record) own[i] = *std::move(record);
    }
    std::move(own.begin(), own.end(), std::back_inserter(records));
  }
  return records;
}

TEST(RealFlowerRecords, HaveTheirPicturesByteForByte) {
  const auto dir = real_data("tfrecord/flowers-slim");
  if (!dir) GTEST_SKIP() << "SKIPPED: no tfrecord/flowers-slim among the real data";
  // Two of five shards: the user says which.
  const Result<std::vector<fs::path>> none = find_record_files(*dir, kTestWords);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message,
              ::testing::HasSubstr("flowers_validation_00002-of-00005.tfrecord is missing"));
  const Result<std::vector<fs::path>> paths = match_record_files(*dir, "flowers_validation_*");
  ASSERT_TRUE(paths.ok()) << paths.error().message;
  const std::vector<PictureRecord> records = all_records(*paths);
  ASSERT_EQ(records.size(), 140U);
  for (const PictureRecord& record : records) {
    EXPECT_EQ(record.coding, Coding::jpeg);
    EXPECT_EQ(record.bytes.substr(0, 2), "\xff\xd8");
    ASSERT_TRUE(record.label.has_value());
    EXPECT_GE(*record.label, 0);
    EXPECT_LT(*record.label, 5);
    EXPECT_GT(record.shape.rows, 0U);
    EXPECT_GT(record.shape.columns, 0U);
  }
  const auto photos = real_data("flower_photos");
  if (!photos) GTEST_SKIP() << "SKIPPED in part: no flower_photos among the real data";
  const std::vector<std::string> classes{"daisy", "dandelion", "roses", "sunflowers", "tulips"};
  std::map<std::string, std::string> class_of;
  for (const auto& entry : fs::recursive_directory_iterator(*photos)) {
    if (!entry.is_regular_file()) continue;
    const Bytes8 bytes = read_file(entry.path());
    class_of[{bytes.begin(), bytes.end()}] = entry.path().parent_path().filename();
  }
  std::size_t same = 0;
  for (const PictureRecord& record : records) {
    const auto found = class_of.find(record.bytes);
    if (found == class_of.end()) continue;
    ++same;
    EXPECT_EQ(found->second, classes.at(static_cast<std::size_t>(*record.label)));
  }
  EXPECT_EQ(same, 31U);
}

/// The pixels of a PNG, three bytes each.
Bytes8 unpacked_png(const std::string& bytes) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()), 0);
  image.format = PNG_FORMAT_RGB;
  Bytes8 pixels(PNG_IMAGE_SIZE(image));
  EXPECT_NE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr), 0);
  return pixels;
}

/// Label and pixels of example `number` of the training set: data_batch_1.bin to data_batch_5.bin
/// of 10,000 examples each, a byte of label, then the planes of red, green and blue.
Bytes8 cifar_example(const fs::path& dir, std::size_t number) {
  constexpr std::size_t kExample = 3073;
  std::ifstream file(dir / ("data_batch_" + std::to_string(number / 10000 + 1) + ".bin"),
                     std::ios::binary);
  file.seekg(static_cast<std::streamoff>(number % 10000 * kExample));
  Bytes8 planes(kExample);
  file.read(reinterpret_cast<char*>(planes.data()), kExample);
  EXPECT_TRUE(file.good());
  Bytes8 example{planes[0]};
  for (std::size_t pixel = 0; pixel < 1024; ++pixel) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      example.push_back(planes[1 + 1024 * channel + pixel]);
    }
  }
  return example;
}

TEST(RealCifarRecords, AreTheExamplesThatTheirIdsSay) {
  const auto path = real_data("tfrecord/cifar10_train.tfrecord");
  if (!path) GTEST_SKIP() << "SKIPPED: no tfrecord/cifar10_train.tfrecord among the real data";
  const auto found = find_record_files(path->parent_path(), kTrainingWords);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_THAT(*found, ::testing::ElementsAre(*path));
  const std::vector<PictureRecord> records = all_records({*path});
  ASSERT_EQ(records.size(), 128U);
  const auto batch = real_data("cifar10/data_batch_5.bin");
  if (!batch) GTEST_SKIP() << "SKIPPED in part: no unpacked cifar10 among the real data";
  for (const PictureRecord& record : records) {
    EXPECT_EQ(record.coding, Coding::png);
    ASSERT_EQ(record.name.rfind("train_", 0), 0U) << record.name;
    std::size_t number = 0;
    const char* digits = record.name.data() + 6;
    std::from_chars(digits, record.name.data() + record.name.size(), number);
    const Bytes8 example = cifar_example(batch->parent_path(), number);
    EXPECT_EQ(record.label, example[0]) << record.name;
    EXPECT_EQ(unpacked_png(record.bytes), Bytes8(example.begin() + 1, example.end()))
        << record.name;
  }
}

}  // namespace
}  // namespace sterna::input
