#include "runtime/zmq/zmq_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "tests/runtime/zmq/zmq_network.h"

namespace sterna {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using zmq_test::carrier_name;
using zmq_test::kCarriers;
using zmq_test::Network;
using zmq_test::Peer;

using ZmqTransportTest = zmq_test::OverAnyCarrier;
INSTANTIATE_TEST_SUITE_P(Zmq, ZmqTransportTest, kCarriers, carrier_name);

TEST_P(ZmqTransportTest, BothLanesCarryMessagesBothWaysAndSayWhoSentThem) {
  auto server = make("server", 7);
  auto worker = make("worker", 3);
  server->transport->admit(worker->contact);
  for (const Lane lane : {Lane::control, Lane::data}) {
    server->inbox.clear();
    worker->inbox.clear();
    const ChannelId channel = worker->dial(*server, lane);
    EXPECT_TRUE(worker->send(channel, "hello"));
    ASSERT_TRUE(until([&] { return !server->inbox.empty(); }));
    EXPECT_EQ(server->inbox[0].from, "worker#3");
    EXPECT_EQ(server->inbox[0].lane, lane);
    EXPECT_THAT(server->inbox[0].frames, ElementsAre("hello"));
    EXPECT_TRUE(server->send(server->inbox[0].channel, "welcome"));
    ASSERT_TRUE(until([&] { return !worker->inbox.empty(); }));
    EXPECT_EQ(worker->inbox[0].from, "server#7");
    EXPECT_EQ(worker->inbox[0].channel, channel);
    EXPECT_THAT(worker->inbox[0].frames, ElementsAre("welcome"));
  }
}

TEST_P(ZmqTransportTest, AnotherIncarnationIsDenied) {
  auto server = make("server");
  auto old_worker = make("worker", 1);
  auto new_worker = make("worker", 2);
  server->transport->admit(old_worker->contact);
  const ChannelId old_channel = old_worker->dial(*server);
  old_worker->send(old_channel, "hello");
  ASSERT_TRUE(until([&] { return server->messages == 1; }));
  // The new one fences the old one: its channel ends, and it does not get in again.
  server->transport->admit(new_worker->contact);
  ASSERT_TRUE(until([&] { return server->ends.contains(server->inbox[0].channel); }));
  EXPECT_THAT(server->ends[server->inbox[0].channel], HasSubstr("worker#2"));
  old_worker->send(old_channel, "still here");
  const ChannelId again = old_worker->dial(*server);
  ASSERT_TRUE(until([&] { return old_worker->ends.contains(again); }));
  const ChannelId fresh = new_worker->dial(*server);
  new_worker->send(fresh, "hello");
  ASSERT_TRUE(until([&] { return server->messages == 2; }));
  EXPECT_EQ(server->inbox[1].from, "worker#2");
  ASSERT_TRUE(until([&] { return server->transport->counters().muted_messages == 1; }));
}

TEST_P(ZmqTransportTest, ALostConnectionCanBeDialledAnew) {
  auto server = make("server");
  auto worker = make("worker");
  server->transport->admit(worker->contact);
  for (std::size_t round = 1; round <= 20; ++round) {
    const ChannelId channel = worker->dial(*server);
    ASSERT_TRUE(worker->send(channel, "hello"));
    ASSERT_TRUE(until([&] { return server->messages == round; }));
    EXPECT_TRUE(worker->ends.empty());
    worker->transport->mute(channel);
    EXPECT_FALSE(worker->send(channel, "muted"));
    ASSERT_TRUE(until([&] { return server->ends.size() == round; }));
  }
}

TEST_P(ZmqTransportTest, MutedAndRevokedPeersAreNotHeard) {
  auto server = make("server");
  auto worker = make("worker");
  auto other = make("other");
  server->transport->admit(worker->contact);
  server->transport->admit(other->contact);
  const ChannelId channel = worker->dial(*server);
  const ChannelId other_channel = other->dial(*server);
  worker->send(channel, "hello");
  ASSERT_TRUE(until([&] { return server->messages == 1; }));
  other->send(other_channel, "hello");
  ASSERT_TRUE(until([&] { return server->messages == 2; }));
  server->transport->mute(server->inbox[0].channel);
  EXPECT_FALSE(server->send(server->inbox[0].channel, "muted"));
  server->transport->revoke(other->contact.identity);
  worker->send(channel, "dropped");
  other->send(other_channel, "dropped");
  ASSERT_TRUE(until([&] { return server->transport->counters().muted_messages == 2; }));
  const ChannelId again = other->dial(*server);
  ASSERT_TRUE(until([&] { return other->ends.contains(again); }));
  worker.reset();
  ASSERT_TRUE(until([&] { return server->transport->counters().disconnects == 1; }));
  EXPECT_TRUE(server->ends.empty());
  EXPECT_EQ(server->messages, 2U);
}

TEST_P(ZmqTransportTest, ACallbackMayMuteItsOwnChannelAndDialAndSend) {
  auto server = make("server");
  auto worker = make("worker");
  server->transport->admit(worker->contact);
  worker->transport->admit(server->contact);
  server->on_received = [&](ChannelId channel, InMessage&) {
    server->send(channel, "goodbye");
    server->transport->mute(channel);
    server->send(server->dial(*worker), "my turn");
  };
  worker->on_received = [&](ChannelId channel, InMessage& message) {
    worker->notices.emplace_back(text_of(message.frame(0)));
    worker->transport->mute(channel);
  };
  worker->send(worker->dial(*server), "hello");
  ASSERT_TRUE(until([&] { return worker->messages == 2; }));
  EXPECT_THAT(worker->notices, testing::UnorderedElementsAre("goodbye", "my turn"));
}

class Curve : public Network {
 protected:
  Curve() { options.kind = ZmqOptions::Kind::tcp; }
};

TEST_F(Curve, AServerWithAnotherKeyThanExpectedIsNotTalkedTo) {
  auto server = make("server");
  auto worker = make("worker");
  server->transport->admit(worker->contact);
  Contact impostor = server->contact;
  impostor.public_key = make_credentials().public_key;
  const ChannelId channel = worker->transport->dial(Lane::control, impostor).value();
  worker->send(channel, "secret");
  ASSERT_TRUE(until([&] { return worker->ends.contains(channel); }));
  EXPECT_THAT(worker->ends[channel], HasSubstr("handshake"));
  EXPECT_GE(worker->transport->counters().handshake_failures, 1U);
  ASSERT_TRUE(until([&] { return server->transport->counters().handshake_failures == 1; }));
  EXPECT_EQ(server->messages, 0U);
  Contact keyless = server->contact;
  keyless.public_key.clear();
  EXPECT_FALSE(worker->transport->dial(Lane::control, keyless));
}

TEST_F(Curve, AnExhaustedPortRangeIsAnErrorThatSaysSo) {
  // Two ports known to be free a moment ago; the first actor takes both.
  auto probe = make("probe");
  const std::string& endpoint = probe->contact.control_endpoint;
  const int port = std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
  options.port_low = options.port_high = port;
  Peer late;
  late.contact.identity = {"late", 1};
  open(late, make_credentials(), false);
  const auto listening = late.transport->listen(late.contact);
  ASSERT_FALSE(listening);
  EXPECT_THAT(listening.error().message, HasSubstr("in use"));
}

TEST_F(Curve, NeverListensEverywhere) {
  options.bind_address = "*";
  Peer peer;
  peer.contact.identity = {"peer", 1};
  open(peer, make_credentials(), false);
  EXPECT_EQ(peer.transport->listen(peer.contact).error().code, Errc::invalid_argument);
}

TEST_F(Curve, ListensAtAnAddressGivenByName) {
  options.bind_address = "localhost";
  auto server = make("server");
  EXPECT_THAT(server->contact.control_endpoint, HasSubstr("tcp://127.0.0.1:"));
  options.bind_address = "127.0.0.1";
  auto worker = make("worker");
  server->transport->admit(worker->contact);
  worker->send(worker->transport->dial(Lane::control, server->contact).value(), "hello");
  EXPECT_TRUE(until([&] { return server->messages == 1; }));
}

TEST_F(Curve, WhoListensAtANameSaysWhichAddressThatIs) {
  options.bind_address = options.address = "localhost";
  EXPECT_THAT(make("server")->contact.control_endpoint, HasSubstr("tcp://127.0.0.1:"));
  // Where others reach it only by that name, it is for them to find.
  options.bind_address = "127.0.0.2";
  EXPECT_THAT(make("other")->contact.control_endpoint, HasSubstr("tcp://localhost:"));
}

TEST_F(Curve, ANameThatNobodyKnowsIsAnErrorThatSaysSo) {
  options.bind_address = "nobody.invalid";
  Peer peer;
  peer.contact.identity = {"peer", 1};
  open(peer, make_credentials(), false);
  const auto listening = peer.transport->listen(peer.contact);
  ASSERT_FALSE(listening);
  EXPECT_THAT(listening.error().message, HasSubstr("nobody.invalid"));
}

TEST_F(Network, LeavesNoSocketFilesBehind) {
  make("server").reset();
  EXPECT_TRUE(std::filesystem::is_empty(options.directory));
  auto again = make("server");
  Peer twin;
  twin.contact.identity = {"server", 1};
  open(twin, make_credentials(), false);
  EXPECT_EQ(twin.transport->listen(twin.contact).error().code, Errc::already_exists);
}

TEST_F(Network, OneProcessHoldsMoreConnectionsThanAContextHoldsSockets) {
  constexpr std::size_t kConnections = 1100;
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 8192);
  setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < 2 * kConnections + 200) GTEST_SKIP() << "too few descriptors allowed";
  {
    auto server = make("server");
    auto worker = make("worker");
    server->transport->admit(worker->contact);
    const std::string path = server->contact.control_endpoint.substr(6);
    std::vector<ChannelId> channels;
    for (std::size_t i = 0; i < kConnections; ++i) {
      // Another name for the same socket: libzmq takes it for another peer.
      const std::string link = options.directory + "/" + std::to_string(i);
      std::filesystem::create_symlink(path, link);
      Contact contact = server->contact;
      contact.control_endpoint = "ipc://" + link;
      channels.push_back(worker->transport->dial(Lane::control, contact).value());
      ASSERT_TRUE(worker->send(channels.back(), std::to_string(i)));
    }
    ASSERT_TRUE(until([&] { return server->messages == kConnections || !worker->ends.empty(); }));
    EXPECT_TRUE(worker->ends.empty());
    for (const auto& entry : server->inbox) server->send(entry.channel, entry.frames[0]);
    ASSERT_TRUE(until([&] { return worker->messages == kConnections; }));
    for (const auto& entry : worker->inbox) {
      EXPECT_EQ(entry.channel, channels[std::stoul(entry.frames[0])]);
    }
  }
  limit.rlim_cur = before;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace
}  // namespace sterna
