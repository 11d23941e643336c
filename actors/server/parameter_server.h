// ParameterServer: a shard of the parameters as an actor. Gradients in, parameters out.
//
// The loop checks packets, undoes their entropy code and answers; sums, averages and the optimizer
// run on a compute thread, one group of chunks at a time. What a peer does wrong is answered with
// an error and ends its link.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "actors/server/scaler_board.h"
#include "actors/server/server_trace.h"
#include "actors/server/shard.h"
#include "runtime/actor/process.h"
#include "runtime/cluster/peer.h"

namespace sterna::actors {

class ParameterServer final : public Actor<ParameterServerInterface> {
 public:
  explicit ParameterServer(ServerArgs args, Finder finder = find_any)
      : args_(std::move(args)), finder_(std::move(finder)) {}

  Task<Result<PushReply>> on(Push push);
  Task<Result<Parameters>> on(Pull pull);
  Task<Result<Agreed>> on(Offer offer);
  Task<Result<void>> on(Compare compare);
  Task<Result<Reserved>> on(Reserve reserve);
  void on(Release release);
  void on(Concluded concluded);
  Task<Result<Rejoined>> on(Rejoin rejoin);
  Task<Result<Agreed>> on(RecallScalers recall);
  Task<Result<Handover>> on(TakeOver);
  KeepAnswer on(KeepVersion keep);

 private:
  void started() override;
  Task<Result<void>> prepare();
  /// What `shard` goes on from, where the job does.
  Task<Result<void>> restore(Shard& shard);
  /// Writes this server's part of a checkpoint, where all chunks have come to it.
  void write_kept();
  Task<void> write_part(StatePart part);
  /// What [init] takes from a file.
  Task<Result<void>> load(std::shared_ptr<Shard> shard);
  Task<Result<void>> find_observer();
  Task<void> update();
  /// Tells the observer whether updates wait for the evaluator, where that has changed.
  void report_waiting();
  /// Waits until prepare() is done.
  Task<void> prepared();
  Result<void> may_pull(ActorId sender, std::size_t chunks) const;
  /// The evaluator, or an actor of this process.
  bool is_evaluator(ActorId sender) const;
  Result<void> may_speak(ActorId sender, std::uint32_t rank, std::uint64_t incarnation) const;
  /// The same; for an error its sender is to blame, unless it is not_found: what is over, or gone,
  /// is asked for by who is late, and answered.
  template <class T>
  Result<T> blamed(ActorId sender, Result<T> result);

  ServerArgs args_;
  Finder finder_;
  std::optional<Peer<Observer>> observer_;
  bool observed_ = false;      // the observer has been found
  bool said_to_wait_ = false;  // of updates, to it
  ServerTrace trace_;
  std::optional<Shard> shard_;
  std::optional<ScalerBoard> scalers_;
  Condition agreed_;
  Condition prepared_;
  std::deque<Condition> changed_;  // by chunk: it has a new version
  bool updating_ = false;
  Concluded concluded_;  // the newest
  std::optional<Peer<CheckpointKeeperInterface>> keeper_;
};

}  // namespace sterna::actors
