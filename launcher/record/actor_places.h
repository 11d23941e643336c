// ActorPlaces: on which machines the actors of a run are, as some move while it goes on.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint/keeper.h"
#include "launcher/cluster_file/cluster_file.h"
#include "runtime/cluster/cluster.h"

namespace sterna::launcher {

class ActorPlaces {
 public:
  using NodeOf = std::function<std::optional<ProcessId>(const std::string& host)>;
  /// `file` outlives it. `node_of`: the node of a host, where one is there.
  ActorPlaces(const ClusterFile& file, NodeOf node_of);

  void moves(const std::string& actor, const std::string& host);
  /// The node of an actor that is on another machine than the head now.
  std::optional<ProcessId> node_elsewhere(const std::string& actor) const;
  /// Who may keep copies of checkpoints, those first that do little else: servers write beside
  /// computing anyway.
  std::vector<actors::CopyPlace> copy_places() const;

 private:
  std::string host_of(const ActorPlan& actor) const;

  const ClusterFile& file_;
  NodeOf node_of_;
  std::map<std::string, std::string> moved_to_;  ///< the hosts of those that did, by actor
};

}  // namespace sterna::launcher
