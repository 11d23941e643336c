// A receiver that stops reading (SIGSTOP), over real ipc sockets: what its sender holds for it
// stays within the credit, and the asks end by their deadline.
#include <gtest/gtest.h>
#include <signal.h>

#include "runtime/host/real_machine.h"
#include "runtime/main.h"
#include "tests/end_to_end/hostile_actor.h"
#include "tests/sanitized.h"

namespace sterna::test {
namespace {

using std::chrono::seconds;

Registry test_registry() {
  Registry registry;
  registry.add<HostileActor, PeerArgs>("hostile");
  return registry;
}

TEST(StoppedReceiver, HoldsItsSendersBytesUnderTheCreditAndItsAsksToTheirDeadline) {
  const Registry registry = test_registry();
  RealMachine machine;
  ClusterOptions options;
  options.silence = seconds(60);  // it shall live through the test
  Cluster cluster(machine, registry, options);
  ASSERT_TRUE(cluster.start().ok());
  const auto started = cluster.start_actors(
      {{"reader", "hostile", pack(PeerArgs{})}, {"sender", "hostile", pack(PeerArgs{})}});
  ASSERT_TRUE(started.ok()) << started.error().message;
  const pid_t reader = static_cast<pid_t>((*started)[0].pid);
  const ActorRef<Hostile> sender = *(*started)[1].actor.as<Hostile>();

  constexpr std::uint64_t kMegabyte = 1 << 20;
  const std::uint64_t window = LinkOptions{}.window[static_cast<std::size_t>(Lane::data)];
  const auto messages = static_cast<std::uint32_t>(4 * window / kMegabyte);
  const Flood flood{"reader", messages, kMegabyte, seconds(2)};
  const Result<Flooded> warm =
      cluster.ask(sender, Flood{"reader", 8, kMegabyte, seconds(20)}, seconds(60));
  ASSERT_TRUE(warm.ok()) << warm.error().message;
  EXPECT_EQ(warm->answered, 8u);

  ASSERT_EQ(::kill(reader, SIGSTOP), 0);
  const Time begin = machine.loop().now();
  const Result<Flooded> stuck = cluster.ask(sender, flood, seconds(60));
  const Duration took = machine.loop().now() - begin;
  ::kill(reader, SIGCONT);
  ASSERT_TRUE(stuck.ok()) << stuck.error().message;
  EXPECT_EQ(stuck->late + stuck->refused, messages);
  EXPECT_GE(stuck->late, window / kMegabyte);
  EXPECT_GT(stuck->refused, 0u);
  EXPECT_LT(took, seconds(kSanitized ? 30 : 10));
  const std::uint64_t one = kMegabyte + 1024;
  EXPECT_GT(stuck->queued_bytes, window / 2);
  EXPECT_LE(stuck->queued_bytes, window + one);
  // The credit's worth is on its way (in libzmq and the kernel), as much waits for credit; half as
  // much again is the allocator's. What was asked is twice that.
  if (!kSanitized) {
    EXPECT_LT(stuck->resident_bytes, static_cast<std::int64_t>(3 * (window + one)));
  }

  // It wakes, and reads what was sent; once what waited for credit is gone too, it is asked again.
  const Flood again{"reader", 1, kMegabyte, seconds(20)};
  const Time patience = machine.loop().now() + seconds(30);
  Result<Flooded> awake = cluster.ask(sender, Flood(again), seconds(60));
  while (awake.ok() && awake->refused == 1 && machine.loop().now() < patience) {
    awake = cluster.ask(sender, Flood(again), seconds(60));
  }
  ASSERT_TRUE(awake.ok()) << awake.error().message;
  EXPECT_EQ(awake->answered, 1u);
  RecordProperty("queued_bytes", std::to_string(stuck->queued_bytes));
  RecordProperty("resident_bytes", std::to_string(stuck->resident_bytes));
  EXPECT_FALSE(cluster.failure().has_value());
}

}  // namespace
}  // namespace sterna::test

int main(int argc, char** argv) {
  const sterna::Registry registry = sterna::test::test_registry();
  if (const auto code = sterna::host_if_child(argc, argv, registry)) return *code;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
