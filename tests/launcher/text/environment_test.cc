#include "launcher/text/environment.h"

#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

TEST(Environment, TellsWhatIsEmptyFromWhatIsNotSet) {
  constexpr const char* kName = "STERNA_ENVIRONMENT_TEST";
  EXPECT_EQ(environment(kName), std::nullopt);
  ::setenv(kName, "", 1);
  EXPECT_EQ(environment(kName), "");
  ::setenv(kName, "a b", 1);
  EXPECT_EQ(environment(kName), "a b");
  ::unsetenv(kName);
}

}  // namespace
}  // namespace sterna::launcher
