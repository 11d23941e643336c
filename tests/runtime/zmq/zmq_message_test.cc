#include "runtime/zmq/zmq_message.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace sterna {
namespace {

/// A DEALER that talks to a ROUTER within the process.
class ZmqMessages : public testing::Test {
 protected:
  ZmqMessages() {
    router = std::move(ZmqSocket::open(context, ZMQ_ROUTER)).value();
    dealer = std::move(ZmqSocket::open(context, ZMQ_DEALER)).value();
    EXPECT_TRUE(router.set(ZMQ_ROUTER_MANDATORY, 1).ok());
    EXPECT_TRUE(router.bind("inproc://router").ok());
    EXPECT_TRUE(dealer.set(ZMQ_ROUTING_ID, std::string_view("peer")).ok());
    EXPECT_TRUE(dealer.connect("inproc://router").ok());
  }
  void say(const std::vector<std::string>& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      zmq_send(dealer.get(), frames[i].data(), frames[i].size(),
               i + 1 < frames.size() ? ZMQ_SNDMORE : 0);
    }
  }
  std::string heard() {
    std::string text(1 << 20, '\0');
    const int size = zmq_recv(dealer.get(), text.data(), text.size(), ZMQ_DONTWAIT);
    return size < 0 ? "nothing" : text.substr(0, static_cast<std::size_t>(size));
  }

  ZmqContext context{1};
  ZmqSocket router;
  ZmqSocket dealer;
};

TEST_F(ZmqMessages, AMessageIsReadWholeWithTheConnectionItCameOver) {
  ZmqMessage message;
  EXPECT_FALSE(message.receive(router));
  say({"one", "", "three"});
  ASSERT_TRUE(message.receive(router));
  EXPECT_EQ(message.routing_id(), "peer");
  ASSERT_EQ(message.frames(), 3U);
  EXPECT_EQ(text_of(message.frame(2)), "three");
  EXPECT_EQ(message.frame(1).size(), 0U);
  EXPECT_EQ(message.bytes(), 8U);
  message.release();
  EXPECT_FALSE(message.receive(router));
}

TEST_F(ZmqMessages, OneOfTooManyFramesIsReadToItsEndAndHasNone) {
  say(std::vector<std::string>(kMostFrames + 1, "x"));
  say({"next"});
  ZmqMessage message;
  ASSERT_TRUE(message.receive(router));
  EXPECT_EQ(message.frames(), 0U);
  message.release();
  ASSERT_TRUE(message.receive(router));
  EXPECT_EQ(text_of(message.frame(0)), "next");
}

TEST_F(ZmqMessages, AKeptFrameOutlivesItsMessage) {
  const std::string large(100000, 'l');
  say({"small", large});
  Bytes small_kept;
  Bytes large_kept;
  {
    ZmqMessage message;
    ASSERT_TRUE(message.receive(router));
    const std::byte* lies_at = message.frame(1).data();
    small_kept = message.keep(0);
    large_kept = message.keep(1);
    EXPECT_EQ(large_kept.data(), lies_at);
    EXPECT_EQ(message.frame(1).data(), lies_at);
    message.release();
  }
  EXPECT_EQ(text_of(small_kept.view()), "small");
  EXPECT_EQ(text_of(large_kept.view()), large);
}

TEST_F(ZmqMessages, WhoHasNotAuthenticatedHasNoName) {
  say({"hello"});
  ZmqMessage message;
  ASSERT_TRUE(message.receive(router));
  EXPECT_EQ(message.user(), "");
  EXPECT_FALSE(message.all_from("worker#1"));
}

TEST_F(ZmqMessages, LargeOwnedFramesAreSentInPlaceAndLetGo) {
  auto buffer = make_buffer(100000);
  buffer->data()[0] = std::byte{'b'};
  const std::weak_ptr<Buffer> watch = buffer;
  {
    const OutFrame frame{buffer->bytes(), buffer};
    ASSERT_TRUE(send_message(router, "peer", {&frame, 1}).ok());
  }
  buffer.reset();
  EXPECT_FALSE(watch.expired());  // it lies in the queue as it is
  EXPECT_EQ(heard()[0], 'b');
  EXPECT_TRUE(watch.expired());
}

TEST_F(ZmqMessages, AFrameWithoutOwnerMayGoAtOnce) {
  std::string text(100000, 'c');
  const OutFrame frame{std::as_bytes(std::span(text)), nullptr};
  ASSERT_TRUE(send_message(router, "peer", {&frame, 1}).ok());
  text.assign(100000, 'x');
  EXPECT_EQ(heard(), std::string(100000, 'c'));
}

TEST_F(ZmqMessages, ToNobodyIsAnErrorAndNothingIsSent) {
  const std::string text = "x";
  const OutFrame frame{std::as_bytes(std::span(text)), nullptr};
  EXPECT_EQ(send_message(router, "stranger", {&frame, 1}).error().code, Errc::actor_down);
  EXPECT_EQ(heard(), "nothing");
}

}  // namespace
}  // namespace sterna
