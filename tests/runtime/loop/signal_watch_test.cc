#include "runtime/loop/signal_watch.h"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>

namespace sterna {
namespace {

using namespace std::chrono_literals;

// SIGURG: what nobody watches is ignored by default.
TEST(SignalWatch, EveryArrivalIsAnEventOfTheLoop) {
  UvLoop loop;
  int arrivals = 0;
  const SignalWatch watch(loop, SIGURG, [&] { ++arrivals; });
  ::raise(SIGURG);
  EXPECT_EQ(arrivals, 0);  // not in the middle of what goes on
  EXPECT_TRUE(loop.run_until([&] { return arrivals == 1; }, loop.now() + 10s));
  ::raise(SIGURG);
  EXPECT_TRUE(loop.run_until([&] { return arrivals == 2; }, loop.now() + 10s));
}

TEST(SignalWatch, SeveralWatchOneSignalAndThoseWhoAreGoneHearNothing) {
  UvLoop loop;
  int gone = 0;
  int stays = 0;
  std::optional<SignalWatch> first(std::in_place, loop, SIGURG, [&] { ++gone; });
  const SignalWatch second(loop, SIGURG, [&] { ++stays; });
  ::raise(SIGURG);
  EXPECT_TRUE(loop.run_until([&] { return gone == 1 && stays == 1; }, loop.now() + 10s));
  first.reset();
  ::raise(SIGURG);
  EXPECT_TRUE(loop.run_until([&] { return stays == 2; }, loop.now() + 10s));
  EXPECT_EQ(gone, 1);
}

}  // namespace
}  // namespace sterna
