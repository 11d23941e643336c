#include "runtime/transport/numeric_address.h"

#include <gtest/gtest.h>

namespace sterna {
namespace {

TEST(NumericAddress, AnAddressStaysWhatItIs) {
  EXPECT_EQ(*numeric_address("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(*numeric_address("::1"), "::1");
}

TEST(NumericAddress, LosesItsBrackets) { EXPECT_EQ(*numeric_address("[fe80::1]"), "fe80::1"); }

TEST(NumericAddress, ANameBecomesItsAddressOfVersion4) {
  EXPECT_EQ(*numeric_address("localhost"), "127.0.0.1");
}

TEST(NumericAddress, ANameThatNobodyKnowsIsAnErrorThatNamesIt) {
  const Result<std::string> none = numeric_address("nobody.invalid");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::not_found);
  EXPECT_NE(none.error().message.find("nobody.invalid"), std::string::npos);
}

}  // namespace
}  // namespace sterna
