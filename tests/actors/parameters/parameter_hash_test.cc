#include "actors/parameters/parameter_hash.h"

#include <gtest/gtest.h>

namespace sterna::actors {
namespace {

std::string hex(const Hash& hash) {
  std::string text;
  for (const std::byte byte : hash) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

TEST(ParameterHash, IsBlake2bOf16Bytes) {
  // Python: hashlib.blake2b(b"sterna", digest_size=16).hexdigest()
  EXPECT_EQ(hex(hash_of(copy_bytes("sterna").view())), "c948546c7e2fba084df6c7a4fa3725cc");
}

TEST(ParameterHash, IsKeptAndTheParametersAreNot) {
  Bytes parameters = copy_bytes("parameters");
  const std::weak_ptr<const void> memory = parameters.owner();
  const Hash expected = hash_of(parameters.view());
  HashedOnce hashed(std::move(parameters));
  EXPECT_EQ(hashed.get(), expected);
  EXPECT_TRUE(memory.expired());
  EXPECT_EQ(hashed.get(), expected);
}

}  // namespace
}  // namespace sterna::actors
