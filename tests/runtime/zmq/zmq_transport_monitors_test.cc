// What a ZmqTransport makes of what libzmq tells it about connections.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

#include "runtime/transport/handshake.h"
#include "tests/runtime/zmq/zmq_network.h"

namespace sterna {
namespace {

using zmq_test::carrier_name;
using zmq_test::kCarriers;
using zmq_test::Network;
using zmq_test::Peer;
using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

using ZmqTransportMonitors = zmq_test::OverAnyCarrier;
INSTANTIATE_TEST_SUITE_P(Zmq, ZmqTransportMonitors, kCarriers, carrier_name);

TEST_P(ZmqTransportMonitors, AWrongSecretIsDeniedCountedAndLoggedOnce) {
  auto server = make("server");
  auto worker = make("worker");
  server->transport->admit(worker->contact);
  Peer intruder;
  intruder.contact.identity = worker->contact.identity;
  open(intruder, make_credentials(), false);
  for (int i = 1; i <= 3; ++i) {
    const ChannelId channel = intruder.dial(*server);
    intruder.send(channel, "let me in");
    ASSERT_TRUE(until([&] { return intruder.ends.contains(channel); }));
    EXPECT_THAT(intruder.ends[channel], HasSubstr("does not admit"));
    EXPECT_EQ(server->transport->counters().authentication_denials, static_cast<unsigned>(i));
  }
  EXPECT_EQ(server->notices.size(), 1U);
  EXPECT_EQ(server->messages, 0U);
  EXPECT_EQ(server->transport->counters().disconnects, 0U);
}

TEST_P(ZmqTransportMonitors, RefusalsThatAreNotLoggedAgainAreTalliedInALineNowAndThen) {
  options.tally_every = 50ms;
  auto server = make("server");
  auto worker = make("worker");
  server->transport->admit(worker->contact);
  Peer intruder;
  intruder.contact.identity = worker->contact.identity;
  open(intruder, make_credentials(), false);
  for (int i = 1; i <= 3; ++i) {
    const ChannelId channel = intruder.dial(*server);
    ASSERT_TRUE(until([&] { return intruder.ends.contains(channel); }));
  }
  ASSERT_TRUE(until([&] {
    return server->notices.size() > 1 &&
           server->notices.back().find("in all 3 denied") != std::string::npos;
  }));
  EXPECT_THAT(server->notices.back(), testing::StartsWith("server#1 refused "));
  EXPECT_LE(server->notices.size(), 3U);
}

TEST_P(ZmqTransportMonitors, ALostPeerClosesItsChannelsAtBothKindsOfEnd) {
  auto server = make("server");
  auto dialler = make("dialler");
  auto acceptor = make("acceptor");
  server->transport->admit(dialler->contact);
  acceptor->transport->admit(server->contact);
  dialler->send(dialler->dial(*server), "from the dialler");
  const ChannelId dialled = server->dial(*acceptor);
  server->send(dialled, "to the acceptor");
  ASSERT_TRUE(until([&] { return server->messages == 1 && acceptor->messages == 1; }));
  const ChannelId accepted = server->inbox[0].channel;
  dialler.reset();
  ASSERT_TRUE(until([&] { return server->ends.contains(accepted); }));
  EXPECT_FALSE(server->send(accepted, "anyone?"));
  acceptor.reset();
  ASSERT_TRUE(until([&] { return server->ends.contains(dialled); }));
  EXPECT_THAT(server->ends[dialled], HasSubstr("connection lost (the peer ended "));
  EXPECT_FALSE(server->send(dialled, "anyone?"));
  EXPECT_EQ(server->transport->counters().disconnects, 2U);
}

TEST_P(ZmqTransportMonitors, AnOversizedFrameEndsItsSendersConnectionAndNoOther) {
  options.max_frame_bytes = {1000, 1000};
  auto server = make("server");
  options.max_frame_bytes = {1 << 20, 1 << 20};
  auto good = make("good");
  auto bad = make("bad");
  server->transport->admit(good->contact);
  server->transport->admit(bad->contact);
  const ChannelId good_channel = good->dial(*server);
  const ChannelId bad_channel = bad->dial(*server);
  good->send(good_channel, "hello");
  ASSERT_TRUE(until([&] { return server->messages == 1; }));
  bad->send(bad_channel, "hello");
  ASSERT_TRUE(until([&] { return server->messages == 2; }));
  const ChannelId accepted = server->inbox[1].channel;
  bad->send(bad_channel, std::string(5000, 'x'));
  ASSERT_TRUE(until([&] { return server->ends.contains(accepted) && !bad->ends.empty(); }));
  EXPECT_THAT(server->ends[accepted], HasSubstr("oversized"));
  good->send(good_channel, "still here");
  ASSERT_TRUE(until([&] { return server->messages == 3; }));
  EXPECT_EQ(server->ends.size(), 1U);
}

TEST_P(ZmqTransportMonitors, AFrameThatNoPeerTakesIsNotSent) {
  options.max_frame_bytes = {1000, 1000};
  auto server = make("server");
  auto sender = make("sender");
  server->transport->admit(sender->contact);
  const ChannelId channel = sender->dial(*server);
  EXPECT_FALSE(sender->send(channel, std::string(1000, 'x')));
  EXPECT_TRUE(sender->send(channel, std::string(700, 'x')));
  ASSERT_TRUE(until([&] { return server->messages == 1; }));
  EXPECT_TRUE(sender->ends.empty());
}

TEST_P(ZmqTransportMonitors, AConnectionLostBeforeItsFirstMessageIsCountedAndLogged) {
  options.max_frame_bytes = {1000, 1000};
  auto server = make("server");
  options.max_frame_bytes = {1 << 20, 1 << 20};
  auto bad = make("bad");
  server->transport->admit(bad->contact);
  bad->send(bad->dial(*server), std::string(5000, 'x'));
  ASSERT_TRUE(until([&] { return server->transport->counters().disconnects == 1; }));
  ASSERT_EQ(server->notices.size(), 1U);
  EXPECT_THAT(server->notices[0], HasSubstr("before its first message"));
  EXPECT_THAT(server->notices[0], HasSubstr("(the peer ended, "));
}

TEST_P(ZmqTransportMonitors, DiallingWhereNobodyListensCloses) {
  auto server = make("server");
  auto worker = make("worker");
  const Contact gone = server->contact;
  server.reset();
  const ChannelId channel = worker->transport->dial(Lane::data, gone).value();
  worker->send(channel, "hello?");
  ASSERT_TRUE(until([&] { return worker->ends.contains(channel); }));
  EXPECT_THAT(worker->ends[channel], HasSubstr("nobody answers at "));
  EXPECT_THAT(worker->ends[channel], HasSubstr(", where worker#1 asked for server#1: "));
}

/// A socket that accepts and never says a word.
class SilentListener : public Network {
 protected:
  SilentListener() {
    options.kind = ZmqOptions::Kind::tcp;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    contact_.identity = {"silent", 1};
    contact_.public_key = make_credentials().public_key;
    contact_.control_endpoint = "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~SilentListener() override { ::close(listener_); }
  /// What a worker that dials it says in the end. It hangs up after `patience`, or never.
  std::string end(std::optional<Duration> patience = {}) {
    const auto worker = make("worker");
    const Time dialled = loop.now();
    const ChannelId channel = worker->transport->dial(Lane::control, contact_).value();
    if (patience) {
      const int accepted = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      EXPECT_TRUE(until([&] { return loop.now() - dialled >= *patience; }));
      ::close(accepted);
    }
    EXPECT_TRUE(until([&] { return worker->ends.contains(channel); }));
    return worker->ends[channel];
  }

  static constexpr const char* kSilent = "silence: silent#1 took no part in the handshake";

 private:
  int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Contact contact_;
};

TEST_F(SilentListener, ASilentListenerIsGivenUpAfterAWhile) {
  options.answer_timeout = 50ms;
  EXPECT_THAT(end(), StartsWith(kSilent));
}

// As of somebody who is too busy to let us in.
TEST_F(SilentListener, OneThatHangsUpAfterAWhileWasSilentToo) {
  options.handshake_timeout = 50ms;
  EXPECT_THAT(end(50ms), StartsWith(kSilent));
}

TEST_F(SilentListener, OneThatHangsUpBeforeEndedOrHasAnotherKey) {
  options.handshake_timeout = options.answer_timeout = 60s;
  const std::string cause = end(0ms);
  EXPECT_THAT(cause, EndsWith(kHandshakeFailed));
  EXPECT_THAT(cause, HasSubstr("failed (it ended meanwhile, "));
}

TEST_F(Network, WhoHangsUpInTheHandshakeIsFirstOfAllSomebodyWhoEnded) {
  options.kind = ZmqOptions::Kind::tcp;
  const auto server = make("server");
  const std::string& endpoint = server->contact.control_endpoint;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port =
      htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
  const int caller = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::connect(caller, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(caller);
  ASSERT_TRUE(until([&] { return !server->notices.empty(); }));
  EXPECT_THAT(server->notices[0], HasSubstr("a handshake failed at "));
  EXPECT_THAT(server->notices[0], HasSubstr(": the peer ended meanwhile, "));
}

}  // namespace
}  // namespace sterna
