#include "runtime/message/packed_message.h"

#include <gtest/gtest.h>

#include "runtime/cluster/cluster_messages.h"

namespace sterna {
namespace {

Bootstrap example() {
  Bootstrap b;
  b.kind = ProcessKind::NODE;
  b.run = 0xfeedULL << 48;
  b.run_name = "run";
  b.process = {7};
  b.identity = {"node-localhost", 3};
  b.credentials = {"public", "secret", "token"};
  b.uplink = {1, {"coordinator", 1}, "ipc:///c", "ipc:///d", "key", "hash"};
  b.admit = {{9, {"worker-0", 2}, "", "", "k", "h"}};
  b.network.tcp = true;
  b.network.port_low = 4000;
  b.network.port_high = 4100;
  b.network.near = true;
  b.network.neighbourhood = 5;
  b.args = copy_bytes(std::as_bytes(std::span("arguments")));
  b.log_directory = "/logs";
  return b;
}

TEST(PackedMessage, ABootstrapComesBackAsItWas) {
  const Bootstrap sent = example();
  const Result<Bootstrap> read = unpack<Bootstrap>(pack(sent).view());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->kind, sent.kind);
  EXPECT_EQ(read->run, sent.run);
  EXPECT_EQ(read->process, sent.process);
  EXPECT_EQ(read->identity, sent.identity);
  EXPECT_EQ(read->credentials.secret_key, "secret");
  EXPECT_EQ(read->uplink.data_endpoint, "ipc:///d");
  ASSERT_EQ(read->admit.size(), 1u);
  EXPECT_EQ(read->admit[0].identity, sent.admit[0].identity);
  EXPECT_EQ(read->network.port_high, 4100);
  EXPECT_TRUE(read->network.near);
  EXPECT_EQ(read->network.neighbourhood, 5u);
  EXPECT_EQ(read->contact("").neighbourhood, 5u);
  EXPECT_EQ(read->args.size(), sent.args.size());
  EXPECT_EQ(read->log_file(), "/logs/node-localhost.log");
}

TEST(PackedMessage, BulkArgumentsTravelInAFrameOfTheirOwn) {
  Bootstrap sent = example();
  sent.args = share(make_buffer(1 << 20));
  const Result<Bootstrap> read = unpack<Bootstrap>(pack(sent).view());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->args.size(), 1U << 20);
}

TEST(PackedMessage, AMessageOfAnotherTypeIsRefused) {
  const Result<Bootstrap> read = unpack<Bootstrap>(pack(Find{"worker-0", Duration(1)}).view());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Errc::malformed);
}

TEST(PackedMessage, EveryCutIsAnError) {
  const Bytes packed = pack(example());
  for (std::size_t size = 0; size < packed.size(); ++size) {
    EXPECT_FALSE(unpack<Bootstrap>(packed.view().first(size)).ok()) << size;
  }
}

TEST(PackedMessage, TimesThatDoNotFitTogetherAreRefused) {
  Bootstrap sent = example();
  sent.silence = sent.heartbeat;
  EXPECT_FALSE(unpack<Bootstrap>(pack(sent).view()).ok());
}

}  // namespace
}  // namespace sterna
