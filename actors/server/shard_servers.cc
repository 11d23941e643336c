#include "actors/server/shard_servers.h"

namespace sterna::actors {

bool ShardServers::Failures::are_all(std::size_t at, const Error& error, bool other_lost) {
  const Errc code = error.code;
  if (code != Errc::actor_down && code != Errc::not_found) return true;
  codes_[at] = code;
  std::optional<Errc>& other = codes_[1 - at];
  // What the other lacked it may have by now, and where it was lost the next may be there.
  if (code == Errc::actor_down && other == Errc::not_found) other.reset();
  if (other == Errc::actor_down && !other_lost) other.reset();
  return other.has_value();
}

namespace {

/// Of those that have a partner, or have none; null: it is none of them.
ShardServers::Member* server_of(std::deque<ShardServers>& shards, Process& process, ActorId sender,
                                bool paired) {
  const PeerIdentity* peer = process.identity_of(sender.process);
  if (peer == nullptr) return nullptr;
  for (ShardServers& shard : shards) {
    ShardServers::Member* const member = shard.named(peer->name);
    if (member != nullptr && shard.paired() == paired) return member;
  }
  return nullptr;
}

Error blamed(Process& process, ActorId sender, Error wrong) {
  if (process.links() != nullptr) process.links()->blame(sender.process, wrong.message);
  return wrong;
}

}  // namespace

Result<void> is_server(std::deque<ShardServers>& shards, Process& process, ActorId sender) {
  ShardServers::Member* const member = server_of(shards, process, sender, false);
  if (member != nullptr) {
    member->peer.is_at({sender});
    return {};
  }
  return blamed(process, sender,
                {Errc::permission, "only a server without a partner goes on as others have it"});
}

Result<void> enlist(std::deque<ShardServers>& shards, Process& process, ActorId sender,
                    std::uint64_t step) {
  ShardServers::Member* const member = server_of(shards, process, sender, true);
  if (member != nullptr) {
    member->peer.is_at({sender});
    member->first_step = step;
    return {};
  }
  return blamed(process, sender,
                {Errc::permission, "only a server that has a partner is told what that is told"});
}

}  // namespace sterna::actors
