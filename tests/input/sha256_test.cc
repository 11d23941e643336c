#include "input/files/sha256.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace sterna::input {
namespace {

ByteView bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// FIPS 180-2, appendix B.1 and B.2.
TEST(Sha256, GivesTheStandardsSums) {
  Sha256 one;
  one.update(bytes("abc"));
  EXPECT_EQ(one.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 two;
  two.update(bytes("abcdbcdecdefdefgefghfghighijhijkijkljklm"));
  two.update(bytes("klmnlmnomnopnopq"));
  EXPECT_EQ(two.hex(), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

}  // namespace
}  // namespace sterna::input
