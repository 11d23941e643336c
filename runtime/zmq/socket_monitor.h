// SocketMonitor: what libzmq's I/O threads tell about a socket's connections, read on the loop.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/zmq/zmq_socket.h"

namespace sterna {

/// Destroy it before the socket it watches. The events of one connection arrive in order.
class SocketMonitor {
 public:
  struct Event {
    int kind = 0;             ///< ZMQ_EVENT_...
    std::uint32_t value = 0;  ///< a descriptor, an errno or a status, see zmq_socket_monitor(3)
    std::string endpoint;     ///< the address dialled; of a bound socket, its own
  };

  SocketMonitor() = default;
  ~SocketMonitor();
  SocketMonitor(const SocketMonitor&) = delete;
  SocketMonitor& operator=(const SocketMonitor&) = delete;

  /// Before the socket binds or connects. `name` is unique within the context.
  Result<void> start(const ZmqContext& context, uv_loop_t* loop, const ZmqSocket& socket,
                     const std::string& name, int events);
  /// True if next() may have something; nothing is asked.
  bool maybe() const { return watch_.maybe(); }
  /// The next event, if there is one already.
  bool next(Event& event);

 private:
  const ZmqSocket* watched_ = nullptr;
  ZmqSocket socket_;
  SocketWatch watch_;
};

}  // namespace sterna
