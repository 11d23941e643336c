// GradientPushes: what a worker's ranks tell the servers of their steps, until all of it has its
// answer: scalers that they offer, and packets of their gradients. Both servers of a shard hear it,
// or the one that leads.
//
// Of a server that has no partner and may come again in the place of a lost one, what it was told
// is kept as long as that one may lack it, and told again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "actors/job/messages.h"
#include "actors/job/observer.h"
#include "actors/server/shard_servers.h"
#include "actors/worker/worker_context.h"
#include "runtime/actor/future.h"

namespace sterna::actors {

/// What has become of one rank's pushes.
struct RankPushes {
  std::uint64_t made = 0;               ///< all packets of the steps before it
  std::size_t unanswered = 0;           ///< pushes
  std::vector<Packet> dropped;          ///< that are to be given back, where such are kept
  std::vector<std::uint32_t> repeated;  ///< chunks that had its push already
  Condition answered;                   ///< a push, or what else the rank waits for beside it
};

class GradientPushes {
 public:
  using OnAgreed = std::function<void(const Agreed& agreed)>;

  /// `servers` stay as long as this does. `answered`: a push has its answer, and nothing of it is
  /// left to do.
  GradientPushes(const WorkerContext& context, std::deque<ShardServers>& servers,
                 std::function<void()> answered)
      : context_(context), servers_(servers), on_answered_(std::move(answered)) {}

  /// Once for each rank: its first push.
  void begin(std::uint32_t rank, std::uint64_t first) { ranks_[rank].made = first; }
  RankPushes& of(std::uint32_t rank) { return ranks_.at(rank); }

  /// Has scalers of the push `step` agreed. Where there are two servers the first answer counts.
  Task<Result<void>> agree(std::uint64_t step, std::uint32_t shard, Offer offer, OnAgreed agreed);
  /// Packets of one shard.
  void push(std::uint32_t rank, std::uint64_t step, std::uint32_t shard,
            std::vector<Packet> packets);
  /// All packets of the rank's step are made.
  void made(std::uint32_t rank, std::uint64_t step);
  /// Until they are.
  Task<void> until_made(std::uint32_t rank, std::uint64_t step);
  /// Every server has all packets of all ranks of the steps before `step`, where it would matter:
  /// no worker in this one's place begins earlier.
  Task<void> all_pushed(std::uint64_t step);

  /// What the lost server of that shard was told, of which nothing has come that was made of it, to
  /// the one that is asked in its place, which is `next`: once.
  void tell_again(std::uint32_t shard, ProcessId next);
  /// All of this version is here: nobody will ask for what led to it.
  void forget_before(std::uint64_t version);

  /// Pushes without an answer.
  std::size_t unanswered() const { return unanswered_; }
  /// What was pushed so far, and what of it was late or stale.
  const Traffic& traffic() const { return traffic_; }

 private:
  /// Of an offer that is made to several servers.
  struct Agreement {
    std::size_t waiting = 0;  ///< of these
    OnAgreed agreed;          ///< null: it has been told
  };
  /// What a server was told of a step: where it is lost the next one wants it again.
  template <class M>
  struct Told {
    std::uint32_t shard = 0;
    M message;
  };
  bool in_step() const { return context_.policy.in_step(); }
  bool paired() const { return servers_.front().paired(); }
  Task<Result<void>> agree_with(ShardServers& servers, ShardServers::Member& server, Offer offer,
                                std::shared_ptr<Agreement> all);
  Task<Result<void>> send(ShardServers& servers, ShardServers::Member& server, Push push);
  Result<void> take_verdicts(RankPushes& rank, const PushReply& reply,
                             const std::vector<std::uint32_t>& chunks, std::vector<Packet> kept);
  void count_staleness(const PushReply& reply);
  /// A push or an offer of that step has its answer, or never will have one.
  void no_longer_under_way(std::uint64_t step);
  template <class M>
  Task<Result<void>> tell_again(std::uint32_t shard, M message, std::uint64_t bytes);

  const WorkerContext& context_;
  std::deque<ShardServers>& servers_;
  std::function<void()> on_answered_;
  std::map<std::uint32_t, RankPushes> ranks_;
  std::size_t unanswered_ = 0;
  std::map<std::uint64_t, std::size_t> under_way_;  // without an answer, by step
  Condition pushed_;  // one of them has its answer, or all of a rank's step are made
  std::deque<Told<Push>> told_pushes_;
  std::deque<Told<Offer>> told_offers_;
  std::map<std::uint32_t, ProcessId> told_again_;  // by shard: whom
  Traffic traffic_;
};

}  // namespace sterna::actors
