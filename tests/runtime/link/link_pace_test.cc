// Links that are slower than somebody wants to hear of, while there is something to send.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/runtime/link/linked.h"

namespace sterna::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Ge;
using testing::IsEmpty;
using testing::Le;
using testing::SizeIs;

constexpr double kMegabyte = 1e6;

/// What is large goes over the network as fast as `bytes_per_second`, one after the other.
class LinkPace : public LinkFixture {
 protected:
  LinkPace() {
    options.patience = 30s;
    options.slow_below = 10'000'000;
    network.set_on_message(
        [this](const std::string&, const std::string&, const std::vector<Bytes>& frames) {
          size = 0;
          for (const Bytes& frame : frames) size += frame.size();
        });
    network.set_delay([this](const std::string& from, const std::string& to) {
      if (size < 1000) return Duration(1000);
      Time& free = free_from[from + " " + to];
      free =
          std::max(free, loop.now()) +
          Duration(static_cast<std::int64_t>(1e9 * static_cast<double>(size) / bytes_per_second));
      return free - loop.now();
    });
    make_both();
  }
  void make_both() {
    a = make(1, "a");
    b = make(2, "b");
    link(*a, *b);
  }
  void send(std::size_t bytes, int times = 1) {
    for (int i = 0; i < times; ++i) ASSERT_TRUE(a->tell_bulk(kB, bytes).ok());
  }
  double bytes_per_second = kMegabyte;
  std::size_t size = 0;
  std::map<std::string, Time> free_from;
  std::unique_ptr<Linked> a;
  std::unique_ptr<Linked> b;
};

TEST_F(LinkPace, ASlowLinkIsNamedOnceByWhoSends) {
  send(100'000, 100);  // which takes 10 s
  pass(3s);
  ASSERT_THAT(a->paces, SizeIs(1));
  EXPECT_EQ(a->paces[0].peer, "b");
  EXPECT_FALSE(a->paces[0].over);
  EXPECT_THAT(a->paces[0].rate, AllOf(Ge(900'000U), Le(1'400'000U)));
  pass(7s);
  EXPECT_THAT(a->paces, SizeIs(1));
  EXPECT_THAT(b->paces, IsEmpty());
}

TEST_F(LinkPace, ItIsOverOnceItIsFast) {
  send(100'000, 50);
  pass(6s);
  bytes_per_second = 100 * kMegabyte;
  send(1'000'000, 20);
  pass(2s);
  ASSERT_THAT(a->paces, SizeIs(2));
  EXPECT_TRUE(a->paces[1].over);
  EXPECT_GE(a->paces[1].lasts, Duration(3s));
}

TEST_F(LinkPace, ItIsOverOnceThereIsNothingToSendForLong) {
  send(100'000, 50);
  pass(30s);
  EXPECT_THAT(a->paces, SizeIs(1)) << "it may go on";
  pass(10s);
  ASSERT_THAT(a->paces, SizeIs(2));
  EXPECT_TRUE(a->paces[1].over);
}

TEST_F(LinkPace, ItIsOverWithTheLink) {
  send(100'000, 100);
  pass(3s);
  a->links->drop(kB, "its node says so");
  ASSERT_THAT(a->paces, SizeIs(2));
  EXPECT_TRUE(a->paces[1].over);
}

TEST_F(LinkPace, WhatHasLittleToSendIsNotSlow) {
  for (int i = 0; i < 600; ++i) {
    ASSERT_TRUE(a->tell(kB, i).ok());
    if (i % 10 == 0) send(100'000);
    pass(100ms);
  }
  EXPECT_EQ(b->mails.size(), 660U);
  EXPECT_THAT(a->paces, IsEmpty());
}

TEST_F(LinkPace, NorIsAFastOneThatIsBusy) {
  bytes_per_second = 11 * kMegabyte;
  for (int i = 0; i < 100; ++i) {
    send(1'200'000);
    pass(100ms);
    for (const auto& mail : b->mails) b->links->consumed(kA, *mail);
    b->mails.clear();
  }
  EXPECT_THAT(a->paces, IsEmpty());
}

TEST_F(LinkPace, NorOneOfWhichALargeMessageTakesLong) {
  options.slow_below = 900'000;
  a.reset();
  b.reset();
  make_both();
  send(8'000'000, 3);
  pass(30s);
  EXPECT_EQ(b->mails.size(), 3U);
  EXPECT_THAT(a->paces, IsEmpty());
}

TEST_F(LinkPace, WhoDoesNotTakeWhatHasComeMakesNoSlowLink) {
  bytes_per_second = 100 * kMegabyte;
  options.window = {1U << 20, 1U << 20};
  a.reset();
  b.reset();
  make_both();
  send(200'000, 10);
  pass(20s);
  EXPECT_LT(b->mails.size(), 10U);
  EXPECT_THAT(a->paces, IsEmpty());
}

TEST_F(LinkPace, NorDoesWhoStandsStill) {
  bytes_per_second = 100 * kMegabyte;
  pass(1s);
  network.set_paused("b", true);
  b->asleep = true;
  send(200'000, 10);
  pass(options.silence / 2 - 1ms);
  network.set_paused("b", false);
  b->asleep = false;
  pass(10s);
  EXPECT_EQ(b->mails.size(), 10U);
  EXPECT_THAT(a->paces, IsEmpty());
}

TEST_F(LinkPace, NobodyIsNamedWhereNobodyAsked) {
  options.slow_below = 0;
  a.reset();
  b.reset();
  make_both();
  send(100'000, 100);
  pass(60s);
  EXPECT_THAT(a->paces, IsEmpty());
}

}  // namespace
}  // namespace sterna::test
