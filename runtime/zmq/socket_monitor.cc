#include "runtime/zmq/socket_monitor.h"

#include <cerrno>
#include <cstring>

namespace sterna {
namespace {

/// One received frame.
class Frame {
 public:
  Frame() { zmq_msg_init(&message_); }
  ~Frame() { zmq_msg_close(&message_); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  bool receive(const ZmqSocket& socket) {
    int rc = -1;
    do {
      rc = zmq_msg_recv(&message_, socket.get(), ZMQ_DONTWAIT);
    } while (rc < 0 && zmq_errno() == EINTR);
    return rc >= 0;
  }
  const char* data() { return static_cast<const char*>(zmq_msg_data(&message_)); }
  std::size_t size() { return zmq_msg_size(&message_); }

 private:
  zmq_msg_t message_;
};

}  // namespace

SocketMonitor::~SocketMonitor() {
  if (watched_ != nullptr) zmq_socket_monitor(watched_->get(), nullptr, 0);
}

Result<void> SocketMonitor::start(const ZmqContext& context, uv_loop_t* loop,
                                  const ZmqSocket& socket, const std::string& name, int events) {
  const std::string endpoint = "inproc://monitor-" + name;
  if (zmq_socket_monitor(socket.get(), endpoint.c_str(), events) != 0) {
    return zmq_error("cannot monitor a ZeroMQ socket");
  }
  watched_ = &socket;
  STERNA_ASSIGN(socket_, ZmqSocket::open(context, ZMQ_PAIR));
  STERNA_TRY(socket_.set(ZMQ_LINGER, 0));
  // Unbounded, because a full queue would stop the I/O thread; it is emptied every turn.
  STERNA_TRY(socket_.set(ZMQ_RCVHWM, 0));
  STERNA_TRY(socket_.connect(endpoint));
  return watch_.start(loop, socket_);
}

bool SocketMonitor::next(Event& event) {
  Frame header;
  if (!header.receive(socket_)) {
    watch_.rest();
    return false;
  }
  Frame address;
  std::uint16_t kind = 0;
  if (!address.receive(socket_) || header.size() != sizeof kind + sizeof event.value) return false;
  std::memcpy(&kind, header.data(), sizeof kind);
  std::memcpy(&event.value, header.data() + sizeof kind, sizeof event.value);
  event.kind = kind;
  event.endpoint.assign(address.data(), address.size());
  return true;
}

}  // namespace sterna
