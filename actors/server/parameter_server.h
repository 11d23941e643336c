// ParameterServer: a shard of the parameters as an actor. Gradients in, parameters out.
//
// The loop checks packets, undoes their entropy code and answers; sums, averages and the optimizer
// run on a compute thread, one group of chunks at a time. What a peer does wrong is answered with
// an error and ends its link.
#pragma once

#include <memory>
#include <optional>

#include "actors/checkpoint/checkpoint_writer.h"
#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "actors/server/blamed.h"
#include "actors/server/live_shard.h"
#include "actors/server/scaler_board.h"
#include "actors/server/served_shard.h"
#include "actors/server/server_order.h"
#include "actors/server/server_refilling.h"
#include "actors/server/server_trace.h"
#include "runtime/actor/byte_window.h"
#include "runtime/actor/process.h"
#include "runtime/cluster/peer.h"

namespace sterna::actors {

class ParameterServer : public Actor<ParameterServerInterface> {
 public:
  /// `served`: what a worker of this process may do beside asking; null: nothing.
  explicit ParameterServer(ServerArgs args, Finder finder = find_any,
                           std::shared_ptr<ServedShard> served = nullptr);
  ~ParameterServer() override;
  ParameterServer(const ParameterServer&) = delete;
  ParameterServer& operator=(const ParameterServer&) = delete;

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
  Task<Result<ChunkCopy>> on(CopyChunk question);
  Task<Result<BoardCopy>> on(CopyBoard question);
  Task<Result<PushReply>> on(Forward forward);
  KeepAnswer on(KeepVersion keep);
  Task<Result<CopyKept>> on(KeepCopy what);

 protected:
  void started() override;

 private:
  Task<Result<void>> prepare();
  /// What `shard` goes on from, where the job does.
  Task<Result<void>> restore(Shard& shard);
  /// It is in the place of a lost one, and has not got all of its state yet.
  bool refilling() const { return refilling_ && !filled_; }
  /// And does not know yet of which steps it hears, but will.
  bool enlisting() const { return refilling() && !order_ && !refilling_->hears_from(); }
  static Error not_yet() { return {Errc::not_found, "it has not got its state yet"}; }
  /// Writes this server's part of a checkpoint, where all chunks have come to it.
  void write_kept();
  /// What [init] takes from a file.
  Task<Result<void>> load(std::shared_ptr<Shard> shard);
  Task<Result<void>> find_observer();
  /// Tells the observer whether updates wait for the evaluator, where that has changed.
  void report_waiting();
  /// Tells it, once, that a server in the place of a lost one has all that one had.
  void report_whole();
  /// Waits until prepare() is done.
  Task<void> prepared();
  Result<void> may_pull(ActorId sender, std::size_t chunks) const;
  /// The evaluator, or an actor of this process.
  bool is_evaluator(ActorId sender) const;
  Result<void> may_speak(ActorId sender, std::uint32_t rank, std::uint64_t incarnation) const;
  template <class T>
  Result<T> blamed(ActorId sender, Result<T> result) {
    return actors::blamed(process(), sender, std::move(result));
  }

  /// Of `served`.
  void lend_shard();

  // ---- for the other of a pair, or beside it (server_partner.cc) ----
  Result<void> from_partner(ActorId sender) const;
  /// What is known of the evaluator.
  Handover handover() const;
  /// Waits until what is said of its versions and scalers is not ahead of them.
  Task<void> no_longer_early(const Push& push);

  ServerArgs args_;
  Finder finder_;
  std::shared_ptr<ServedShard> served_;
  std::optional<Peer<Observer>> observer_;
  bool observed_ = false;      // the observer has been found
  bool said_to_wait_ = false;  // of updates, to it
  ServerTrace trace_;
  LiveShard shard_;
  std::optional<ScalerBoard> scalers_;
  Condition agreed_;
  Condition prepared_;
  Concluded concluded_;                       // the newest
  bool filled_ = false;                       // the shard has its state
  std::optional<ServerRefilling> refilling_;  // in the place of a lost one, from its partner
  bool recovers_ = false;                     // or from the workers
  bool said_whole_ = false;
  std::optional<ServerOrder> order_;  // of a pair of which one decides it; from started() on
  std::optional<CheckpointWriter> checkpoints_;  // from started() on
};

}  // namespace sterna::actors
