// The agent of a process that starts no others, and what it says at its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/cluster/process_control.h"
#include "tests/runtime/cluster/cluster_sim.h"

namespace sterna::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

using ProcessControl = ClusterSim;

TEST(Loss, IsWhatIsNoDoingOfWhoEnded) {
  ProcessDown down;
  down.identity = {"node-a", 1};
  down.exit_code = 1;
  EXPECT_FALSE(is_loss(down));
  EXPECT_FALSE(is_lost_with_ssh(down));
  down.exit_code = 255;  // of ssh
  EXPECT_TRUE(is_lost_with_ssh(down));
  down.identity = {"worker0", 1};
  EXPECT_FALSE(is_lost_with_ssh(down));
  down.exit_code = kExitLostLease;
  EXPECT_TRUE(is_loss(down));
  down.exit_code = 0;
  down.signal = 9;
  EXPECT_TRUE(is_loss(down));
}

TEST_F(ProcessControl, AFailedActorsCauseReachesThoseWhoWatch) {
  const ActorRef<Peer> a = spawn("a");
  const ActorRef<Peer> b = spawn("b");
  Future<Obituary> obituary = cluster.process().ask(a, Mourn{"b"}, seconds(60));
  EXPECT_FALSE(wait([&] { return obituary.ready(); }, milliseconds(100)));
  cluster.process().tell(b, Fail{"the loss is not finite"});
  ASSERT_TRUE(wait([&] { return obituary.ready(); }, seconds(1)));
  EXPECT_THAT(obituary.take()->cause, HasSubstr("the loss is not finite"));
}

TEST_F(ProcessControl, AStoppedActorIsNoFailure) {
  const ActorRef<Peer> a = spawn("a");
  cluster.process().tell(a, Fail{""});
  ASSERT_TRUE(wait([&] { return !downs.empty(); }, seconds(2)));
  EXPECT_TRUE(downs.front().wanted);
  EXPECT_FALSE(cluster.failure().has_value());
  const ActorRef<Peer> again = spawn("a", 9);
  EXPECT_EQ(ask(again, 0), 9);  // under its second incarnation
}

TEST_F(ProcessControl, OnlyTheNodeGivesItOrders) {
  const ActorRef<Peer> a = spawn("a");
  Admit order;
  order.contact.identity = {"intruder", 1};
  EXPECT_EQ(ask_agent<Control>(a.id.process, order).error().code, Errc::actor_down);
  EXPECT_TRUE(reported("a: launcher#1 is muted: only the process above gives orders"));
}

TEST(SilenceText, SaysHowLong) {
  EXPECT_EQ(silence_text(milliseconds(2500)), "silence: nothing was heard from it for 2500 ms");
  EXPECT_THAT(silence_text(milliseconds(1)), StartsWith(kSilence));
}

TEST(NoticeOf, ADeathIsOfTheWholeProcessAndQuotesItsLog) {
  ProcessDown down;
  down.process = {7};
  down.identity = {"worker-0", 2};
  down.cause = "exited with code 1";
  down.last_lines = {"no such file"};
  const DownNotice notice = notice_of(down);
  EXPECT_EQ(notice.actor, (ActorId{{7}, {}}));
  EXPECT_EQ(notice.name, "worker-0");
  EXPECT_EQ(notice.incarnation, 2U);
  EXPECT_EQ(notice.cause, "exited with code 1; it logged last: no such file");
}

}  // namespace
}  // namespace sterna::test
