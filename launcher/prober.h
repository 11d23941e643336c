// Prober: an actor on a host that tries whether and how fast it reaches the probers of others.
#pragma once

#include "launcher/probe_messages.h"
#include "runtime/process.h"
#include "runtime/registry.h"

namespace sterna::launcher {

/// As files and messages call its type.
inline constexpr const char* kProberType = "prober";

class ProberActor final : public Actor<ProberInterface> {
 public:
  explicit ProberActor(ProberArgs) {}
  void on(Ping) {}
  void on(Load) {}
  Task<Result<PeerProbed>> on(ProbePeer probe);
  Task<Result<PortsCounted>> on(CountPorts count);

 private:
  Task<Result<double>> load(ActorRef<ProberInterface> peer, ProbePeer probe);
};

void register_prober(Registry& registry);

}  // namespace sterna::launcher
