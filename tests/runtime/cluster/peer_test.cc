#include "runtime/cluster/peer.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/runtime/actor/counter_actor.h"
#include "tests/runtime/sim/sim_fixture.h"

namespace sterna::test {
namespace {

using namespace std::chrono_literals;

class AskingActor final : public Actor<Interface<>> {
 public:
  AskingActor(Finder finder, std::vector<Result<Total>>& heard)
      : finder_(std::move(finder)), heard_(heard) {}

  void ask(std::int64_t amount) { run(asking(amount)); }
  void ask_slowly() { run(asking_slowly()); }

 private:
  void started() override { peer_.emplace(*this, "counter", 1s, finder_); }
  Task<void> asking(std::int64_t amount) {
    Task<Result<Total>> answer = peer_->ask(Add{amount}, 1s);
    heard_.push_back(co_await answer);
  }
  Task<void> asking_slowly() {
    Task<Result<Total>> answer = peer_->ask(Slow{5s}, 10s);
    heard_.push_back(co_await answer);
  }

  Finder finder_;
  std::vector<Result<Total>>& heard_;
  std::optional<sterna::Peer<Counter>> peer_;
};

class PeerTest : public SimFixture {
 protected:
  PeerTest() {
    const Finder finder = [this](Process&, std::string name, Duration) -> Task<Result<AnyRef>> {
      ++searches;
      if (!names.contains(name)) co_return Error{Errc::not_found, "nobody of this name"};
      co_return names[name];
    };
    actor = process.spawn<AskingActor>(finder, heard).id.local;
    pass(1ms);
  }
  AskingActor& asking() { return *static_cast<AskingActor*>(process.find(actor)); }
  ActorRef<Counter> spawn(const std::string& host) {
    const auto counter = start(host).process->spawn<CounterActor>();
    names["counter"] = counter;
    return counter;
  }

  Process& process = *start("asker").process;
  std::map<std::string, AnyRef> names;
  int searches = 0;
  std::vector<Result<Total>> heard;
  LocalId actor;
};

TEST_F(PeerTest, IsFoundOnceByItsName) {
  spawn("b");
  asking().ask(2);
  asking().ask(3);
  pass(1s);
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(heard[1]->value, 5);
  EXPECT_EQ(searches, 1);
}

TEST_F(PeerTest, IsFoundAgainAfterItsLinkWasLostWhichEndsWhatWasAsked) {
  const auto first = spawn("b");
  asking().ask(2);
  asking().ask_slowly();
  pass(1s);
  processes[1]->process->kill(first.id.local, "killed by the test");
  pass(1s);
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(heard[1].error().code, Errc::actor_down);
  spawn("c");
  asking().ask(7);
  pass(1s);
  ASSERT_EQ(heard.size(), 3U);
  ASSERT_TRUE(heard[2].ok()) << heard[2].error().message;
  EXPECT_EQ(heard[2]->value, 7);
  EXPECT_EQ(searches, 2);
}

/// It says itself what it is about: however often it is heard, the answer is the same.
struct Double {
  using Wire = wire::Add;
  using Reply = Total;
  static constexpr bool kAskedAgain = true;
  std::int64_t amount = 0;
  STERNA_INLINE_MESSAGE(Double, FIELD(amount, Amount))
};
struct Doubling : Interface<Double> {};

class DoublingActor final : public Actor<Doubling> {
 public:
  explicit DoublingActor(Duration takes) : takes_(takes) {}
  Task<Total> on(Double question) {
    co_await sleep(takes_);
    co_return Total{2 * question.amount};
  }

 private:
  Duration takes_;
};

/// Doubles nothing, as somebody else is dead.
class BereftActor final : public Actor<Doubling> {
 public:
  explicit BereftActor(int& asked) : asked_(asked) {}
  Task<Result<Total>> on(Double) {
    ++asked_;
    co_return Error{Errc::actor_down, "the abacus is down"};
  }

 private:
  int& asked_;
};

class PatientActor final : public Actor<Interface<>> {
 public:
  PatientActor(Finder finder, std::vector<Result<Total>>& heard)
      : finder_(std::move(finder)), heard_(heard) {}
  void ask(std::int64_t amount) { run(asking(amount)); }

 private:
  void started() override { peer_.emplace(*this, "doubler", 2s, finder_); }
  Task<void> asking(std::int64_t amount) {
    Task<Result<Total>> answer = peer_->ask(Double{amount}, 10s);
    heard_.push_back(co_await answer);
  }
  Finder finder_;
  std::vector<Result<Total>>& heard_;
  std::optional<sterna::Peer<Doubling>> peer_;
};

class PeerAgainTest : public SimFixture {
 protected:
  PeerAgainTest() {
    const Finder finder = [this](Process&, std::string, Duration) -> Task<Result<AnyRef>> {
      ++searches;
      co_return found;
    };
    actor = process.spawn<PatientActor>(finder, heard).id.local;
    pass(1ms);
  }
  void ask(std::int64_t amount) { static_cast<PatientActor*>(process.find(actor))->ask(amount); }
  SimProcess& spawn(std::uint64_t incarnation) {
    SimProcess& host = start("doubler", incarnation);
    found = AnyRef(host.process->spawn<DoublingActor>(1s));
    return host;
  }

  Process& process = *start("asker").process;
  Result<AnyRef> found = Error{Errc::not_found, "nobody"};
  int searches = 0;
  std::vector<Result<Total>> heard;
  LocalId actor;
};

TEST_F(PeerAgainTest, WhatMayBeAskedTwiceIsAskedAgainOfTheNextIncarnation) {
  SimProcess& first = spawn(1);
  ask(2);
  ask(3);
  pass(500ms);
  kill(first);
  pass(500ms);
  EXPECT_TRUE(heard.empty());
  spawn(2);
  pass(1500ms);
  ASSERT_EQ(heard.size(), 2U);
  for (const Result<Total>& one : heard) ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_EQ(heard[0]->value + heard[1]->value, 10);
}

TEST_F(PeerAgainTest, ItIsLookedForWhileItsNextIncarnationTakesLong) {
  SimProcess& first = spawn(1);
  ask(2);
  pass(500ms);
  kill(first);
  found = Error{Errc::deadline, "it is being started again"};
  pass(20s);
  EXPECT_TRUE(heard.empty());
  spawn(2);
  pass(1500ms);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_TRUE(heard[0].ok());
}

TEST_F(PeerAgainTest, WhoAnswersThatAnotherIsDownIsNotAskedAgain) {
  int asked = 0;
  found = AnyRef(start("doubler").process->spawn<BereftActor>(asked));
  ask(2);
  pass(1s);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].error().code, Errc::remote);
  EXPECT_EQ(heard[0].error().message, "the abacus is down");
  EXPECT_EQ(asked, 1);
}

TEST_F(PeerAgainTest, WhoDoesNotComeAgainIsDownForWhoHasAsked) {
  SimProcess& first = spawn(1);
  ask(2);
  pass(500ms);
  kill(first);
  found = Error{Errc::actor_down, "doubler is dead: killed"};
  pass(1s);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].error().code, Errc::actor_down);
}

TEST_F(PeerAgainTest, AnIncarnationThatIsGoneAndStillFoundIsGivenUpInTime) {
  SimProcess& first = spawn(1);
  ask(2);
  pass(500ms);
  kill(first);
  pass(10s);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].error().code, Errc::actor_down);
  EXPECT_LT(searches, 200);
}

TEST_F(PeerTest, IsNamedWhereItIsNotFoundOrOfAnotherKind) {
  asking().ask(1);
  names["counter"] = AnyRef({process.id(), actor}, 1);
  asking().ask(1);
  pass(1s);
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(heard[0].error().message, "looking for counter: nobody of this name");
  EXPECT_EQ(heard[1].error().message,
            "looking for counter: counter: the actor has another interface");
}

}  // namespace
}  // namespace sterna::test
