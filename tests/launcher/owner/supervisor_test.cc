// Which ends of an owner are followed by another; the rest is tests/end_to_end/run_again_test.cc.
#include "launcher/owner/supervisor.h"

#include <gtest/gtest.h>

#include <csignal>

#include "launcher/text/console.h"

namespace sterna::launcher {
namespace {

TEST(Supervisor, StartsAgainWhatWasKilledOrMayGoOn) {
  EXPECT_TRUE(is_started_again(-1, SIGKILL));
  EXPECT_TRUE(is_started_again(-1, SIGSEGV));
  EXPECT_TRUE(is_started_again(kExitGoesOn, 0));
}

TEST(Supervisor, LetsBeWhatEndedByItself) {
  for (const int code : {kExitDone, kExitFailed, kExitBadInput, kExitInterrupted}) {
    EXPECT_FALSE(is_started_again(code, 0)) << code;
  }
}

}  // namespace
}  // namespace sterna::launcher
