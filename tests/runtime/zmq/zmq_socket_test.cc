#include "runtime/zmq/zmq_socket.h"

#include <gtest/gtest.h>

#include "runtime/loop/uv_loop.h"

namespace sterna {
namespace {

using namespace std::chrono_literals;

class ZmqSockets : public testing::Test {
 protected:
  ZmqSocket socket(int type) {
    ZmqSocket made = std::move(ZmqSocket::open(context, type)).value();
    EXPECT_TRUE(made.set(ZMQ_LINGER, 0).ok());
    return made;
  }
  bool until(const std::function<bool()>& done) { return loop.run_until(done, loop.now() + 10s); }

  UvLoop loop;
  ZmqContext context{1};
};

TEST_F(ZmqSockets, AnAddressInUseIsToldApartFromOtherErrors) {
  ZmqSocket first = socket(ZMQ_PAIR);
  ZmqSocket second = socket(ZMQ_PAIR);
  ASSERT_TRUE(first.bind("tcp://127.0.0.1:*").ok());
  const Result<void> taken = second.bind(first.last_endpoint());
  EXPECT_EQ(taken.error().code, Errc::already_exists);
  EXPECT_NE(taken.error().message.find(first.last_endpoint()), std::string::npos);
  EXPECT_EQ(second.bind("nonsense").error().code, Errc::io);
  EXPECT_EQ(second.connect("nonsense").error().code, Errc::io);
}

TEST_F(ZmqSockets, AnOptionThatDoesNotExistIsAnErrorThatNamesIt) {
  const Result<void> set = socket(ZMQ_PAIR).set(-1, 7);
  EXPECT_NE(set.error().message.find("ZeroMQ option -1"), std::string::npos);
}

TEST_F(ZmqSockets, AWatchSeesWhatArrivesAndRestsOnceNothingIsLeft) {
  ZmqSocket bound = socket(ZMQ_PAIR);
  ZmqSocket dialled = socket(ZMQ_PAIR);
  ASSERT_TRUE(bound.bind("inproc://watched").ok());
  SocketWatch watch;
  ASSERT_TRUE(watch.start(loop.uv(), bound).ok());
  EXPECT_TRUE(watch.maybe());  // what came before it began
  EXPECT_FALSE(watch.readable());
  EXPECT_FALSE(watch.maybe());
  ASSERT_TRUE(dialled.connect("inproc://watched").ok());
  zmq_send(dialled.get(), "x", 1, 0);
  EXPECT_TRUE(until([&] { return watch.maybe() && watch.readable(); }));
  watch.rest();
  EXPECT_FALSE(watch.readable());
  watch.touch();
  EXPECT_TRUE(watch.readable());  // the message is still there
}

}  // namespace
}  // namespace sterna
