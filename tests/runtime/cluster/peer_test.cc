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
    heard_.push_back(co_await std::move(answer));
  }
  Task<void> asking_slowly() {
    Task<Result<Total>> answer = peer_->ask(Slow{5s}, 10s);
    heard_.push_back(co_await std::move(answer));
  }

  Finder finder_;
  std::vector<Result<Total>>& heard_;
  std::optional<Peer<Counter>> peer_;
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
