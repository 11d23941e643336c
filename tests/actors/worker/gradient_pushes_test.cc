// What a worker's ranks tell the servers until all of it is answered, and what of it is told again.
#include "actors/worker/gradient_pushes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/worker/worker_parts.h"

namespace sterna::actors {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class GradientPushesTest : public WorkerParts {
 protected:
  GradientPushesTest() {
    job.steps = 20;
    job.ranks = 2;
    args.ranks = 2;
  }
  void begin_beside(std::uint32_t servers) {
    begin_with_servers(servers);
    make_pushes();
  }
  void begin_beside_pairs(std::uint32_t servers) {
    begin_with_pairs(servers);
    make_pushes();
  }
  void make_pushes() {
    pushes = &make<GradientPushes>(*context, worker->servers, [this] { ++answers; });
    for (const std::uint32_t rank : {0, 1}) pushes->begin(rank, 0);
  }
  /// Of a job whose servers have no partners and come again.
  void let_servers_come_again() {
    job.restarts_servers = true;
    job.gradient.down = Down::average;
    job.gradient.scaler = ScalerRule::shared;
    ASSERT_TRUE(job.servers_come_again());
  }
  static std::vector<Packet> packets(const std::vector<std::uint32_t>& chunks) {
    std::vector<Packet> all;
    all.reserve(chunks.size());
    for (const std::uint32_t chunk : chunks) {
      all.push_back({.chunk = chunk, .count = 2, .payload = share(make_buffer(2 * sizeof(float)))});
    }
    return all;
  }
  void push(std::uint32_t rank, std::uint64_t step, std::uint32_t shard = 0,
            const std::vector<std::uint32_t>& chunks = {0}) {
    pushes->push(rank, step, shard, packets(chunks));
    settle();
  }
  /// Whatever comes of the answer.
  void answer(const std::string& server, std::size_t i, Result<PushReply> reply = PushReply{}) {
    asked[server].pushes.answer(i, std::move(reply));
    settle();
  }
  void offer(std::uint64_t step, std::uint32_t shard = 0) {
    const Offer made{.rank = 0, .step = step, .scalers = {{0, 0.5F}, {1, 0.25F}}};
    worker->run(pushes->agree(step, shard, made,
                              [this](const Agreed& told) { agreed.push_back(told.values); }));
    settle();
  }
  template <class M>
  static std::vector<std::uint64_t> steps_of(const Questions<M>& questions) {
    std::vector<std::uint64_t> steps;
    for (std::size_t i = 0; i < questions.size(); ++i) steps.push_back(questions[i].step);
    return steps;
  }
  /// Another server in the place of that one.
  ProcessId come_again(const std::string& name) {
    lose(name);
    asked.erase(name);
    spawn_server(name, 2);
    worker->servers.front().members().front().peer.is_at(
        names[name].as<ParameterServerInterface>().value());
    return homes[name]->process->id();
  }

  GradientPushes* pushes = nullptr;
  int answers = 0;
  std::vector<std::vector<float>> agreed;
};

TEST_F(GradientPushesTest, ArriveAtTheServerOfTheirShardInTheirOrder) {
  begin_beside(2);
  push(0, 0, 1);
  push(1, 0, 1);
  push(0, 1, 1);
  EXPECT_EQ(asked["server0"].pushes.size(), 0U);
  ASSERT_THAT(steps_of(asked["server1"].pushes), ElementsAre(0, 0, 1));
  EXPECT_EQ(asked["server1"].pushes[1].rank, 1U);
}

TEST_F(GradientPushesTest, AreUnansweredUntilBothServersOfTheShardHaveAnswered) {
  begin_beside_pairs(1);
  push(0, 0);
  EXPECT_EQ(pushes->unanswered(), 2U);
  answer("server0-replica", 0);
  EXPECT_EQ(pushes->unanswered(), 1U);
  EXPECT_EQ(pushes->of(0).unanswered, 1U);
  answer("server0", 0);
  EXPECT_EQ(pushes->unanswered(), 0U);
  EXPECT_EQ(pushes->of(0).unanswered, 0U);
  EXPECT_EQ(answers, 2);
}

TEST_F(GradientPushesTest, OfTwoServersOneThatIsLostOwesNoAnswer) {
  begin_beside_pairs(1);
  push(0, 0);
  answer("server0", 0);
  lose("server0-replica");
  pass(100ms);
  EXPECT_EQ(pushes->unanswered(), 0U);
  EXPECT_THAT(deaths, IsEmpty());
  push(0, 1);
  EXPECT_EQ(pushes->unanswered(), 1U) << "who is gone hears no more";
}

TEST_F(GradientPushesTest, OneThatIsAnsweredTooLateEndsTheWorkerWithStepAndServer) {
  begin_beside(1);
  push(0, 3);
  pass(job.deadlines.step - 10ms);
  EXPECT_THAT(deaths, IsEmpty());
  pass(20ms);
  EXPECT_THAT(deaths, ElementsAre(StartsWith("step 3, gradient to server0: ")));
}

TEST_F(GradientPushesTest, WhereAServerMayHaveToGetItsStateFirstNoAnswerIsTooLate) {
  begin_beside_pairs(1);
  push(0, 0);
  pass(10 * job.deadlines.step);
  EXPECT_THAT(deaths, IsEmpty());
  answer("server0", 0);
  answer("server0-replica", 0);
  EXPECT_EQ(pushes->unanswered(), 0U);
}

// ---- when the next step's may begin ----

TEST_F(GradientPushesTest, OfAStepNothingBeginsBeforeBothServersHaveAllOfTheStepBefore) {
  begin_beside_pairs(1);
  for (const std::uint32_t rank : {0, 1}) {
    push(rank, 0);
    pushes->made(rank, 0);
  }
  const auto next = end_of(pushes->all_pushed(1));
  for (const std::size_t i : {0, 1}) answer("server0", i);
  answer("server0-replica", 0);
  EXPECT_FALSE(*next) << "the other has one that is not answered";
  answer("server0-replica", 1);
  EXPECT_TRUE(*next);
}

TEST_F(GradientPushesTest, NorBeforeAllRanksHaveMadeAllOfIt) {
  begin_beside_pairs(1);
  pushes->made(0, 0);
  const auto next = end_of(pushes->all_pushed(1));
  EXPECT_FALSE(*next) << "a rank is still to push";
  pushes->made(1, 0);
  EXPECT_TRUE(*next);
}

TEST_F(GradientPushesTest, NorBeforeTheirScalersAreAgreedAtBoth) {
  begin_beside_pairs(1);
  for (const std::uint32_t rank : {0, 1}) pushes->made(rank, 0);
  offer(0);
  const auto next = end_of(pushes->all_pushed(1));
  asked["server0"].offers.answer(0, Agreed{{1, 2}});
  settle();
  EXPECT_FALSE(*next);
  asked["server0-replica"].offers.answer(0, Agreed{{1, 2}});
  settle();
  EXPECT_TRUE(*next);
}

TEST_F(GradientPushesTest, WhereNobodyGoesBackAStepMayBeginWhileTheOneBeforeIsUnanswered) {
  job.restarts_workers = false;
  begin_beside(1);
  push(0, 0);
  EXPECT_TRUE(*end_of(pushes->all_pushed(1)));
}

TEST_F(GradientPushesTest, WhoWaitsForARanksStepGoesOnOnceAllOfItIsMade) {
  begin_beside(1);
  const auto made = end_of(pushes->until_made(1, 0));
  pushes->made(0, 0);
  EXPECT_FALSE(*made);
  pushes->made(1, 0);
  EXPECT_TRUE(*made);
}

// ---- scalers ----

TEST_F(GradientPushesTest, OfTwoServersTheFirstAnswerIsWhatIsAgreedAndALaterOneIsNot) {
  begin_beside_pairs(1);
  offer(0);
  asked["server0-replica"].offers.answer(0, Agreed{{1, 2}});
  settle();
  EXPECT_THAT(agreed, ElementsAre(ElementsAre(1, 2)));
  asked["server0"].offers.answer(0, Agreed{{1, 2}});
  settle();
  EXPECT_EQ(agreed.size(), 1U);
  EXPECT_THAT(deaths, IsEmpty());
}

TEST_F(GradientPushesTest, ScalersThatNeitherOfTwoServersHasEndTheWorker) {
  begin_beside_pairs(1);
  offer(2);
  asked["server0"].offers.answer(0, Error{Errc::not_found, "not here"});
  settle();
  EXPECT_THAT(deaths, IsEmpty());
  asked["server0-replica"].offers.answer(0, Error{Errc::not_found, "nor here"});
  settle();
  EXPECT_THAT(deaths, ElementsAre(StartsWith("step 2, scalers from server0-replica: ")));
}

TEST_F(GradientPushesTest, AnAnswerToAnotherOfferEndsTheWorkerWithStepAndServer) {
  begin_beside(1);
  offer(2);
  asked["server0"].offers.answer(0, Agreed{{1}});
  settle();
  EXPECT_THAT(agreed, IsEmpty());
  EXPECT_THAT(deaths, ElementsAre(testing::AllOf(StartsWith("step 2, scalers from server0: "),
                                                 HasSubstr("to another question"))));
}

// ---- to a server in the place of a lost one ----

TEST_F(GradientPushesTest, ToAServerInThePlaceOfALostOneAllOfItsShardIsToldAgainThatItMayLack) {
  let_servers_come_again();
  begin_beside(2);
  for (const std::uint64_t step : {0, 1, 2}) {
    offer(step);
    asked["server0"].offers.answer(step, Agreed{{1, 2}});
    push(0, step);
    answer("server0", step);
    push(0, step, 1);
    answer("server1", step);
  }
  pushes->forget_before(2);  // of offers those of step 1 stay: others may be a step behind
  pushes->tell_again(0, come_again("server0"));
  settle();
  EXPECT_THAT(steps_of(asked["server0"].offers), ElementsAre(1, 2));
  EXPECT_THAT(steps_of(asked["server0"].pushes), ElementsAre(2));
  EXPECT_EQ(asked["server1"].pushes.size(), 3U) << "that was not lost";
}

TEST_F(GradientPushesTest, WhatIsNotAnsweredIsAskedOfTheServerInThePlaceOfALostOne) {
  let_servers_come_again();
  begin_beside(1);
  push(0, 0);
  come_again("server0");
  pass(100ms);
  ASSERT_THAT(steps_of(asked["server0"].pushes), ElementsAre(0));
  answer("server0", 0);
  EXPECT_EQ(pushes->unanswered(), 0U);
}

TEST_F(GradientPushesTest, ItIsToldOnceAndTheNextInItsPlaceAnew) {
  let_servers_come_again();
  begin_beside(1);
  push(0, 0);
  answer("server0", 0);
  const ProcessId second = come_again("server0");
  for (int again = 0; again < 2; ++again) pushes->tell_again(0, second);
  settle();
  EXPECT_THAT(steps_of(asked["server0"].pushes), ElementsAre(0));
  const ProcessId third = come_again("server0");
  pushes->tell_again(0, third);
  settle();
  EXPECT_EQ(asked["server0"].pushes[0].step, 0U);
}

TEST_F(GradientPushesTest, ThatItKnowsThemIsNoErrorAndAnythingElseIs) {
  let_servers_come_again();
  begin_beside(1);
  push(0, 4);
  answer("server0", 0);
  pushes->tell_again(0, come_again("server0"));
  settle();
  answer("server0", 0, Error{Errc::not_found, "of a version that is made"});
  EXPECT_THAT(deaths, IsEmpty());
  pushes->tell_again(0, come_again("server0"));
  settle();
  answer("server0", 0, Error{Errc::invalid_argument, "no such chunk"});
  EXPECT_THAT(deaths, ElementsAre(StartsWith("step 4, telling server0 again: ")));
}

TEST_F(GradientPushesTest, WhereNoServerComesAgainNothingIsKeptForOne) {
  begin_beside(1);
  push(0, 0);
  const ProcessId home = homes["server0"]->process->id();
  pushes->tell_again(0, home);
  settle();
  EXPECT_EQ(asked["server0"].pushes.size(), 1U);
}

// ---- where ranks are not in step ----

class PushesApart : public GradientPushesTest {
 protected:
  PushesApart() {
    job.scheme.name = "async";
    job.gradient.error_feedback = true;
  }
};

TEST_F(PushesApart, EachPacketsVerdictSaysWhatBecomesOfIt) {
  begin_beside(1);
  push(1, 0, 0, {4, 5, 6});
  answer("server0", 0,
         PushReply{.verdicts = {Verdict::DROPPED, Verdict::DUPLICATE, Verdict::ACCEPTED},
                   .staleness = {0, 0, 3}});
  const RankPushes& its = pushes->of(1);
  ASSERT_EQ(its.dropped.size(), 1U) << "to be given back";
  EXPECT_EQ(its.dropped.front().chunk, 4U);
  EXPECT_THAT(its.repeated, ElementsAre(5));
  EXPECT_EQ(pushes->traffic().staleness, 3U);
  EXPECT_EQ(pushes->traffic().lone_packets, 1U);
  EXPECT_THAT(pushes->of(0).dropped, IsEmpty());
}

TEST_F(PushesApart, WhatIsDroppedIsNotKeptWhereNothingIsFedBack) {
  job.gradient.error_feedback = false;
  begin_beside(1);
  push(0, 0);
  answer("server0", 0, PushReply{.verdicts = {Verdict::DROPPED}});
  EXPECT_THAT(pushes->of(0).dropped, IsEmpty());
}

TEST_F(PushesApart, AnAnswerToAnotherPushEndsTheWorkerWithStepAndServer) {
  begin_beside(1);
  push(0, 7, 0, {4, 5});
  answer("server0", 0, PushReply{.verdicts = {Verdict::ACCEPTED}});
  EXPECT_THAT(deaths, ElementsAre(testing::AllOf(StartsWith("step 7, gradient to server0: "),
                                                 HasSubstr("to another question"))));
}

TEST_F(PushesApart, OfTwoServersTheOneThatLeadsHearsThemAndTheOtherOnceItIsLost) {
  begin_beside_pairs(1);
  push(0, 0);
  EXPECT_EQ(asked["server0"].pushes.size(), 1U);
  EXPECT_EQ(asked["server0-replica"].pushes.size(), 0U);
  EXPECT_EQ(pushes->unanswered(), 1U);
  lose("server0");
  pass(200ms);
  ASSERT_EQ(asked["server0-replica"].pushes.size(), 1U);
  answer("server0-replica", 0, PushReply{.verdicts = {Verdict::ACCEPTED}});
  EXPECT_EQ(pushes->unanswered(), 0U);
}

}  // namespace
}  // namespace sterna::actors
