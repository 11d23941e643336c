#include "launcher/job/end_orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "tests/launcher/test_clock.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using namespace std::chrono_literals;

class EndOrdersTest : public testing::Test {
 protected:
  /// Until that has been heard, or five seconds.
  bool hears(const std::function<bool()>& heard) {
    return loop_.run_until(heard, loop_.now() + 5s);
  }

  UvLoop loop_;
  int interruptions_ = 0;
  bool ends_by_itself_ = true;
  std::vector<std::string> said_;
  TestClock clock_;
  EndOrders orders_{loop_,
                    clock_,
                    {.interrupted = [this] { ++interruptions_; },
                     .ends_by_itself = [this] { return ends_by_itself_; },
                     .say = [this](std::string_view line) { said_.emplace_back(line); }}};
};

TEST_F(EndOrdersTest, CtrlCEndsItAndTheSecondWithoutGrace) {
  EXPECT_FALSE(orders_.any());
  ::raise(SIGINT);
  EXPECT_TRUE(hears([&] { return interruptions_ == 1; }));
  EXPECT_TRUE(orders_.interrupted());
  EXPECT_FALSE(orders_.without_grace());
  ::raise(SIGINT);
  EXPECT_TRUE(hears([&] { return interruptions_ == 2; }));
  EXPECT_TRUE(orders_.without_grace());
  EXPECT_FALSE(orders_.told_to_end());
}

TEST_F(EndOrdersTest, AJobThatEndsByItselfIsLeftToAtSigterm) {
  ::raise(SIGTERM);
  EXPECT_TRUE(hears([&] { return orders_.told_to_end(); }));
  EXPECT_EQ(interruptions_, 0);
  orders_.tell_to_end();
  EXPECT_EQ(interruptions_, 0) << "within a second it is the same order";
  EXPECT_TRUE(orders_.any());
  EXPECT_FALSE(orders_.interrupted());
  clock_.time = clock_.time + 1s;
  orders_.tell_to_end();
  EXPECT_EQ(interruptions_, 1) << "who says it again means at once";
}

TEST_F(EndOrdersTest, AnyOtherIsInterruptedBySigterm) {
  ends_by_itself_ = false;
  ::raise(SIGTERM);
  EXPECT_TRUE(hears([&] { return interruptions_ == 1; }));
  EXPECT_TRUE(orders_.told_to_end());
  EXPECT_TRUE(orders_.interrupted());
}

TEST_F(EndOrdersTest, ASignalFromBeforeCountsOnce) {
  orders_.hear_earlier(0);
  EXPECT_FALSE(orders_.any());
  orders_.interrupt();
  orders_.hear_earlier(SIGINT);
  EXPECT_EQ(interruptions_, 1);
}

TEST_F(EndOrdersTest, ASignalThatNobodyHeardIsHeardLater) {
  ends_by_itself_ = false;
  orders_.hear_earlier(SIGTERM);
  EXPECT_TRUE(orders_.told_to_end());
  EXPECT_EQ(interruptions_, 1);
}

TEST_F(EndOrdersTest, CtrlZIsAnswered) {
  ::raise(SIGTSTP);
  EXPECT_TRUE(hears([&] { return !said_.empty(); }));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("Ctrl-Z")));
  EXPECT_FALSE(orders_.any());
}

}  // namespace
}  // namespace sterna::launcher
