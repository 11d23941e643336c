// A shard on an actor's loop: when its updates are made, where, and who hears of them.
#include "actors/server/live_shard.h"

#include <gtest/gtest.h>

#include "tests/actors/server/server_pair.h"

namespace sterna::actors {
namespace {

class LiveShardTest : public ServerPair {
 protected:
  LiveShardTest() { job.scheme.name = "async"; }

  /// More than is computed on the loop.
  void large() { job.hidden = {50}; }
  void begin() {
    Result<Shard> made = Shard::make(job, table(), 0, false);
    ASSERT_TRUE(made.ok());
    made->start();
    shard.begin(std::move(*made));
  }
  void take(Push push) {
    const std::vector<std::uint32_t> chunks = shard.chunks_of(push);
    EXPECT_EQ(verdicts(shard.accept(std::move(push))), all(Verdict::ACCEPTED));
    shard.wake(chunks);
  }
  Task<void> compute(std::function<void()> work) {
    ++computing;
    co_await computed.wait();
    work();
    --computing;
  }
  Task<void> waits_for(std::uint32_t chunk) {
    co_await shard.changed(chunk).wait();
    ++woken;
  }

  /// Any: only its loop is used.
  ActorRef<ParameterServerInterface> owner = spawn(start("server0"));
  const Actor<ParameterServerInterface>& actor = static_cast<Actor<ParameterServerInterface>&>(
      *processes.front()->process->find(owner.id.local));
  ServerTrace trace;
  int computing = 0;
  Condition computed;
  int published = 0;
  int rested = 0;
  int woken = 0;
  LiveShard shard{actor,
                  job,
                  trace,
                  [this](std::function<void()> work) { return compute(std::move(work)); },
                  {.published = [this] { ++published; }, .rests = [this] { ++rested; }}};
};

TEST_F(LiveShardTest, ASmallUpdateIsMadeBeforeThePushIsAnswered) {
  begin();
  take(push(0, 0));
  EXPECT_EQ(shard->version(0), 1U);
  EXPECT_EQ(computing, 0);
  EXPECT_EQ(published, 1);
  EXPECT_EQ(rested, 1);
}

TEST_F(LiveShardTest, ALargeOneIsMadeOnAComputeThreadAndOneAfterTheOther) {
  large();
  begin();
  Task<void> waiter = waits_for(0);
  waiter.start();
  take(push(0, 0));
  EXPECT_EQ(computing, 1);
  EXPECT_EQ(woken, 1) << "whether he is less behind now is his to see";
  Task<void> other = waits_for(0);
  take(push(1, 0));
  other.start();
  EXPECT_EQ(computing, 1) << "one at a time";
  EXPECT_EQ(shard->version(0), 0U);
  computed.notify_all();
  EXPECT_EQ(shard->version(0), 1U);
  EXPECT_EQ(woken, 2);
  EXPECT_EQ(computing, 1) << "the next one";
  EXPECT_EQ(rested, 0);
  computed.notify_all();
  EXPECT_EQ(shard->version(0), 2U);
  EXPECT_EQ(rested, 1);
}

TEST_F(LiveShardTest, WhoPausesItWaitsForWhatIsUnderWayAndNoneBeginsUntilItGoesOn) {
  large();
  begin();
  take(push(0, 0));
  take(push(1, 0));
  bool paused = false;
  const auto pause = [&]() -> Task<void> {
    Task<void> pausing = shard.pause();
    co_await pausing;
    paused = true;
  };
  Task<void> pausing = pause();
  pausing.start();
  EXPECT_FALSE(paused);
  computed.notify_all();
  EXPECT_TRUE(paused);
  shard.update();
  EXPECT_EQ(computing, 0);
  EXPECT_EQ(shard->version(0), 1U);
  shard.resume();
  shard.update();
  EXPECT_EQ(computing, 1);
  computed.notify_all();
  EXPECT_EQ(shard->version(0), 2U);
}

}  // namespace
}  // namespace sterna::actors
