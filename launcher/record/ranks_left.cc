#include "launcher/record/ranks_left.h"

#include <fmt/format.h>

#include "runtime/cluster/process_control.h"

namespace sterna::launcher {

RanksLeft::RanksLeft(const ClusterFile& file) : quorum_(file.scheme.quorum) {
  if (file.cluster.lost_host != "quorum") return;
  for (const ActorPlan& actor : file.actors) {
    if (actor.role == Role::kWorker) ranks_[actor.name].ranks = actor.ranks;
  }
  all_ = left();
}

bool RanksLeft::goes_on_without(ProcessDown& down) {
  const auto found = ranks_.find(down.identity.name);
  if (found == ranks_.end() || !(is_loss(down) || down.unreached)) return false;
  found->second.lost = true;
  if (left() >= quorum_) return true;
  down.cause += "; " + in_words();
  down.consequence = false;
  return false;
}

std::uint64_t RanksLeft::left() const {
  std::uint64_t left = 0;
  for (const auto& [name, worker] : ranks_) left += worker.lost ? 0 : worker.ranks;
  return left;
}

std::string RanksLeft::in_words() const {
  return fmt::format("{} of {} ranks are left, and a version takes {}", left(), all_, quorum_);
}

}  // namespace sterna::launcher
