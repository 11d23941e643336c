// That NumPy opens it, tests/reference/onnx_logits.py says.
#include "nets/export/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "tests/temporary_folder.h"

namespace sterna::nets {
namespace {

using testing::HasSubstr;

std::uint32_t number(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = size; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
  }
  return value;
}

/// The members of a zip, all stored as they are, by the directory at its end.
std::map<std::string, std::string> members_of(const std::string& zip) {
  const std::size_t end = zip.rfind("PK\x05\x06");
  std::map<std::string, std::string> members;
  std::size_t entry = number(zip, end + 16, 4);
  for (std::uint32_t left = number(zip, end + 10, 2); left > 0; --left) {
    EXPECT_EQ(number(zip, entry + 10, 2), 0U) << "is compressed";
    const std::uint32_t crc = number(zip, entry + 16, 4), size = number(zip, entry + 20, 4);
    const std::uint32_t name = number(zip, entry + 28, 2);
    const std::size_t local = number(zip, entry + 42, 4);
    const std::size_t data = local + 30 + number(zip, local + 26, 2) + number(zip, local + 28, 2);
    const std::string content = zip.substr(data, size);
    EXPECT_EQ(crc32(0, reinterpret_cast<const Bytef*>(content.data()), size), crc);
    members[zip.substr(entry + 46, name)] = content;
    entry += 46 + name + number(zip, entry + 30, 2) + number(zip, entry + 32, 2);
  }
  return members;
}

class NpzTest : public testing::Test {
 protected:
  std::string path() const { return folder_ / "weights.npz"; }
  std::string contents() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  const std::vector<ParameterSpec> specs_{{.name = "a/weights", .shape = {2, 3}},
                                          {.name = "a/biases", .shape = {2}}};
  const std::vector<float> first_{1, 2, 3, 4, 5, 6}, second_{-7, 0.5F};
  const std::vector<std::span<const float>> values_{first_, second_};
  TemporaryFolder folder_;
};

TEST_F(NpzTest, HoldsEachTensorAsNumpyDoes) {
  ASSERT_TRUE(write_npz(path(), specs_, values_, {{"net", "x"}}).ok());
  const auto members = members_of(contents());
  ASSERT_EQ(members.size(), 3U);
  const std::string& npy = members.at("a/weights.npy");
  EXPECT_EQ(npy.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t header = number(npy, 8, 2);
  EXPECT_EQ((10 + header) % 64, 0U);
  EXPECT_THAT(npy.substr(10, header),
              testing::StartsWith("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"));
  EXPECT_EQ(npy.at(9 + header), '\n');
  ASSERT_EQ(npy.size(), 10 + header + 24);
  EXPECT_EQ(std::memcmp(npy.data() + 10 + header, first_.data(), 24), 0);
  EXPECT_THAT(members.at("a/biases.npy"), HasSubstr("'shape': (2,), }"));
  EXPECT_THAT(members.at("metadata.json"), HasSubstr("\"net\": \"x\""));
}

TEST_F(NpzTest, LeavesAloneWhatLiesBesideIt) {
  const std::string own = path() + ".new";
  std::ofstream(folder_ / "target") << "precious";
  std::filesystem::create_symlink(folder_ / "target", own);
  ASSERT_TRUE(write_npz(path(), specs_, values_, {}).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(own));
  EXPECT_EQ(std::filesystem::file_size(folder_ / "target"), 8U);
}

TEST_F(NpzTest, LeavesNothingWhereItCannotBeWritten) {
  const auto written = write_npz(folder_ / "no/such/folder.npz", specs_, values_, {});
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, Errc::io);
  EXPECT_THAT(written.error().message, HasSubstr("no/such/folder.npz"));
  ASSERT_TRUE(write_npz(path(), specs_, values_, {}).ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

}  // namespace
}  // namespace sterna::nets
