#include "runtime/link/link_messages.h"

#include <gtest/gtest.h>

#include "runtime/message/packed_message.h"

namespace sterna::test {
namespace {

template <Message M>
M there(const M& message) {
  Result<M> read = unpack<M>(pack(message).view());
  EXPECT_TRUE(read.ok());
  return std::move(read).value();
}

TEST(LinkMessages, AHelloArrivesAsItWasSaid) {
  const Hello hello = there(Hello{1, 2, "build", "host", 3, 4, {5}, 6, 7, 8});
  EXPECT_EQ(hello.protocol, 1U);
  EXPECT_EQ(hello.schema_hash, 2U);
  EXPECT_EQ(hello.build_id, "build");
  EXPECT_EQ(hello.host, "host");
  EXPECT_EQ(hello.run, 3U);
  EXPECT_EQ(hello.session, 4U);
  EXPECT_EQ(hello.process, ProcessId{5});
  EXPECT_EQ(hello.incarnation, 6U);
  EXPECT_EQ(hello.codecs, 7U);
  EXPECT_EQ(hello.credit, 8U);
}

TEST(LinkMessages, AWelcomeArrivesAsItWasSaid) {
  const Welcome welcome = there(Welcome{true, "why", 1, 2, "build", "host", 3, {4}, 5, 6, 7});
  EXPECT_TRUE(welcome.accepted);
  EXPECT_EQ(welcome.reason, "why");
  EXPECT_EQ(welcome.protocol, 1U);
  EXPECT_EQ(welcome.schema_hash, 2U);
  EXPECT_EQ(welcome.build_id, "build");
  EXPECT_EQ(welcome.host, "host");
  EXPECT_EQ(welcome.session, 3U);
  EXPECT_EQ(welcome.process, ProcessId{4});
  EXPECT_EQ(welcome.incarnation, 5U);
  EXPECT_EQ(welcome.codecs, 6U);
  EXPECT_EQ(welcome.credit, 7U);
}

TEST(LinkMessages, AHeartbeatKeepsTheLanesApart) {
  const Heartbeat beat = there(Heartbeat{{1, 2}, Duration(3), 4, 5, 6, 7});
  EXPECT_EQ(beat.credit[0], 1U);
  EXPECT_EQ(beat.credit[1], 2U);
  EXPECT_EQ(beat.loop_lag, Duration(3));
  EXPECT_EQ(beat.queued_bytes, 4U);
  EXPECT_EQ(beat.bytes_in, 5U);
  EXPECT_EQ(beat.bytes_out, 6U);
  EXPECT_EQ(beat.actors, 7U);
}

TEST(LinkMessages, AWatchAndTheDeathItWaitsForArrive) {
  EXPECT_EQ(there(Watch{{9}}).actor, LocalId{9});
  const DownNotice notice = there(Down{{{{1}, {2}}, "worker", 3, "it stopped"}}).notice;
  EXPECT_EQ(notice.actor, (ActorId{{1}, {2}}));
  EXPECT_EQ(notice.name, "worker");
  EXPECT_EQ(notice.incarnation, 3U);
  EXPECT_EQ(notice.cause, "it stopped");
}

}  // namespace
}  // namespace sterna::test
