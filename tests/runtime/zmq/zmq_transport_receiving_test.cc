// What arrives over a ZmqTransport, in which order, and how much of it in one turn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "tests/runtime/zmq/zmq_network.h"

namespace sterna {
namespace {

using zmq_test::bytes_of;
using zmq_test::carrier_name;
using zmq_test::kCarriers;
using namespace std::chrono_literals;
using testing::ElementsAre;

using ZmqTransportReceiving = zmq_test::OverAnyCarrier;
INSTANTIATE_TEST_SUITE_P(Zmq, ZmqTransportReceiving, kCarriers, carrier_name);

TEST_P(ZmqTransportReceiving, AllMessagesArriveInOrderEvenThoseSentBeforeTheHandshake) {
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

TEST_P(ZmqTransportReceiving, WhatIsSentInOneTurnArrivesInOrderWhateverItsSize) {
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

TEST_P(ZmqTransportReceiving, NothingOfABatchIsHeardAfterItsChannelWasMuted) {
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

TEST_P(ZmqTransportReceiving, WhatAPeerSaidLastIsHeardBeforeItsEnd) {
  options.linger = std::chrono::seconds(10);  // it is over once all is sent
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

TEST_P(ZmqTransportReceiving, WhatTheOneWhoWasDialledSaidLastIsHeardBeforeItsEnd) {
  auto worker = make("worker");
  for (int round = 0; round < 5; ++round) {
    auto server = make("server");
    server->transport->admit(worker->contact);
    const std::size_t before = worker->messages;
    worker->send(worker->dial(*server), "question");
    ASSERT_TRUE(until([&] { return server->messages == 1; }));
    server->send(server->inbox[0].channel, "answer");
    // The worker hears of the answer and of the end in the same turn.
    server.reset();
    worker->ends.clear();
    ASSERT_TRUE(until([&] { return !worker->ends.empty(); }));
    EXPECT_EQ(worker->messages - before, 1U);
  }
}

TEST_P(ZmqTransportReceiving, AnEmptyMessageArrivesAndOneOfTooManyFramesIsNotSent) {
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

TEST_P(ZmqTransportReceiving, TheLoopSleepsWhenNothingHappens) {
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

TEST_P(ZmqTransportReceiving, LargeFramesTravelInPlaceAndTheirOwnerIsLetGo) {
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

}  // namespace
}  // namespace sterna
