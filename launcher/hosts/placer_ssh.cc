// placer = "ssh": a host with an ssh gets its node agent over ssh, any other is this machine.
#include "launcher/hosts/placer.h"

namespace sterna::launcher {
namespace {

class SshPlacer final : public Placer {
 public:
  std::optional<RemoteHost> way_to(const ClusterFile& file,
                                   const HostSection& host) const override {
    return RemoteHost{ssh_command(host.ssh, file.deadlines.host), true, host.work};
  }
};

}  // namespace

const Placer& ssh_placer() {
  static const SshPlacer placer;
  return placer;
}

}  // namespace sterna::launcher
