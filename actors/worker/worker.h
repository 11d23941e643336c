// Worker: one or several ranks. Asks for batches ahead, computes, pushes gradients while earlier
// layers still compute, and takes the next parameters chunk by chunk as the servers make them: the
// next forward pass begins with the first layers that have theirs. What a step needs and what is
// pushed of it are the scheme's. Where all ranks are in step they take turns on as many replicas of
// the net as there are cores; else each has its own. With gradient.host = "average" the first of
// them pushes for all (RanksAverage).
//
// It takes the ranks through their steps, from where RanksBeginning says. What goes out and comes
// in is its parts', each with a state and a protocol of its own: BatchesAhead, GradientPushes,
// ParameterPulls, and among devices ExchangedVersions; what error feedback keeps is KeptResiduals'.
//
// Any question that ends without its answer ends the worker, with a cause that names the step and
// whom it asked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint_writer.h"
#include "actors/checkpoint/kept_version.h"
#include "actors/codecs/buffer_pool.h"
#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "actors/job/open_device.h"
#include "actors/schemes/scheme.h"
#include "actors/server/served_shard.h"
#include "actors/server/shard_servers.h"
#include "actors/worker/batches_ahead.h"
#include "actors/worker/exchanged_versions.h"
#include "actors/worker/gradient_pushes.h"
#include "actors/worker/kept_residuals.h"
#include "actors/worker/parameter_pulls.h"
#include "actors/worker/progress_meter.h"
#include "actors/worker/ranks/incoming_version.h"
#include "actors/worker/ranks/rank_net.h"
#include "actors/worker/ranks/replica.h"
#include "actors/worker/ranks_average.h"
#include "actors/worker/ranks_beginning.h"
#include "actors/worker/worker_context.h"
#include "actors/worker/worker_trace.h"
#include "runtime/actor/process.h"
#include "runtime/cluster/peer.h"
#include "runtime/host/usable_cores.h"

namespace sterna::actors {

class Worker final : public Actor<WorkerInterface> {
 public:
  using Devices = std::vector<std::shared_ptr<kernels::Device>>;

  /// `cores`: replicas that compute side by side on the CPU. `devices`: what the worker computes
  /// on, rank i of its own on device i mod their number; none: what its backend names. `served`:
  /// what it has where it has no servers; null: it has.
  explicit Worker(WorkerArgs args, Finder finder = find_any, std::uint32_t cores = usable_cores(),
                  Devices devices = {}, std::shared_ptr<ServedShard> served = nullptr)
      : args_(std::move(args)),
        finder_(std::move(finder)),
        cores_(cores),
        devices_(std::move(devices)),
        served_(std::move(served)),
        kept_(args_.job, args_.ranks / args_.job.averaged_ranks),
        meter_(args_) {}

  KeepAnswer on(KeepVersion keep);
  Task<Result<CopyKept>> on(KeepCopy what);
  Task<Result<Enlisted>> on(Enlist);
  Task<Result<Held>> on(ShowHeld);
  Task<Result<ChunkCopy>> on(CopyChunk question);
  /// Of several the first.
  Result<void> suffer_device_fault() override {
    return fail_soon(args_.backend, devices_.empty() ? nullptr : devices_.front());
  }

 private:
  using SharedBatch = std::shared_ptr<const Batch>;
  struct Rank;
  /// A replica and the ranks that take turns on it.
  struct Seat {
    std::shared_ptr<Replica> replica;
    std::optional<IncomingVersion> incoming;
    std::vector<Rank*> ranks;
    /// Whose turn is next.
    Rank& after(const Rank& rank) const {
      return last(rank) ? *ranks.front() : **(std::ranges::find(ranks, &rank) + 1);
    }
    bool first(const Rank& rank) const { return ranks.front() == &rank; }
    bool last(const Rank& rank) const { return ranks.back() == &rank; }
  };
  struct Rank {
    std::uint32_t rank = 0;
    Seat* seat = nullptr;
    std::shared_ptr<RankNet> net;
    std::uint64_t step = 0;  // that it is in: enter()
    /// What its next turn computes on, where the turn before began to take it: stage_next().
    std::optional<Task<Result<SharedBatch>>> staging;
    Condition agreed;                // shared scalers have come
    std::uint64_t agreements = 0;    // how often
    bool encoding = false;           // what it held of its last step
    Condition encoded;               // no longer
    GradientEncoder::Counts counts;  // of the steps that are done
    RankTrace trace;
    // Where it exchanges by itself:
    std::uint64_t version = 0;  // the oldest that its replica has of a chunk
    std::uint64_t kept = 0;     // of versions up to this one all that is to be kept
    RankPull pull;
    std::uint64_t slots_begin = 0;  // as RankStep's
  };

  void started() override;
  Task<Result<void>> train();
  /// The readers; servers and the observer are there then, too.
  Task<Result<BatchesAhead::Readers>> find_everyone();
  /// What the parts of this worker are given of it, once there is a policy.
  void make_parts(BatchesAhead::Readers readers);
  /// In the place of a worker that was lost: from then on this one is as of a job that begins where
  /// its ranks go on; or each goes on at the push that is next of it.
  Task<Result<void>> rejoin();
  /// Whether it goes on in step in the place of a lost one.
  bool rejoins() const { return identity().incarnation > 1 && args_.job.in_step(); }
  /// The shard of a server without a partner, which has come in the place of a lost one
  /// (worker_recovery.cc). Errors: those of who is none, or of a job that knows none; to blame.
  Result<std::uint32_t> shard_of_next(ActorId sender) const;
  /// Nothing comes from a lost server of that shard any more; what is asked and told goes to
  /// `next`.
  Task<Result<void>> leave_lost(std::uint32_t shard, ActorId next);
  /// What the rank's first step adds. Errors: as KeptResiduals::go_on().
  Result<Residuals> residuals_of(std::uint32_t rank);
  /// Gives ranks the scalers of the step before the first, in a job that uses those.
  Task<Result<void>> recall_scalers();
  /// Nets on which its ranks take turns.
  std::uint32_t replicas() const;
  Task<Result<void>> make_replicas();
  Task<Result<void>> make_seats();
  /// Lets go of what was made on the devices, and says what would have fitted (memory_error()).
  Task<Error> lack_of_memory(Error refused);
  /// Whether each device has all ranks' packets, and steps by itself (exchanged_versions.h).
  bool exchanges() const { return served_ != nullptr && !devices_.empty(); }
  /// Errors: unavailable, where NCCL is missing that has to move what the devices have.
  Task<Result<void>> begin_exchanging();
  /// Calls what makes something: where ranks compute on devices on a compute thread, as memory of
  /// theirs takes its time.
  template <class Make>
  Task<std::invoke_result_t<Make>> make_there(Make make) {
    if (devices_.empty()) co_return make();
    auto making = compute(std::move(make));
    co_return co_await making;
  }
  Task<Result<void>> make_ranks(Seat& seat, std::vector<std::uint32_t> numbers);
  Task<Result<std::shared_ptr<RankNet>>> make_net(Rank& rank, bool shares);
  /// Where what the rank encodes goes to.
  GradientEncoder::Events events_of(Rank& rank);
  /// Whether the worker's ranks push one average, and of those whether this one pushes it.
  bool averages() const { return args_.job.averaged_ranks > 1; }
  bool pushes(const Rank& rank) const { return args_.job.pushes(rank.rank); }
  Task<Result<std::shared_ptr<RankNet>>> make_averaged_net(Rank& rank);
  /// The sum of all ranks' gradients, with the encoder of this one, which pushes it.
  Task<Result<std::shared_ptr<HostAverage>>> make_average(const Rank& rank,
                                                          GradientEncoder::Events events);
  /// Whether a backward pass goes on whose gradients this rank pushes.
  bool computing(const Rank& rank) const;
  /// What the ranks go on from, where the job does (worker_state.cc).
  Task<Result<void>> restore();
  Task<Result<void>> restore_slots(Seat& seat);
  Task<Result<void>> restore_rank(Rank& rank);
  /// Adds the rank's state to what is kept of `version`, where it is to be kept.
  Task<void> keep_state(const Rank& rank, std::uint64_t version);
  /// The same, where it exchanges by itself, of all versions that it has come past.
  Task<void> keep_passed(Rank& rank);
  /// Ranks that are in step with all others, turn by turn.
  Task<Result<void>> train_seat(Seat& seat);
  Task<Result<void>> take_turn(Rank& rank, std::uint64_t step);
  static void enter(Rank& rank, std::uint64_t step);
  Task<void> end_of_steps(Rank& rank);
  /// The same where it exchanges by itself, at its own pace (worker_apart.cc).
  Task<Result<void>> train_apart(Rank& rank);
  /// Its next parameters, which have all of its pushes before `push`; and what became of those.
  Task<Result<void>> pull_newest(Rank& rank, std::uint64_t push);
  /// All that was pushed has its verdict.
  Result<void> take_back_dropped(Rank& rank, std::uint64_t push);
  Task<void> injected_delay(Rank& rank);
  /// What the rank's turn computes on.
  Task<Result<SharedBatch>> take_batch(Rank& rank, std::uint64_t step);
  /// In a turn on a device, after its forward(): begins to take what the next turn there computes
  /// on, whose images travel as soon as they have come, beside this turn's passes.
  void stage_next(const Rank& rank, std::uint64_t step);
  Task<Result<SharedBatch>> stage(Rank& rank, std::uint64_t step);
  /// The forward pass, begun with the first tensors that have come.
  Task<Result<void>> forward(Rank& rank, std::uint64_t step, SharedBatch batch);
  /// The backward pass. What waits for shared scalers then is still to be encoded. The loss.
  Task<Result<nets::Net::Loss>> backward(Rank& rank, RankStep step);
  /// Until the last packet of its last backward pass is on its way.
  Task<Result<void>> encode_held(Rank& rank);
  /// The same, beside the turns of others, and the step is done.
  Task<Result<void>> finish_turn(Rank& rank, std::uint64_t step, nets::Net::Loss loss);

  /// What comes to each replica.
  std::vector<IncomingVersion*> incoming();
  /// Asks each server whether the rank's parameters are what its own are, where the scheme says so.
  Task<Result<void>> compare(const Rank& rank, std::uint64_t step);
  Task<Result<void>> compare_at(std::uint32_t shard, std::uint32_t rank, Compare compare);

  // ---- gradients up ----
  Task<Result<void>> agree(Rank& rank, std::uint64_t step, std::uint32_t shard,
                           std::vector<Offer::OwnScaler> scalers);
  void push(Rank& rank, std::uint64_t step, std::uint32_t shard, std::vector<Packet> packets);
  /// Tells the observer, unless it is still busy with the last.
  void tell(Watched step);
  Task<void> tell_observer(Watched step);
  void step_done(std::uint64_t step, Rank& rank, const nets::Net::Loss& loss);
  /// Logs what was allocated on devices, and that nothing was in its steps.
  void log_allocations();
  /// Says that this worker is done, if it is: nothing it has sent waits for its answer.
  void finish();
  Traffic traffic() const;
  std::vector<TensorTotals> totals() const;

  WorkerArgs args_;
  /// Of one that rejoins: seats in the first step, whose next version may be there before it is
  /// due: what the lost worker had pushed counts.
  std::size_t in_first_step_ = 0;
  Finder finder_;
  std::uint32_t cores_;
  Devices devices_;                                  // none: the CPU
  std::vector<kernels::DeviceAllocations> planned_;  // on each, before the first step
  std::shared_ptr<ServedShard> served_;              // null: there are servers
  std::unique_ptr<WorkerPolicy> policy_;
  std::deque<ShardServers> servers_;
  std::optional<RanksBeginning> beginning_;  // once there are servers
  std::optional<std::uint64_t> begins_at_;   // nothing is pushed of earlier steps; once it is known
  Condition begins_;
  std::optional<Peer<Observer>> observer_;
  std::shared_ptr<const ParameterTable> table_;
  std::shared_ptr<BufferPool> pool_ = std::make_shared<BufferPool>();
  std::optional<WorkerContext> context_;
  std::optional<BatchesAhead> batches_;
  std::optional<GradientPushes> pushes_;
  std::optional<ParameterPulls> pulls_;     // once there is a table
  std::optional<KeptResiduals> residuals_;  // likewise
  std::deque<Seat> seats_;                  // deques: conditions do not move
  std::deque<Rank> ranks_;
  std::optional<ExchangedVersions> exchanged_;  // ends before the replicas
  std::optional<RanksAverage> average_;         // where the ranks push one
  std::size_t unacknowledged_ = 0;              // of what is told besides pushes
  Condition table_made_;
  Condition wrote_;                              // chunks have been written
  std::optional<CheckpointWriter> checkpoints_;  // from started() on
  /// Where what a rank has by itself is gathered: here, or with what servers would have.
  KeptVersion& kept() {
    return served_ != nullptr && served_->shard != nullptr ? served_->shard->kept() : kept_;
  }

  KeptVersion kept_;
  ProgressMeter meter_;
  std::uint64_t early_bytes_ = 0;  // Traffic::bytes_before_backward_ended
  WorkerTrace trace_;
  bool telling_watched_ = false;
  std::uint64_t lost_watched_ = 0;  // steps
};

}  // namespace sterna::actors
