#include "runtime/zmq/zmq_socket.h"

#include <array>
#include <cassert>
#include <cerrno>

namespace sterna {

Error zmq_error(std::string_view what) {
  return {Errc::io, std::string(what) + ": " + zmq_strerror(zmq_errno())};
}

ZmqContext::ZmqContext(int io_threads) : context_(zmq_ctx_new()) {
  zmq_ctx_set(context_, ZMQ_IO_THREADS, io_threads);
}

ZmqContext::~ZmqContext() {
  while (zmq_ctx_term(context_) != 0 && zmq_errno() == EINTR) {
  }
}

ZmqSocket::~ZmqSocket() {
  if (socket_ != nullptr) zmq_close(socket_);
}

Result<ZmqSocket> ZmqSocket::open(const ZmqContext& context, int type) {
  void* socket = zmq_socket(context.get(), type);
  if (socket == nullptr) return zmq_error("cannot open a ZeroMQ socket");
  return ZmqSocket(socket);
}

namespace {

Result<void> set_option(void* socket, int option, const void* value, std::size_t size) {
  if (zmq_setsockopt(socket, option, value, size) == 0) return {};
  return zmq_error("ZeroMQ option " + std::to_string(option));
}

}  // namespace

Result<void> ZmqSocket::set(int option, int value) {
  return set_option(socket_, option, &value, sizeof value);
}
Result<void> ZmqSocket::set(int option, std::int64_t value) {
  return set_option(socket_, option, &value, sizeof value);
}
Result<void> ZmqSocket::set(int option, std::uint64_t value) {
  return set_option(socket_, option, &value, sizeof value);
}
Result<void> ZmqSocket::set(int option, std::string_view value) {
  return set_option(socket_, option, value.data(), value.size());
}

Result<void> ZmqSocket::bind(const std::string& endpoint) {
  if (zmq_bind(socket_, endpoint.c_str()) == 0) return {};
  Error error = zmq_error("cannot listen at " + endpoint);
  if (zmq_errno() == EADDRINUSE) error.code = Errc::already_exists;
  return error;
}

Result<void> ZmqSocket::connect(const std::string& endpoint) {
  if (zmq_connect(socket_, endpoint.c_str()) == 0) return {};
  return zmq_error("cannot connect to " + endpoint);
}

std::string ZmqSocket::last_endpoint() const {
  std::array<char, 256> text{};
  std::size_t size = text.size();
  zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, text.data(), &size);
  return text.data();
}

int ZmqSocket::descriptor() const {
  int fd = -1;
  std::size_t size = sizeof fd;
  zmq_getsockopt(socket_, ZMQ_FD, &fd, &size);
  return fd;
}

int ZmqSocket::events() const {
  int events = 0;
  std::size_t size = sizeof events;
  while (zmq_getsockopt(socket_, ZMQ_EVENTS, &events, &size) != 0 && zmq_errno() == EINTR) {
  }
  return events;
}

SocketWatch::~SocketWatch() {
  if (poll_ == nullptr) return;
  // libuv forgets the descriptor now and frees the handle in its next iteration.
  uv_close(reinterpret_cast<uv_handle_t*>(poll_),
           [](uv_handle_t* handle) { delete reinterpret_cast<uv_poll_t*>(handle); });
}

Result<void> SocketWatch::start(uv_loop_t* loop, const ZmqSocket& socket) {
  assert(poll_ == nullptr);
  socket_ = &socket;
  auto* poll = new uv_poll_t;
  const int rc = uv_poll_init(loop, poll, socket.descriptor());
  if (rc != 0) {
    delete poll;
    return Error{Errc::io, std::string("cannot watch a ZeroMQ socket: ") + uv_strerror(rc)};
  }
  poll_ = poll;
  poll_->data = this;
  uv_poll_start(poll_, UV_READABLE, [](uv_poll_t* handle, int, int) {
    static_cast<SocketWatch*>(handle->data)->maybe_ = true;
  });
  return {};
}

bool SocketWatch::readable() {
  if (!maybe_) return false;
  maybe_ = (socket_->events() & ZMQ_POLLIN) != 0;
  return maybe_;
}

}  // namespace sterna
