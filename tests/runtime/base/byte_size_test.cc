#include "runtime/base/byte_size.h"

#include <gtest/gtest.h>

namespace sterna {
namespace {

TEST(ByteSize, IsANumberAndAUnit) {
  EXPECT_EQ(parse_byte_size("7B"), 7U);
  EXPECT_EQ(parse_byte_size("64GB"), 64'000'000'000U);
  EXPECT_EQ(parse_byte_size("2KiB"), 2048U);
}

TEST(ByteSize, MayHaveAFractionAndABlank) {
  EXPECT_EQ(parse_byte_size("1.5 GiB"), 1536U << 20);
  EXPECT_EQ(parse_byte_size("0.5kB"), 500U);
}

TEST(ByteSize, HasBothSpellingsOfAThousandBytes) {
  EXPECT_EQ(parse_byte_size("3kB"), parse_byte_size("3KB"));
}

TEST(ByteSize, IsNoneWhereNumberOrUnitIsMissingOrAnother) {
  for (const char* bad :
       {"", "GB", "5", "-5GB", "+5GB", "1e3MB", "5 gb", "5  GB", "5GB ", "nanB"}) {
    EXPECT_FALSE(parse_byte_size(bad).has_value()) << bad;
  }
}

TEST(ByteSize, IsAtLeastAByteAndAtMostTwoToThe62) {
  EXPECT_EQ(parse_byte_size("4194304TiB"), 1ULL << 62);
  for (const char* bad : {"0GB", "0.4B", "4194305TiB", "99999999TB"}) {
    EXPECT_FALSE(parse_byte_size(bad).has_value()) << bad;
  }
}

TEST(ByteSize, IsWrittenInTheShortestUnitThatIsExact) {
  EXPECT_EQ(byte_size_text(64'000'000'000U), "64GB");
  EXPECT_EQ(byte_size_text(1536U << 20), "1536MiB");
  EXPECT_EQ(byte_size_text(123'456'789), "123456789B");
}

TEST(ByteSize, IsReadAsItWasWritten) {
  for (const std::uint64_t bytes :
       {1ULL, 1000ULL, 1024ULL, 1536ULL << 20, 123456789ULL, 1ULL << 62}) {
    EXPECT_EQ(parse_byte_size(byte_size_text(bytes)), bytes);
  }
}

}  // namespace
}  // namespace sterna
