#include "nets/weights/weights_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>

#include "runtime/base/full_disk.h"
#include "tests/temporary_folder.h"

namespace sterna::nets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class WeightsFileTest : public testing::Test {
 protected:
  std::string path(const char* name = "weights.safetensors") const { return folder_ / name; }

  /// Writes a file of `header` and `data` bytes of zeros.
  std::string file(const std::string& header, std::size_t data) const {
    const std::uint64_t length = header.size();
    std::string bytes(sizeof length, '\0');
    std::memcpy(bytes.data(), &length, sizeof length);
    return raw(bytes + header + std::string(data, '\0'));
  }
  std::string raw(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }
  static std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void expect_malformed(const std::string& path, const char* what) {
    const auto read = read_safetensors(path);
    ASSERT_FALSE(read.ok()) << what;
    EXPECT_EQ(read.error().code, Errc::malformed) << what;
    EXPECT_THAT(read.error().message, HasSubstr(what));
    EXPECT_THAT(read.error().message, HasSubstr(path));
    EXPECT_THAT(read.error().message, testing::Not(HasSubstr("\n")));
  }

  const std::vector<ParameterSpec> specs_{{.name = "b/weights", .shape = {2, 3}},
                                          {.name = "a/biases", .shape = {2}, .role = Role::bias}};
  const std::vector<float> first_{1, 2, 3, 4, 5, 6}, second_{-7, 0.5F};
  const std::vector<std::span<const float>> values_{first_, second_};
  TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
};

TEST_F(WeightsFileTest, ReadsBackWhatItWrote) {
  ASSERT_TRUE(write_safetensors(path(), specs_, values_, {{"net", "lenet"}}).ok());
  const auto read = read_safetensors(path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->tensors.size(), 2U);
  EXPECT_EQ(read->tensors[0].name, "b/weights");
  EXPECT_THAT(read->tensors[0].shape, ElementsAre(2, 3));
  EXPECT_EQ(read->tensors[0].values, first_);
  EXPECT_EQ(read->tensors[1].name, "a/biases");
  EXPECT_EQ(read->tensors[1].values, second_);
  EXPECT_EQ(read->metadata, (Metadata{{"net", "lenet"}}));
}

TEST_F(WeightsFileTest, WritesTheFormatByItsRules) {
  ASSERT_TRUE(write_safetensors(path(), specs_, values_, {}).ok());
  const std::string bytes = contents(path());
  std::uint64_t length = 0;
  ASSERT_GT(bytes.size(), 8U);
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  ASSERT_EQ(bytes.size(), 8 + length + 32);
  std::string header = bytes.substr(8, length);
  header.erase(header.find_last_not_of(' ') + 1);
  EXPECT_EQ(header, R"({"b/weights":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                    R"("a/biases":{"dtype":"F32","shape":[2],"data_offsets":[24,32]}})");
  std::vector<float> data(8);
  std::memcpy(data.data(), bytes.data() + 8 + length, 32);
  EXPECT_THAT(data, ElementsAre(1, 2, 3, 4, 5, 6, -7, 0.5F));
}

TEST_F(WeightsFileTest, ReadsTensorsInTheOrderOfTheirBytes) {
  const auto read =
      read_safetensors(file(R"({"late":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
                            R"("empty":{"dtype":"F32","shape":[0,5],"data_offsets":[4,4]},)"
                            R"("scalar":{"shape":[],"data_offsets":[0,4],"dtype":"F32"}}   )",
                            8));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->tensors.size(), 3U);
  EXPECT_EQ(read->tensors[0].name, "scalar");
  EXPECT_EQ(read->tensors[1].name, "empty");
  EXPECT_EQ(read->tensors[2].name, "late");
}

TEST_F(WeightsFileTest, ReadsHalvesAsTheFp32OfTheSameValue) {
  const std::string header = R"({"half":{"dtype":"F16","shape":[8],"data_offsets":[0,16]},)"
                             R"("brain":{"dtype":"BF16","shape":[2,2],"data_offsets":[16,24]}})";
  // 1, -2, 65504, the smallest denormal, the largest one, -0, infinity and NaN.
  const std::vector<std::uint16_t> halves{0x3C00, 0xC000, 0x7BFF, 0x0001,
                                          0x83FF, 0x8000, 0x7C00, 0x7E01};
  const std::vector<std::uint16_t> brains{0x3F80, 0xC040, 0x7F80, 0x0001};
  std::string bytes = contents(file(header, 0));
  for (const auto* each : {&halves, &brains})
    bytes.append(reinterpret_cast<const char*>(each->data()), each->size() * 2);
  const auto read = read_safetensors(raw(bytes));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->tensors.size(), 2U);
  const std::vector<float>& half = read->tensors[0].values;
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_THAT(std::span(half).first(7),
              ElementsAre(1.0F, -2.0F, 65504.0F, 0x1p-24F, -1023 * 0x1p-24F, 0.0F, inf));
  EXPECT_TRUE(std::signbit(half[5]));
  EXPECT_TRUE(std::isnan(half[7]));
  EXPECT_THAT(read->tensors[1].values, ElementsAre(1.0F, -3.0F, inf, 0x1p-133F));
  EXPECT_THAT(read->tensors[1].shape, ElementsAre(2, 2));
}

TEST_F(WeightsFileTest, ListsTensorsOfOtherTypesAndReadsTheRest) {
  const auto read =
      read_safetensors(file(R"({"count":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                            R"("w":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
                            R"("packed":{"dtype":"F4","shape":[3,5],"data_offsets":[12,20]}})",
                            20));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->tensors.size(), 1U);
  EXPECT_EQ(read->tensors[0].name, "w");
  ASSERT_EQ(read->others.size(), 2U);
  EXPECT_EQ(read->others[0].name, "count");
  EXPECT_EQ(read->others[0].dtype, "I64");
  EXPECT_EQ(read->others[1].dtype, "F4");
  EXPECT_THAT(read->others[1].shape, ElementsAre(3, 5));
}

TEST_F(WeightsFileTest, ReadsPartsOfATensor) {
  ASSERT_TRUE(write_safetensors(path(), specs_, values_, {}).ok());
  const auto opened = TensorFile::open(path());
  ASSERT_TRUE(opened.ok());
  const ListedTensor* tensor = opened->find("b/weights");
  ASSERT_NE(tensor, nullptr);
  std::vector<float> part(3);
  ASSERT_TRUE(opened->read(*tensor, 2, part).ok());
  EXPECT_THAT(part, ElementsAre(3, 4, 5));
  EXPECT_EQ(opened->find("b"), nullptr);
}

TEST_F(WeightsFileTest, SaysThatAFileWasCutWhileItWasOpen) {
  ASSERT_TRUE(write_safetensors(path(), specs_, values_, {}).ok());
  const auto opened = TensorFile::open(path());
  ASSERT_TRUE(opened.ok());
  fs::resize_file(path(), fs::file_size(path()) - 1);
  std::vector<float> part(2);
  const auto read = opened->read(*opened->find("a/biases"), 0, part);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("ends too early"));
}

TEST_F(WeightsFileTest, RefusesEveryTruncation) {
  ASSERT_TRUE(write_safetensors(path(), specs_, values_, {{"k", "v"}}).ok());
  const std::string whole = contents(path());
  for (std::size_t size = 0; size < whole.size(); ++size)
    expect_malformed(raw(whole.substr(0, size)), "");
  expect_malformed(raw(whole + '\0'), "do not end where the file does");
}

TEST_F(WeightsFileTest, SurvivesEveryFlippedByteOfTheHeader) {
  ASSERT_TRUE(write_safetensors(path(), specs_, values_, {{"k", "v"}}).ok());
  const std::string whole = contents(path());
  for (std::size_t i = 0; i + 32 < whole.size(); ++i)
    for (const int mask : {1, 128}) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ mask);
      const auto read = read_safetensors(raw(bytes));
      if (!read.ok()) continue;
      for (const NamedTensor& tensor : read->tensors) {
        std::size_t count = 1;
        for (const std::size_t extent : tensor.shape) count *= extent;
        ASSERT_EQ(tensor.values.size(), count);
      }
    }
}

TEST_F(WeightsFileTest, RefusesHeadersThatLie) {
  const auto tensor = [](const char* dtype, const char* shape, const char* offsets) {
    return std::string(R"({"w":{"dtype":")") + dtype + R"(","shape":)" + shape +
           R"(,"data_offsets":)" + offsets + "}}";
  };
  expect_malformed(file("[1]", 0), "does not start with {");
  expect_malformed(file("{\"w\":", 0), "not a JSON object");
  expect_malformed(file("{\"w\xff\":1}", 0), "not a JSON object");
  expect_malformed(file(R"({"w":5})", 0), "has no dtype");
  expect_malformed(file(tensor("F16", "[4]", "[0,16]"), 16), "do not agree");
  expect_malformed(file(tensor("I64", "[4]", "[0,16]"), 16), "do not agree");
  expect_malformed(file(tensor("A TYPE OF SOMEBODY", "[4]", "[0,16]"), 16), "no short text");
  expect_malformed(file(R"({"w":{"dtype":1,"shape":[],"data_offsets":[0,4]}})", 4), "short text");
  expect_malformed(file(tensor("F32", "4", "[0,16]"), 16), "no list");
  expect_malformed(file(tensor("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4), "no list");
  expect_malformed(file(tensor("F32", "[-4]", "[0,16]"), 16), "no natural number");
  expect_malformed(file(tensor("F32", "[4.0]", "[0,16]"), 16), "no natural number");
  expect_malformed(file(tensor("F32", "[4611686018427387904,4]", "[0,0]"), 0), "larger than");
  expect_malformed(file(tensor("F32", "[4]", "[0]"), 16), "no pair");
  expect_malformed(file(tensor("F32", "[4]", "[16,0]"), 16), "do not agree");
  expect_malformed(file(tensor("F32", "[4]", "[0,12]"), 12), "do not agree");
  expect_malformed(file(tensor("F32", "[4]", "[4,20]"), 20), "holes or overlap");
  expect_malformed(file(tensor("F32", "[4]", "[0,16]"), 15), "do not end");
  expect_malformed(file(tensor("F32", "[1099511627776]", "[0,4398046511104]"), 16), "do not end");
  expect_malformed(file(tensor("F32", "[[4]]", "[0,16]"), 16), "");
  expect_malformed(file(R"({"__metadata__":{"k":1}})", 0), "more than strings");
  expect_malformed(file(R"({"__metadata__":[]})", 0), "not an object");
  expect_malformed(file(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                        R"("w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                        4),
                   "one name");
  expect_malformed(file(R"({"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                        R"("w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                        8),
                   "overlap");
  expect_malformed(file("{\"w\":" + std::string(100'000, '['), 0), "nested too deeply");
  expect_malformed(raw(std::string(8, '\xff') + "{}"), "longer than the file");
  expect_malformed(file(R"({"a\nb":5})", 0), "a?b");
}

TEST_F(WeightsFileTest, ReadsAsManyTensorsAsAHeaderNames) {
  constexpr std::size_t kTensors = 100'000;  // searched one by one for each: most of a minute
  std::string header = "{";
  for (std::size_t i = 0; i < kTensors; ++i) {
    header += fmt::format(R"({}"t{}":{{"dtype":"U8","shape":[1],"data_offsets":[{},{}]}})",
                          i == 0 ? "" : ",", i, i, i + 1);
  }
  const auto opened = TensorFile::open(file(header + "}", kTensors));
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  ASSERT_EQ(opened->tensors().size(), kTensors);
  EXPECT_EQ(opened->tensors()[kTensors - 1].name, "t99999");
}

TEST_F(WeightsFileTest, RefusesAPipeAtOnce) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  const auto opened = TensorFile::open(path());
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().message, HasSubstr("it is not a regular file"));
}

TEST_F(WeightsFileTest, TellsAMissingFileFromADamagedOne) {
  const auto read = read_safetensors(path("nowhere"));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Errc::not_found);
  const auto of_folder = read_safetensors(folder_);
  ASSERT_FALSE(of_folder.ok());
  EXPECT_EQ(of_folder.error().code, Errc::invalid_argument);
  EXPECT_THAT(of_folder.error().message, HasSubstr("a folder; name a file of weights"));
  EXPECT_FALSE(read_safetensors("/dev/zero").ok());
}

TEST_F(WeightsFileTest, ReportsAFolderThatIsNotThere) {
  const auto written = write_safetensors(path("no/such/folder"), specs_, values_, {});
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, Errc::io);
  EXPECT_THAT(written.error().message, HasSubstr("no/such/folder"));
}

TEST_F(WeightsFileTest, LeavesTheOldFileWhenTheDiskIsFull) {
  ASSERT_TRUE(write_safetensors(path(), specs_, values_, {}).ok());
  const std::string before = contents(path());
  const std::vector<ParameterSpec> large{{.name = "large", .shape = {100'000}}};
  const std::vector<float> zeros(100'000);
  const std::vector<std::span<const float>> values{zeros};
  const auto written = [&] {
    const FullDisk full(8192);
    return write_safetensors(path(), large, values, {});
  }();
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, Errc::io);
  EXPECT_THAT(written.error().message, HasSubstr(path()));
  EXPECT_EQ(contents(path()), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

}  // namespace
}  // namespace sterna::nets
