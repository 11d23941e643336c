#include "launcher/record/actor_places.h"

#include <algorithm>
#include <utility>

#include "launcher/hosts/host_plan.h"

namespace sterna::launcher {

ActorPlaces::ActorPlaces(const ClusterFile& file, NodeOf node_of)
    : file_(file), node_of_(std::move(node_of)) {}

void ActorPlaces::moves(const std::string& actor, const std::string& host) {
  moved_to_[actor] = host;
}

std::string ActorPlaces::host_of(const ActorPlan& actor) const {
  const auto moved = moved_to_.find(actor.name);
  return moved != moved_to_.end() ? moved->second : actor.host;
}

std::optional<ProcessId> ActorPlaces::node_elsewhere(const std::string& actor) const {
  const auto plan = std::ranges::find(file_.actors, actor, &ActorPlan::name);
  if (plan == file_.actors.end()) return std::nullopt;
  const std::string name = host_of(*plan);
  const auto host = std::ranges::find(file_.hosts, name, &HostSection::name);
  const bool here =
      host == file_.hosts.end() || !is_remote(file_, *host) || &*host == head_of(file_);
  return here ? std::nullopt : node_of_(name);
}

std::vector<actors::CopyPlace> ActorPlaces::copy_places() const {
  std::vector<actors::CopyPlace> places;
  const std::vector<std::string> servers = file_.names_of_servers();
  for (const bool is_server : {true, false}) {
    for (const ActorPlan& actor : file_.actors) {
      const bool trains = actor.role == Role::kParameterServer || actor.role == Role::kWorker;
      const bool serves =
          actor.role == Role::kParameterServer || std::ranges::count(servers, actor.name) > 0;
      if (!trains || serves != is_server || !node_elsewhere(actor.name)) continue;
      places.push_back({actor.name, host_of(actor), is_server});
    }
  }
  return places;
}

}  // namespace sterna::launcher
