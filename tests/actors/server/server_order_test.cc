// Pushes that have an order: what who follows and who leads answer, and when.
#include <gtest/gtest.h>

#include <optional>

#include "tests/actors/server/server_pair.h"

namespace sterna::actors {
namespace {

using namespace std::chrono_literals;

class ServerOrderTest : public ServerPair {
 protected:
  ServerOrderTest() { job.scheme.name = "async"; }

  Result<PushReply> forward(std::uint64_t order, Push push) {
    return leader.process->wait(
        leader.process->ask(follower, Forward{order, std::move(push)}, kPatience));
  }
  Result<PushReply> push_to(const ActorRef<ParameterServerInterface>& server, Push push) {
    Process& worker = push.rank == 0 ? *worker0.process : *worker1.process;
    return worker.wait(worker.ask(server, std::move(push), kPatience));
  }
  /// How many versions old its packets were: of two pushes from one version the later says 1.
  static std::uint32_t staleness(const Result<PushReply>& reply) {
    return reply && !reply->staleness.empty() ? reply->staleness.front() : 99;
  }

  test::SimProcess& leader = start("server0");  // the test is
  test::SimProcess& replica = start("server0-replica");
  test::SimProcess& worker0 = start("worker0");
  test::SimProcess& worker1 = start("worker1");
  ActorRef<ParameterServerInterface> follower;
};

TEST_F(ServerOrderTest, WhoFollowsTakesPushesInTheOrderOfTheirNumbersHoweverTheyCome) {
  follower = spawn(replica);
  Future<PushReply> second = leader.process->ask(follower, Forward{1, push(1, 0)}, kPatience);
  pass(1s);
  EXPECT_FALSE(second.ready()) << "it lacks the one before";
  const Result<PushReply> first = forward(0, push(0, 0));
  const Result<PushReply> then = leader.process->wait(std::move(second));
  ASSERT_TRUE(first.ok() && then.ok());
  EXPECT_EQ(first->verdicts, all(Verdict::ACCEPTED));
  EXPECT_EQ(then->verdicts, all(Verdict::ACCEPTED));
  EXPECT_EQ(staleness(first), 0U);
  EXPECT_EQ(staleness(then), 1U);
}

TEST_F(ServerOrderTest, APushThatWhoFollowsHasTakenIsKnownThereAndNotTakenAgain) {
  follower = spawn(replica);
  EXPECT_EQ(verdicts(forward(0, push(0, 0))), all(Verdict::ACCEPTED));
  EXPECT_TRUE(verdicts(forward(0, push(0, 0))).empty());
  EXPECT_EQ(staleness(forward(1, push(1, 0))), 1U);
}

TEST_F(ServerOrderTest, APushThatComesTwiceBeforeItsTurnIsAnsweredTwiceAndTakenOnce) {
  follower = spawn(replica);
  std::vector<Future<PushReply>> twice;
  twice.reserve(2);
  for (int i = 0; i < 2; ++i) {
    twice.push_back(leader.process->ask(follower, Forward{1, push(1, 0)}, kPatience));
  }
  pass(1s);
  EXPECT_TRUE(forward(0, push(0, 0)).ok());
  for (Future<PushReply>& one : twice) {
    EXPECT_EQ(verdicts(leader.process->wait(std::move(one))), all(Verdict::ACCEPTED));
  }
  EXPECT_EQ(staleness(forward(2, push(0, 1, 1))), 1U);
}

TEST_F(ServerOrderTest, OnlyThePartnerSaysWhatIsNextAndItIsNeverFarAhead) {
  follower = spawn(replica);
  const auto faults = [&] { return replica.process->links()->counters().faults; };
  EXPECT_FALSE(
      worker0.process->wait(worker0.process->ask(follower, Forward{0, push(0, 0)}, kPatience)));
  EXPECT_EQ(faults(), 1U);
  EXPECT_FALSE(forward(1U << 30U, push(0, 0)));
  EXPECT_EQ(faults(), 2U);
  EXPECT_EQ(verdicts(forward(0, push(0, 0))), all(Verdict::ACCEPTED)) << "over another link";
}

TEST_F(ServerOrderTest, WhoFollowsTakesNoPushOfAWorkerUntilWhoLedIsDead) {
  spawn(leader);  // which the test speaks for
  follower = spawn(replica);
  pass(1s);
  EXPECT_TRUE(forward(0, push(0, 0)).ok());
  const Result<PushReply> refused = push_to(follower, push(1, 0));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::not_found);
  // Of this one its worker knows nothing, and it pushes it again.
  std::optional ahead = leader.process->ask(follower, Forward{2, push(1, 0)}, kPatience);
  pass(1s);
  ahead.reset();
  kill_for_good(leader);
  EXPECT_EQ(verdicts(push_to(follower, push(0, 0))), all(Verdict::DUPLICATE)) << "it has that";
  EXPECT_EQ(verdicts(push_to(follower, push(1, 0))), all(Verdict::ACCEPTED));
}

TEST_F(ServerOrderTest, WhoLeadsAnswersOnceWhoFollowsHasThePushToo) {
  const auto leads = spawn(leader);
  follower = spawn(replica);
  pass(1s);
  network.set_delay([](const std::string&, const std::string& to) {
    return to == "server0-replica" ? Duration(500ms) : Duration(1ms);
  });
  const Time began = loop.now();
  EXPECT_EQ(verdicts(push_to(leads, push(0, 0))), all(Verdict::ACCEPTED));
  EXPECT_GE(loop.now() - began, 500ms);
  network.set_delay(nullptr);
}

TEST_F(ServerOrderTest, WhoLeadsGoesOnAloneOnceWhoFollowedIsDead) {
  const auto leads = spawn(leader);
  follower = spawn(replica);
  EXPECT_TRUE(push_to(leads, push(0, 0)).ok());
  const ProcessId lost = replica.process->id();
  kill(replica);
  Future<PushReply> waits = worker1.process->ask(leads, push(1, 0), kPatience);
  pass(1s);
  EXPECT_FALSE(waits.ready()) << "nobody has said yet that it is dead";
  leader.process->process_down({{lost, {}}, "server0-replica", 1, "killed"});
  EXPECT_EQ(verdicts(worker1.process->wait(std::move(waits))), all(Verdict::ACCEPTED));
}

}  // namespace
}  // namespace sterna::actors
