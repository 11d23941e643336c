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

}  // namespace
}  // namespace sterna::test
