// ZapHandler: answers libzmq's question whether a connection may be (ZAP, rfc.zeromq.org/spec/27).
//
// It must be bound before any other socket of the context binds: without a handler libzmq lets
// unknown keys in. A User-Id that it answers is stamped on every frame of the connection.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/zmq/admissions.h"
#include "runtime/zmq/zmq_socket.h"

namespace sterna {

class ZapHandler {
 public:
  /// Told about a denial: the peer's address (may be empty), whom it claimed to be, and why not.
  using Denied = std::function<void(std::string_view address, std::string_view claimed,
                                    std::string_view reason)>;
  /// The domain that every socket of the context must set.
  static constexpr const char* kDomain = "sterna";

  ZapHandler(const Admissions& admissions, Denied denied)
      : admissions_(admissions), denied_(std::move(denied)) {}

  Result<void> start(const ZmqContext& context, uv_loop_t* loop);
  /// Answers what has been asked.
  void turn();
  bool ready() { return watch_.readable(); }

 private:
  bool answer_one();
  Result<PeerIdentity> judge(std::string_view mechanism, std::string_view first,
                             std::string_view second) const;

  const Admissions& admissions_;
  Denied denied_;
  ZmqSocket socket_;
  SocketWatch watch_;
};

}  // namespace sterna
