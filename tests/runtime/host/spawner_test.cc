#include "runtime/host/spawner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
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

TEST(ReapKilled, WaitsForThoseWhoDieAndLeavesWhoDoesNot) {
  const auto child = [] {
    const pid_t pid = ::fork();
    if (pid == 0) {
      while (true) ::pause();
    }
    return pid;
  };
  const pid_t killed = child();
  const pid_t lives = child();
  ::kill(killed, SIGKILL);
  EXPECT_FALSE(reap_killed({killed, lives}, std::chrono::milliseconds(20)));
  EXPECT_EQ(::kill(killed, 0), -1);
  EXPECT_EQ(::kill(lives, 0), 0);
  ::kill(lives, SIGKILL);
  EXPECT_TRUE(reap_killed({killed, lives}));
  EXPECT_EQ(::kill(lives, 0), -1);
}

}  // namespace
}  // namespace sterna
