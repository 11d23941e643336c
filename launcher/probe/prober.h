// Prober: an actor on a host that tries whether and how fast it reaches the probers of others, and
// how fast its host packs gradients.
#pragma once

#include <vector>

#include "launcher/probe/probe_messages.h"
#include "runtime/actor/process.h"
#include "runtime/actor/registry.h"

namespace sterna::launcher {

/// As files and messages call its type.
inline constexpr const char* kProberType = "prober";

class ProberActor final : public Actor<ProberInterface> {
 public:
  explicit ProberActor(ProberArgs) {}
  void on(Ping) {}
  Loaded on(Load load);
  Task<Result<PeerProbed>> on(ProbePeer probe);
  Task<Result<PortsCounted>> on(CountPorts count);
  Task<Result<LinkProbed>> on(ProbeLink probe);
  Task<Result<CodecsProbed>> on(ProbeCodecs probe);
  void on(Finish) { stop(); }

 private:
  Task<Result<Duration>> round_trip(ActorRef<ProberInterface> peer, std::uint32_t pings,
                                    Duration patience);
  Task<Result<double>> load(ActorRef<ProberInterface> peer, ProbePeer probe);
  Task<Result<double>> exchange(std::vector<ActorRef<ProberInterface>> peers, ProbeLink probe);

  Bytes answer_;  ///< what the last load was answered with
};

void register_prober(Registry& registry);

}  // namespace sterna::launcher
