#include <gtest/gtest.h>

#include <cstring>

#include "runtime/base/bytes.h"
#include "runtime/base/hex.h"
#include "runtime/base/random.h"
#include "runtime/base/result.h"

namespace sterna {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{Errc::invalid_argument, "odd"};
  return n / 2;
}

Result<int> quarter(int n) {
  STERNA_ASSIGN(const int h, half(n));
  return half(h);
}

TEST(Result, PassesErrorsUp) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().in("six").message, "six: odd");
}

TEST(ToHex, WritesTwoLowerCaseDigitsAByte) {
  const std::string bytes("\x00\x7f\xe4", 3);
  EXPECT_EQ(to_hex(std::as_bytes(std::span(bytes))), "007fe4");
}

TEST(Buffer, IsAlignedZeroedAndShared) {
  auto buffer = make_buffer(13);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 64, 0U);
  buffer->data()[12] = std::byte{7};
  const Bytes view = share(buffer, 13);
  buffer.reset();
  EXPECT_EQ(view.data()[12], std::byte{7});
  EXPECT_EQ(copy_bytes(view.view()).data()[12], std::byte{7});
}

TEST(SeededRandom, RepeatsFromItsSeed) {
  SeededRandom a(3);
  SeededRandom b(3);
  EXPECT_EQ(a.next(), b.next());
  EXPECT_LT(a.below(10), 10U);
}

}  // namespace
}  // namespace sterna
