#include "runtime/zmq/socket_monitor.h"

#include <gtest/gtest.h>

#include "runtime/loop/uv_loop.h"

namespace sterna {
namespace {

using namespace std::chrono_literals;

class SocketMonitors : public testing::Test {
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

TEST_F(SocketMonitors, AMonitorTellsOfAConnectionFromItsBeginToItsEnd) {
  ZmqSocket bound = socket(ZMQ_ROUTER);
  SocketMonitor monitor;
  ASSERT_TRUE(
      monitor.start(context, loop.uv(), bound, "bound", ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED)
          .ok());
  ASSERT_TRUE(bound.bind("tcp://127.0.0.1:*").ok());
  SocketMonitor::Event event;
  {
    ZmqSocket dialled = socket(ZMQ_DEALER);
    ASSERT_TRUE(dialled.connect(bound.last_endpoint()).ok());
    ASSERT_TRUE(until([&] { return monitor.maybe() && monitor.next(event); }));
    EXPECT_EQ(event.kind, ZMQ_EVENT_ACCEPTED);
    EXPECT_EQ(event.endpoint, bound.last_endpoint());
    zmq_send(dialled.get(), "x", 1, 0);
    ASSERT_TRUE(until([&] { return (bound.events() & ZMQ_POLLIN) != 0; }));
  }
  const std::uint32_t descriptor = event.value;
  ASSERT_TRUE(until([&] { return monitor.maybe() && monitor.next(event); }));
  EXPECT_EQ(event.kind, ZMQ_EVENT_DISCONNECTED);
  EXPECT_EQ(event.value, descriptor);
  EXPECT_FALSE(monitor.next(event));
  EXPECT_FALSE(monitor.maybe());
}

TEST_F(SocketMonitors, TwoMonitorsOfOneNameAreAnError) {
  ZmqSocket one = socket(ZMQ_ROUTER);
  ZmqSocket two = socket(ZMQ_ROUTER);
  SocketMonitor first;
  SocketMonitor second;
  ASSERT_TRUE(first.start(context, loop.uv(), one, "same", ZMQ_EVENT_ACCEPTED).ok());
  EXPECT_FALSE(second.start(context, loop.uv(), two, "same", ZMQ_EVENT_ACCEPTED).ok());
}

}  // namespace
}  // namespace sterna
