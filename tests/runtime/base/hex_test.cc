#include "runtime/base/hex.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace sterna::test {
namespace {

TEST(ToHex, WritesTwoLowerCaseDigitsAByte) {
  const std::string bytes("\x00\x7f\xe4", 3);
  EXPECT_EQ(to_hex(std::as_bytes(std::span(bytes))), "007fe4");
}

TEST(FromHex, ReadsThemAndNothingElse) {
  EXPECT_EQ(from_hex("007fe4"), (std::vector<std::uint8_t>{0, 0x7f, 0xe4}));
  for (const char* other : {"0", "0g", "G0", "0 ", "7F", "/0", ":0", "`0", "W0"}) {
    EXPECT_FALSE(from_hex(other)) << other;
  }
}

}  // namespace
}  // namespace sterna::test
