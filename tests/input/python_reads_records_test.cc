// What we write is what another library reads: tests/reference/read_tfrecord.py.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "input/records/example.h"
#include "input/records/tfrecord.h"
#include "runtime/base/hex.h"
#include "scratch.h"

namespace sterna::input {
namespace {

std::string hex(const std::string& text) { return to_hex(std::as_bytes(std::span(text))); }

/// Records with pictures of all sizes; every other one with all that a record may say.
std::vector<PictureRecord> some_records() {
  std::mt19937 random(11);
  std::vector<PictureRecord> records;
  for (const std::uint32_t rows : {1U, 2U, 17U, 300U, 2000U}) {
    PictureRecord record;
    record.coding = Coding::pixels;
    record.shape = {rows, 200, 3};
    record.bytes.resize(record.shape.bytes());
    for (char& byte : record.bytes) byte = static_cast<char>(random());
    if (rows % 2 == 0) {
      record.label = -std::int64_t{rows};
      record.class_text = "r\xc3\xb6schen";
      record.name = "a picture.jpg";
      record.boxes = {{}, {0.25, 0.125, 0.5, 0.75}};
    }
    records.push_back(record);
  }
  return records;
}

/// The line that read_tfrecord.py expects of this record.
std::string expected_line(const PictureRecord& record) {
  std::string line =
      fmt::format(R"({{"image/encoded": ["{}"], "image/format": ["{}"], "image/height": [{}], )"
                  R"("image/width": [{}], "image/channels": [{}], "image/colorspace": ["{}"])",
                  hex(record.bytes), hex("RAW"), record.shape.rows, record.shape.columns,
                  record.shape.channels, hex("RGB"));
  if (record.label) {
    line += fmt::format(R"(, "image/class/label": [{}], "image/class/text": ["{}"])", *record.label,
                        hex(record.class_text));
    line += fmt::format(R"(, "image/filename": ["{}"])", hex(record.name));
  }
  for (const auto& [name, edge] :
       {std::pair{"ymin", &Box::top}, std::pair{"xmin", &Box::left},
        std::pair{"ymax", &Box::bottom}, std::pair{"xmax", &Box::right}}) {
    std::vector<float> edges;
    for (const Box& box : record.boxes) edges.push_back(box.*edge);
    line += fmt::format(R"(, "image/object/bbox/{}": [{}])", name, fmt::join(edges, ", "));
  }
  return line + "}\n";
}

TEST(Python, ReadsTheRecordsThatWereWritten) {
  const char* source = std::getenv("STERNA_SOURCE");
  if (source == nullptr) GTEST_SKIP() << "SKIPPED: STERNA_SOURCE names no source tree";
  const TemporaryFolder scratch;
  const auto path = scratch / "train-00000-of-00001";
  const auto expected_path = scratch / "expected.jsonl";
  std::ofstream expected(expected_path);
  Result<TfRecordWriter> writer = TfRecordWriter::create(path);
  ASSERT_TRUE(writer.ok()) << writer.error().message;
  for (const PictureRecord& record : some_records()) {
    ASSERT_TRUE(writer->append(pack_picture_record(record)).ok());
    expected << expected_line(record);
  }
  ASSERT_TRUE(writer->finish().ok());
  expected.close();
  const std::string command = fmt::format("python3 '{}/tests/reference/read_tfrecord.py' '{}' '{}'",
                                          source, path.string(), expected_path.string());
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  constexpr int kNoPackage = 77;
  constexpr int kNoProgram = 127;
  if (WEXITSTATUS(status) == kNoPackage || WEXITSTATUS(status) == kNoProgram) {
    GTEST_SKIP() << "SKIPPED: no python3 with the package tfrecord (pip install tfrecord)";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace sterna::input
