#include "runtime/host/spawner.h"

#include <gtest/gtest.h>

#include <csignal>

namespace sterna {
namespace {

TEST(ProcessExit, SaysHowItWas) {
  EXPECT_EQ(ProcessExit{3}.text(), "exited with code 3");
  EXPECT_EQ((ProcessExit{-1, SIGSEGV}).text(), "killed by SIGSEGV");
  EXPECT_EQ((ProcessExit{-1, SIGKILL, true}).text(), "killed by SIGKILL (likely out of memory)");
  EXPECT_EQ((ProcessExit{-1, SIGRTMIN + 1}).text(),
            "killed by signal " + std::to_string(SIGRTMIN + 1));
}

TEST(ProcessExit, OfOneStartedFromAfarIsWhatItsStarterSays) {
  EXPECT_EQ((ProcessExit{255, 0, false, "b: ssh does not get there"}).text(),
            "b: ssh does not get there");
}

TEST(ProcessExit, IsCleanWithCodeZeroAndNoSignalOnly) {
  EXPECT_TRUE(ProcessExit{0}.clean());
  EXPECT_FALSE(ProcessExit{1}.clean());
  EXPECT_FALSE((ProcessExit{0, SIGTERM}).clean());
  EXPECT_FALSE(ProcessExit{}.clean());
}

}  // namespace
}  // namespace sterna
