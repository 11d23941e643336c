#include "runtime/cluster/cluster_messages.h"

#include <gtest/gtest.h>

#include "runtime/message/packed_message.h"

namespace sterna {
namespace {

template <Message M>
void expect_bounded(M message, Duration M::*wait) {
  const auto taken = [&](Duration value) {
    message.*wait = value;
    return unpack<M>(pack(message).view()).ok();
  };
  EXPECT_TRUE(taken(Duration(0)));
  EXPECT_TRUE(taken(std::chrono::hours(1)));
  EXPECT_FALSE(taken(Duration(-1)));
  EXPECT_FALSE(taken(std::chrono::hours(24 * 366)));
  EXPECT_FALSE(taken(Duration::max()));
}

TEST(ClusterMessages, AWaitBeyondReasonIsRefusedBecauseItIsAddedToAClock) {
  expect_bounded(Find{}, &Find::patience);
  expect_bounded(StartActor{}, &StartActor::patience);
  expect_bounded(Shutdown{}, &Shutdown::grace);
  expect_bounded(StopAll{}, &StopAll::grace);
}

TEST(ClusterMessages, ADeathArrivesWithAllThatIsKnownOfIt) {
  ProcessDown down;
  down.process = {7};
  down.identity = {"worker-0", 2};
  down.exit_code = 3;
  down.signal = 9;
  down.cause = "why";
  down.last_lines = {"one", "two"};
  down.consequence = down.wanted = true;
  const Result<ProcessDown> read = unpack<ProcessDown>(pack(down).view());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->process, down.process);
  EXPECT_EQ(read->identity, down.identity);
  EXPECT_EQ(read->exit_code, 3);
  EXPECT_EQ(read->signal, 9);
  EXPECT_EQ(read->full_cause(), "why; it logged last: one | two");
  EXPECT_TRUE(read->consequence && read->wanted);
}

TEST(ClusterMessages, ADeathWithoutALogIsItsCauseAlone) {
  ProcessDown down;
  down.cause = "why";
  EXPECT_EQ(down.full_cause(), "why");
}

TEST(ClusterMessages, AStatusArrivesWithAllItsFigures) {
  const Result<StatusReport> read = unpack<StatusReport>(
      pack(StatusReport{{{{7}, {"a", 2}, "host", 3, "running", 4, Duration(5), 6, 7, 8, 9}}})
          .view());
  ASSERT_TRUE(read.ok());
  const ProcessStatus& status = read->processes.at(0);
  EXPECT_EQ(status.identity.text(), "a#2");
  EXPECT_EQ(status.host, "host");
  EXPECT_EQ(status.pid, 3);
  EXPECT_EQ(status.state, "running");
  EXPECT_EQ(status.resident_bytes, 4U);
  EXPECT_EQ(status.loop_lag, Duration(5));
  EXPECT_EQ(status.queued_bytes, 6U);
  EXPECT_EQ(status.bytes_in, 7U);
  EXPECT_EQ(status.bytes_out, 8U);
  EXPECT_EQ(status.actors, 9U);
}

}  // namespace
}  // namespace sterna
