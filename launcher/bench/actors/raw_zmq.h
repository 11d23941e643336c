// The yardstick: what ZeroMQ alone does. DEALER to ROUTER, blocking, one frame each way.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "launcher/bench/actors/messages.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

constexpr std::size_t kEchoBytes = 64;

/// A ROUTER in a thread of its own that sends every message back to its sender.
class RawEchoServer {
 public:
  static Result<std::unique_ptr<RawEchoServer>> start(const std::string& endpoint, bool curve);
  RawEchoServer(const RawEchoServer&) = delete;
  RawEchoServer& operator=(const RawEchoServer&) = delete;
  ~RawEchoServer();
  const Serving& serving() const { return serving_; }

 private:
  RawEchoServer() = default;
  void serve();
  void* context_ = nullptr;
  void* socket_ = nullptr;
  Serving serving_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

/// Exchanges with the servers round robin, `window` in flight together. Blocks.
Result<Rate> drive_raw(const DriveRaw& drive);

}  // namespace sterna::launcher
