#include <malloc.h>

#include <gtest/gtest.h>

#include "tests/runtime/actor/counter_actor.h"
#include "tests/runtime/sim/sim_fixture.h"

namespace sterna::test {
namespace {

using namespace std::chrono_literals;

class ProcessTest : public SimFixture {};

TEST_F(ProcessTest, AnAskWithinAProcessIsAnswered) {
  Process& process = *start("a").process;
  const auto counter = process.spawn<CounterActor>();
  EXPECT_EQ(process.wait(process.ask(counter, Add{2}, 1s))->value, 2);
  EXPECT_EQ(process.wait(process.ask(counter, Add{3}, 1s))->value, 5);
}

TEST_F(ProcessTest, AnAskBetweenProcessesIsAnsweredInEitherDirection) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto at_a = a.spawn<CounterActor>();
  const auto at_b = b.spawn<CounterActor>();
  EXPECT_EQ(a.wait(a.ask(at_b, Add{2}, 1s))->value, 2);
  EXPECT_EQ(b.wait(b.ask(at_a, Add{7}, 1s))->value, 7);
  EXPECT_EQ(a.links()->open_links(), 1U);
}

TEST_F(ProcessTest, TheHigherNameMaySpeakFirst) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto at_a = a.spawn<CounterActor>();
  EXPECT_EQ(b.wait(b.ask(at_a, Add{7}, 1s))->value, 7);
}

TEST_F(ProcessTest, MessagesArriveInTheOrderTheyWereSent) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  std::vector<Future<Total>> futures;
  for (int i = 1; i <= 100; ++i) futures.push_back(a.ask(counter, Add{1}, 1s));
  for (int i = 1; i <= 100; ++i) {
    EXPECT_EQ(a.wait(std::move(futures[static_cast<std::size_t>(i - 1)]))->value, i);
  }
}

TEST_F(ProcessTest, HandlersInterleaveWhereTheyWait) {
  Process& process = *start("a").process;
  const auto counter = process.spawn<CounterActor>();
  auto slow = process.ask(counter, Slow{1s}, 5s);
  auto fast = process.ask(counter, Add{4}, 5s);
  EXPECT_EQ(process.wait(std::move(fast))->value, 4);
  EXPECT_FALSE(slow.ready());
  EXPECT_EQ(process.wait(std::move(slow))->value, 4);
}

TEST_F(ProcessTest, AnErrorReturnedByAHandlerReachesTheAsker) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const Result<void> answer = a.wait(a.ask(b.spawn<CounterActor>(), Boom{}, 1s));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message, "refused to boom");
}

TEST_F(ProcessTest, AHandlerThatThrowsEndsItsActorAndEverythingItWaitedIn) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  int alive = 0;
  const auto counter = b.spawn<CounterActor>(true, &alive);
  auto slow = a.ask(counter, Slow{10s}, 20s);
  const Result<void> boom = a.wait(a.ask(counter, Boom{}, 1s));
  EXPECT_EQ(boom.error().message, "its handler threw: boom");
  const Result<Total> died = a.wait(std::move(slow));
  EXPECT_EQ(died.error().code, Errc::actor_down);
  EXPECT_EQ(alive, 0);
  const Result<Total> later = a.wait(a.ask(counter, Add{1}, 1s));
  EXPECT_EQ(later.error().code, Errc::actor_down);
  EXPECT_NE(later.error().message.find("boom"), std::string::npos);
}

TEST_F(ProcessTest, BulkBytesArriveUnchanged) {
  Process& a = *start("a").process;
  Process& b = *start("b").process;
  const auto counter = b.spawn<CounterActor>();
  for (const std::size_t size : {0U, 1U, 100U, 4096U, 100003U}) {
    auto buffer = make_buffer(size);
    for (std::size_t i = 0; i < size; ++i) buffer->data()[i] = static_cast<std::byte>(i * 7);
    const Bytes sent = share(buffer);
    const Result<Blob> echo = a.wait(a.ask(counter, Blob{sent}, 1s));
    ASSERT_TRUE(echo.ok()) << echo.error().message;
    EXPECT_TRUE(std::equal(sent.view().begin(), sent.view().end(), echo->data.view().begin(),
                           echo->data.view().end()));
  }
}

TEST_F(ProcessTest, AnActorsDeathTakesItsChildrenAlong) {
  struct Parent : Interface<> {};
  class ParentActor final : public Actor<Parent> {
   public:
    explicit ParentActor(int& alive) : alive_(alive) {}
    void started() override {
      for (int i = 0; i < 3; ++i) spawn<CounterActor>(false, &alive_);
    }

   private:
    int& alive_;
  };
  Process& process = *start("a").process;
  int alive = 0;
  const auto parent = process.spawn<ParentActor>(alive);
  EXPECT_EQ(alive, 3);
  process.kill(parent.id.local, "test");
  pass(1ms);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(process.actors(), 0U);
}

TEST_F(ProcessTest, ChildrenThatAreDeadCostTheirOwnerNothing) {
  class NurseryActor final : public Actor<Interface<>> {
   public:
    void spawn_and_end(int children) {
      for (int i = 0; i < children; ++i) process().kill(spawn<CounterActor>().id.local, "");
    }
  };
  const auto allocated = [] {
    const auto now = ::mallinfo2();  // 0 where a sanitizer allocates
    return now.uordblks + now.hblkhd;
  };
  Process& process = *start("a").process;
  const auto id = process.spawn<NurseryActor>().id.local;
  auto& nursery = static_cast<NurseryActor&>(*process.find(id));
  const auto spawn_and_end = [&](int thousands) {
    for (int i = 0; i < thousands; ++i) {
      nursery.spawn_and_end(1000);
      pass(1ms);
    }
  };
  spawn_and_end(5);
  const std::size_t before = allocated();
  spawn_and_end(100);
  EXPECT_LT(allocated(), before + (100U << 10));  // 8 bytes for each would be 800,000
  EXPECT_EQ(process.actors(), 1U);
  process.kill(id, "");
  pass(1ms);
  EXPECT_EQ(process.actors(), 0U);
}

TEST_F(ProcessTest, AHundredThousandLightActorsAnswerAndGo) {
  Process& process = *start("a").process;
  std::vector<ActorRef<Counter>> actors;
  for (int i = 0; i < 100000; ++i) actors.push_back(process.spawn<CounterActor>());
  EXPECT_EQ(process.wait(process.ask(actors.back(), Add{5}, 1s))->value, 5);
  EXPECT_EQ(process.actors(), 100000U);
}

}  // namespace
}  // namespace sterna::test
