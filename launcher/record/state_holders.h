// StateHolders: whose state an actor that was lost gets again, and from whom: a server from its
// partner, or from the workers where servers come again without one, and a worker from servers.
// Where one of those has not got its own again, it may be gone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::launcher {

class StateHolders {
 public:
  /// `servers_come_again`: those without partners (JobConfig::servers_come_again()).
  StateHolders(const ClusterFile& file, bool servers_come_again);

  /// That actor was lost, and comes again. Whether its state is lost, too: who would give it that,
  /// which this returns, has not got its own again. Empty: nothing is lost, nobody gives it any, or
  /// that was known.
  std::string lost(const PeerIdentity& actor);
  /// It has its state again. False: it is lost by now, or none of these.
  bool whole(const PeerIdentity& actor);

 private:
  struct Holder {
    std::vector<std::string> from;
    std::uint64_t lost = 0;  ///< incarnations, that are known
    bool whole = true;
  };
  std::map<std::string, Holder> holders_;
};

}  // namespace sterna::launcher
