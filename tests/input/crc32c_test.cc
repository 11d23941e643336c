#include "input/records/crc32c.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace sterna::input {
namespace {

using Bytes8 = std::vector<std::uint8_t>;

/// The definition, a bit at a time.
std::uint32_t by_definition(std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc;
}

TEST(Crc32c, IsThatOfTheRfcsExamples) {
  Bytes8 ascending(32);
  std::iota(ascending.begin(), ascending.end(), std::uint8_t{0});
  const Bytes8 descending(ascending.rbegin(), ascending.rend());
  // An iSCSI read command.
  Bytes8 command(48);
  const auto put = [&command](std::size_t at, const Bytes8& bytes) {
    std::copy(bytes.begin(), bytes.end(), command.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(0, {0x01, 0xc0});
  put(16, {0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x18, 0x28});
  put(40, {0x02});
  struct Example {
    Bytes8 bytes;
    std::uint32_t crc;
  };
  for (const Example& example :
       {Example{Bytes8(32, 0), 0x8a9136aa}, Example{Bytes8(32, 0xff), 0x62a8ab43},
        Example{ascending, 0x46dd794e}, Example{descending, 0x113fdb5c},
        Example{command, 0xd9963a56}, Example{{}, 0}}) {
    EXPECT_EQ(crc32c(example.bytes), example.crc);
    EXPECT_EQ(crc32c_by_table(example.bytes), example.crc);
    EXPECT_EQ(by_definition(example.bytes), example.crc);
  }
}

TEST(Crc32c, IsTheSameByInstructionAndByTableForEveryLengthAndPlace) {
  std::mt19937_64 random(20261122);
  Bytes8 bytes(80'000);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  const auto check = [&bytes](std::size_t first, std::size_t size) {
    const auto part = std::span<const std::uint8_t>(bytes).subspan(first, size);
    const std::uint32_t expected = by_definition(part);
    ASSERT_EQ(crc32c(part), expected) << first << "+" << size;
    ASSERT_EQ(crc32c_by_table(part), expected) << first << "+" << size;
  };
  for (std::size_t size = 0; size < 100; ++size) check(size % 9, size);
  // Around where three short stretches, and three long ones, begin.
  for (const std::size_t size : {767U, 768U, 769U, 1535U, 1536U, 24575U, 24576U, 24577U, 49152U}) {
    for (std::size_t first = 0; first < 9; ++first) check(first, size);
  }
  check(3, bytes.size() - 3);
}

TEST(Crc32c, GoesOnFromWhatCameBefore) {
  std::mt19937_64 random(1);
  Bytes8 bytes(30'000);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  const std::span<const std::uint8_t> all = bytes;
  for (const std::size_t cut : {0U, 1U, 13U, 24'600U, 30'000U}) {
    EXPECT_EQ(crc32c(all.subspan(cut), crc32c(all.first(cut))), crc32c(all));
    EXPECT_EQ(crc32c_by_table(all.subspan(cut), crc32c_by_table(all.first(cut))), crc32c(all));
  }
}

TEST(Crc32c, IsMaskedAsTensorFlowMasksIt) {
  // The header of a record of no bytes, as TensorFlow writes it.
  EXPECT_EQ(masked_crc32c(Bytes8(8, 0)), 0x07980329U);
  EXPECT_EQ(masked_crc32c({}), 0xa282ead8U);
}

}  // namespace
}  // namespace sterna::input
