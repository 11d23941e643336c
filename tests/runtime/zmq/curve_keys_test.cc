#include "runtime/zmq/curve_keys.h"

#include <gtest/gtest.h>

namespace sterna {
namespace {

TEST(Keys, AreDifferentEachTimeAndOfTheRightSize) {
  const Credentials a = make_credentials();
  const Credentials b = make_credentials();
  EXPECT_EQ(a.public_key.size(), 40U);
  EXPECT_EQ(a.secret_key.size(), 40U);
  EXPECT_EQ(a.token.size(), 64U);
  EXPECT_NE(a.secret_key, b.secret_key);
  EXPECT_NE(a.token, b.token);
}

TEST(Keys, HashATokenToTheSameHexEachTime) {
  // BLAKE2b-256 of "abc".
  EXPECT_EQ(token_hash("abc"), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  EXPECT_NE(token_hash("abc"), token_hash("abd"));
}

TEST(Keys, CompareByContent) {
  EXPECT_TRUE(constant_time_equal("same", "same"));
  EXPECT_FALSE(constant_time_equal("same", "sane"));
  EXPECT_FALSE(constant_time_equal("same", "same but longer"));
}

}  // namespace
}  // namespace sterna
