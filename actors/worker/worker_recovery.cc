// A worker beside a server without a partner that comes in the place of a lost one: the worker has
// all that the new one needs (JobConfig::servers_come_again(), server_recovery.cc).
#include <algorithm>

#include <fmt/format.h>

#include "actors/worker/worker.h"

namespace sterna::actors {
namespace {

/// Between two looks whether a server is known to be dead.
constexpr Duration kLookAgain = std::chrono::milliseconds(20);

}  // namespace

Result<std::uint32_t> Worker::shard_of_next(ActorId sender) const {
  const PeerIdentity* peer = process().identity_of(sender.process);
  const auto found =
      peer == nullptr ? args_.servers.end() : std::ranges::find(args_.servers, peer->name);
  if (args_.job.servers_come_again() && args_.replicas.empty() && found != args_.servers.end()) {
    return static_cast<std::uint32_t>(found - args_.servers.begin());
  }
  Error wrong{Errc::permission,
              "only a server that comes in the place of a lost one is shown this"};
  process().blame_sender(wrong.message);
  return wrong;
}

Task<Result<Held>> Worker::on(ShowHeld) {
  const ActorId from = sender();
  STERNA_CO_ASSIGN(const std::uint32_t shard, shard_of_next(from));
  // It may wait for that very server itself.
  if (identity().incarnation > 1 && !table_) co_return Held{};
  while (!pulls_) co_await table_made_.wait();
  Task<Result<void>> leaving = leave_lost(shard, from);
  STERNA_CO_TRY(std::move(leaving));
  Held held;
  for (std::uint32_t chunk = 0; chunk < table_->chunks.size(); ++chunk) {
    const bool its = table_->chunks[chunk].shard == shard && !table_->frozen(chunk);
    const std::optional<std::uint64_t> version = pulls_->held(chunk);
    if (its && version) held.chunks.push_back({chunk, *version});
  }
  pushes_->tell_again(shard, from.process);
  co_return held;
}

Task<Result<void>> Worker::leave_lost(std::uint32_t shard, ActorId next) {
  ShardServers& servers = servers_[shard];
  ShardServers::Member& server = servers.members().front();
  const Time give_up = now() + args_.job.deadlines.start;
  // What it has answered may still be on its way.
  while (server.peer.process() != next.process && !process().is_dead(server.peer.process())) {
    if (now() >= give_up) {
      co_return Error{Errc::deadline, "the one before it is not known to be dead"};
    }
    co_await sleep(kLookAgain);
  }
  server.peer.is_at({next});
  co_return {};
}

Task<Result<ChunkCopy>> Worker::on(CopyChunk question) {
  const ActorId from = sender();
  STERNA_CO_ASSIGN(const std::uint32_t shard, shard_of_next(from));
  const std::uint32_t chunk = question.chunk;
  const bool known =
      pulls_ && chunk < table_->chunks.size() && table_->chunks[chunk].shard == shard;
  if (!known || table_->frozen(chunk) || pulls_->held(chunk) != question.from ||
      question.from == 0) {
    co_return Error{Errc::not_found, fmt::format("version {} of chunk {}", question.from, chunk)};
  }
  // What has come is written once the pass that may read the version before is over.
  while (true) {
    for (const Seat& seat : seats_) {
      if (!seat.incoming) continue;  // it is being made
      if (auto copy = seat.incoming->copy(question)) co_return std::move(*copy);
    }
    co_await wrote_.wait();
  }
}

}  // namespace sterna::actors
