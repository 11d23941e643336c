// ZeroMQ handles as C++ owners, and how a libuv loop watches a ZeroMQ socket.
//
// ZMQ_FD is edge-triggered: it speaks once when something changes, and any call on the socket may
// consume that. So the descriptor only says "look", and so does every send; a socket is looked at
// (ZMQ_EVENTS, one system call) only then, and rested only after it said that nothing is left.
#pragma once

#include <uv.h>
#include <zmq.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/result.h"

namespace sterna {

/// The last ZeroMQ error, as an io error about `what`.
Error zmq_error(std::string_view what);

/// A context with one I/O thread per lane (libzmq calls them "ZMQbg/IO/0", "ZMQbg/IO/1").
class ZmqContext {
 public:
  explicit ZmqContext(int io_threads);
  /// Waits for the sockets' linger. Every socket must be closed.
  ~ZmqContext();
  ZmqContext(const ZmqContext&) = delete;
  ZmqContext& operator=(const ZmqContext&) = delete;
  void* get() const { return context_; }

 private:
  void* context_;
};

/// Owns one socket. Used by one thread.
class ZmqSocket {
 public:
  ZmqSocket() = default;
  ZmqSocket(ZmqSocket&& other) noexcept : socket_(std::exchange(other.socket_, nullptr)) {}
  ZmqSocket& operator=(ZmqSocket&& other) noexcept {
    std::swap(socket_, other.socket_);
    return *this;
  }
  ~ZmqSocket();

  static Result<ZmqSocket> open(const ZmqContext& context, int type);
  Result<void> set(int option, int value);
  Result<void> set(int option, std::int64_t value);
  Result<void> set(int option, std::uint64_t value);
  Result<void> set(int option, std::string_view value);
  Result<void> bind(const std::string& endpoint);
  Result<void> connect(const std::string& endpoint);
  std::string last_endpoint() const;
  int descriptor() const;
  /// ZMQ_EVENTS; processes what the I/O threads have to say.
  int events() const;
  void* get() const { return socket_; }

 private:
  explicit ZmqSocket(void* socket) : socket_(socket) {}
  void* socket_ = nullptr;
};

/// Remembers whether a socket must be looked at. Destroy it before its socket.
class SocketWatch {
 public:
  SocketWatch() = default;
  ~SocketWatch();
  SocketWatch(const SocketWatch&) = delete;
  SocketWatch& operator=(const SocketWatch&) = delete;

  Result<void> start(uv_loop_t* loop, const ZmqSocket& socket);
  /// True if there may be something to receive; nothing is asked.
  bool maybe() const { return maybe_; }
  /// Something was sent, so the descriptor's word may have been consumed.
  void touch() { maybe_ = true; }
  /// A receive found nothing.
  void rest() { maybe_ = false; }
  /// Asks the socket if it must be looked at; true if there is something to receive.
  bool readable();

 private:
  const ZmqSocket* socket_ = nullptr;
  uv_poll_t* poll_ = nullptr;
  bool maybe_ = true;  // the first edge may have passed before the watch began
};

}  // namespace sterna
