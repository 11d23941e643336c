// The actors of `sterna bench actors`: an echo, and a peer that drives echoes and raw sockets.
#pragma once

#include <memory>

#include "launcher/bench/actors/messages.h"
#include "launcher/bench/actors/raw_zmq.h"
#include "runtime/actor/actor.h"
#include "runtime/actor/process.h"
#include "runtime/actor/registry.h"

namespace sterna::launcher {

class EchoActor final : public Actor<EchoInterface> {
 public:
  EchoActor() = default;
  explicit EchoActor(NoArgs) {}
  Echo on(Echo echo) { return echo; }
};

class BenchPeerActor final : public Actor<BenchPeer> {
 public:
  BenchPeerActor() = default;
  explicit BenchPeerActor(NoArgs) {}
  Task<Result<Rate>> on(Drive drive);
  Task<Result<Rate>> on(DriveRaw drive);
  Result<Serving> on(ServeRaw serve);
  void on(StopRaw) { server_.reset(); }

 private:
  struct Driving;
  Task<void> ask_on(std::shared_ptr<Driving> driving, ActorRef<EchoInterface> target);
  std::unique_ptr<RawEchoServer> server_;
};

void register_bench_actors(Registry& registry);

}  // namespace sterna::launcher
