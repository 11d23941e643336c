#include "runtime/loop/end_signals.h"

#include <gtest/gtest.h>

#include <csignal>

namespace sterna {
namespace {

class EndSignalsTest : public testing::Test {
 protected:
  UvLoop loop;
};

TEST_F(EndSignalsTest, AreHeardOnceAJobHasCeasedToHearThem) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EndSignals signals(loop);
    EXPECT_EQ(signals.first(), 0);
    {
      const SignalWatch job(loop, signal, [] {});
    }
    ::raise(signal);
    EXPECT_EQ(signals.first(), signal);
    ::raise(SIGTERM);
    EXPECT_EQ(signals.first(), signal) << "the first";
  }
}

TEST_F(EndSignalsTest, LeaveAHangUpAloneThatIsIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    EndSignals signals(loop);
    ::raise(SIGHUP);
    EXPECT_EQ(signals.first(), 0);
  }
  EXPECT_TRUE(is_ignored(SIGHUP));
  std::signal(SIGHUP, before);
}

}  // namespace
}  // namespace sterna
