#include "launcher/record/state_holders.h"

namespace sterna::launcher {

StateHolders::StateHolders(const ClusterFile& file, bool servers_come_again) {
  for (const ActorPlan& actor : file.actors) {
    if (!actor.partner.empty()) holders_[actor.name].from = {actor.partner};
    if (actor.role != Role::kParameterServer || !actor.partner.empty()) continue;
    for (const ActorPlan& worker : file.actors) {
      if (!servers_come_again || worker.role != Role::kWorker) continue;
      holders_[actor.name].from.push_back(worker.name);
      holders_[worker.name].from.push_back(actor.name);
    }
  }
}

std::string StateHolders::lost(const PeerIdentity& actor) {
  const auto found = holders_.find(actor.name);
  if (found == holders_.end() || actor.incarnation <= found->second.lost) return "";
  Holder& holder = found->second;
  holder.lost = actor.incarnation;
  holder.whole = false;
  for (const std::string& other : holder.from) {
    if (!holders_.at(other).whole) return other;
  }
  return "";
}

bool StateHolders::whole(const PeerIdentity& actor) {
  const auto found = holders_.find(actor.name);
  if (found == holders_.end() || actor.incarnation <= found->second.lost) return false;
  found->second.whole = true;
  return true;
}

}  // namespace sterna::launcher
