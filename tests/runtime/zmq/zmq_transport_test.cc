#include "runtime/zmq/zmq_transport.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "tests/runtime/zmq/zmq_network.h"

namespace sterna {
namespace {

using zmq_test::bytes_of;
using zmq_test::Network;
using zmq_test::Peer;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

/// Everything that holds whatever carries the frames.
class OverBoth : public Network, public testing::WithParamInterface<std::string> {
 protected:
  OverBoth() {
    options.kind = GetParam() == "ipc" ? ZmqOptions::Kind::ipc : ZmqOptions::Kind::tcp;
    options.curve = GetParam() != "plain_tcp";
    if (GetParam() == "neighbours") options.neighbourhood = 5;
  }
};
INSTANTIATE_TEST_SUITE_P(Zmq, OverBoth, testing::Values("ipc", "curve", "plain_tcp", "neighbours"),
                         [](const auto& kind) { return kind.param; });

TEST_P(OverBoth, BothLanesCarryMessagesBothWaysAndSayWhoSentThem) {
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

TEST_P(OverBoth, AllMessagesArriveInOrderEvenThoseSentBeforeTheHandshake) {
  auto server = make("server");
  auto worker = make("worker");
  server->transport->admit(worker->contact);
  const ChannelId channel = worker->dial(*server);
  constexpr std::uint32_t kCount = 20000;
  std::uint32_t next = 0;
  bool ordered = true;
  server->on_received = [&](ChannelId, InMessage& message) {
    std::uint32_t number = 0;
    std::memcpy(&number, message.frame(0).data(), sizeof number);
    ordered = ordered && number == next++;
  };
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const OutFrame frame{std::as_bytes(std::span(&i, 1)), nullptr};
    ASSERT_TRUE(worker->transport->send(channel, {&frame, 1}));
  }
  EXPECT_TRUE(until([&] { return next == kCount; }));
  EXPECT_TRUE(ordered);
}

TEST_P(OverBoth, WhatIsSentInOneTurnArrivesInOrderWhateverItsSize) {
  auto server = make("server");
  auto worker = make("worker");
  server->transport->admit(worker->contact);
  const ChannelId channel = worker->dial(*server);
  std::vector<std::string> sent;
  for (std::size_t i = 0; i < 200; ++i) {
    // Small ones travel together, a large one alone, and a first byte of 3 looks like a batch.
    const std::size_t size = i % 50 == 49 ? 5000 : i + 1;
    sent.emplace_back(size, i % 3 == 0 && size < 1024 ? '\3' : 'm');
    ASSERT_TRUE(worker->send(channel, sent.back()));
  }
  ASSERT_TRUE(until([&] { return server->messages == sent.size(); }));
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_THAT(server->inbox[i].frames, ElementsAre(sent[i])) << i;
  }
}

TEST_P(OverBoth, NothingOfABatchIsHeardAfterItsChannelWasMuted) {
  auto server = make("server");
  auto worker = make("worker");
  server->transport->admit(worker->contact);
  server->on_received = [&](ChannelId channel, InMessage&) { server->transport->mute(channel); };
  const ChannelId channel = worker->dial(*server);
  for (int i = 0; i < 10; ++i) worker->send(channel, "again");
  ASSERT_TRUE(until([&] { return server->messages == 1; }));
  worker->send(channel, "the last");
  ASSERT_TRUE(until([&] { return server->transport->counters().muted_messages > 0; }));
  EXPECT_EQ(server->messages, 1U);
}

TEST_P(OverBoth, LargeFramesTravelInPlaceAndTheirOwnerIsLetGo) {
  auto server = make("server");
  auto worker = make("worker");
  server->transport->admit(worker->contact);
  auto buffer = make_buffer(4U << 20);
  auto words = buffer->as<std::uint32_t>();
  std::iota(words.begin(), words.end(), 1U);
  const std::weak_ptr<Buffer> watch = buffer;
  std::vector<OutFrame> frames = {{bytes_of("head"), nullptr},
                                  {buffer->bytes(), buffer},
                                  {bytes_of("small, owned"), buffer},
                                  {ByteView(), nullptr}};
  const ChannelId channel = worker->dial(*server, Lane::data);
  Bytes kept;
  Bytes kept_small;
  server->on_received = [&](ChannelId, InMessage& message) {
    ASSERT_EQ(message.frames(), 4U);
    const std::byte* lies_at = message.frame(1).data();
    kept = message.keep(1);
    EXPECT_EQ(kept.data(), lies_at);
    EXPECT_EQ(message.frame(1).data(), lies_at);
    EXPECT_EQ(message.keep(1).data(), lies_at);
    kept_small = message.keep(2);
    EXPECT_EQ(message.frame(3).size(), 0U);
  };
  ASSERT_TRUE(worker->transport->send(channel, frames));
  frames.clear();
  buffer.reset();
  ASSERT_TRUE(until([&] { return server->messages == 1 && watch.expired(); }));
  ASSERT_EQ(kept.size(), 4U << 20);
  const auto* received = reinterpret_cast<const std::uint32_t*>(kept.data());
  bool same = true;
  for (std::uint32_t i = 0; i < kept.size() / 4; ++i) same = same && received[i] == i + 1;
  EXPECT_TRUE(same);
  EXPECT_EQ(text_of(kept_small.view()), "small, owned");
}

TEST_P(OverBoth, AWrongSecretIsDeniedCountedAndLoggedOnce) {
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

TEST_P(OverBoth, AnotherIncarnationIsDenied) {
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

TEST_P(OverBoth, ALostPeerClosesItsChannelsAtBothKindsOfEnd) {
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
  EXPECT_THAT(server->ends[dialled], HasSubstr("connection lost"));
  EXPECT_FALSE(server->send(dialled, "anyone?"));
  EXPECT_EQ(server->transport->counters().disconnects, 2U);
}

TEST_P(OverBoth, WhatAPeerSaidLastIsHeardBeforeItsEnd) {
  auto server = make("server");
  auto worker = make("worker");
  server->transport->admit(worker->contact);
  const ChannelId channel = worker->dial(*server);
  worker->send(channel, "first");
  ASSERT_TRUE(until([&] { return server->messages == 1; }));
  for (int i = 0; i < 1000; ++i) worker->send(channel, "more");
  worker.reset();
  ASSERT_TRUE(until([&] { return !server->ends.empty(); }));
  EXPECT_EQ(server->messages, 1001U);
}

TEST_P(OverBoth, ALostConnectionCanBeDialledAnew) {
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

TEST_P(OverBoth, AnOversizedFrameEndsItsSendersConnectionAndNoOther) {
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

TEST_P(OverBoth, AConnectionLostBeforeItsFirstMessageIsCountedAndLogged) {
  options.max_frame_bytes = {1000, 1000};
  auto server = make("server");
  options.max_frame_bytes = {1 << 20, 1 << 20};
  auto bad = make("bad");
  server->transport->admit(bad->contact);
  bad->send(bad->dial(*server), std::string(5000, 'x'));
  ASSERT_TRUE(until([&] { return server->transport->counters().disconnects == 1; }));
  ASSERT_EQ(server->notices.size(), 1U);
  EXPECT_THAT(server->notices[0], HasSubstr("before its first message"));
}

TEST_P(OverBoth, AnEmptyMessageArrivesAndOneOfTooManyFramesIsNotSent) {
  auto server = make("server");
  auto worker = make("worker");
  server->transport->admit(worker->contact);
  const ChannelId channel = worker->dial(*server);
  worker->send(channel, "");
  ASSERT_TRUE(until([&] { return server->messages == 1; }));
  EXPECT_THAT(server->inbox[0].frames, ElementsAre(""));
  const std::vector<OutFrame> many(kMostFrames + 1, {bytes_of("x"), nullptr});
  EXPECT_FALSE(worker->transport->send(channel, many));
}

TEST_P(OverBoth, DiallingWhereNobodyListensCloses) {
  auto server = make("server");
  auto worker = make("worker");
  const Contact gone = server->contact;
  server.reset();
  const ChannelId channel = worker->transport->dial(Lane::data, gone).value();
  worker->send(channel, "hello?");
  ASSERT_TRUE(until([&] { return worker->ends.contains(channel); }));
  EXPECT_THAT(worker->ends[channel], HasSubstr("nobody answers"));
}

TEST_P(OverBoth, MutedAndRevokedPeersAreNotHeard) {
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

TEST_P(OverBoth, ACallbackMayMuteItsOwnChannelAndDialAndSend) {
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

TEST_P(OverBoth, TheLoopSleepsWhenNothingHappens) {
  auto server = make("server");
  auto worker = make("worker");
  server->transport->admit(worker->contact);
  worker->send(worker->dial(*server), "hello");
  ASSERT_TRUE(until([&] { return server->messages == 1; }));
  int turns = 0;
  until(
      [&] {
        ++turns;
        return false;
      },
      50ms);
  EXPECT_LT(turns, 100);
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

TEST_F(Curve, ANameThatNobodyKnowsIsAnErrorThatSaysSo) {
  options.bind_address = "nobody.invalid";
  Peer peer;
  peer.contact.identity = {"peer", 1};
  open(peer, make_credentials(), false);
  const auto listening = peer.transport->listen(peer.contact);
  ASSERT_FALSE(listening);
  EXPECT_THAT(listening.error().message, HasSubstr("nobody.invalid"));
}

TEST_F(Curve, ASilentListenerIsGivenUpAfterAWhile) {
  options.handshake_timeout = 50ms;
  options.connect_timeout = 50ms;
  // A socket that accepts (its backlog does) and never says a word.
  const int silent = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(silent, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(silent, 1), 0);
  ASSERT_EQ(::getsockname(silent, reinterpret_cast<sockaddr*>(&address), &size), 0);
  auto worker = make("worker");
  Contact contact;
  contact.identity = {"silent", 1};
  contact.public_key = make_credentials().public_key;
  contact.control_endpoint = "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const ChannelId channel = worker->transport->dial(Lane::control, contact).value();
  EXPECT_TRUE(until([&] { return worker->ends.contains(channel); }));
  ::close(silent);
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
