// Worker: one or several ranks. Asks for batches ahead, computes, pushes gradients while earlier
// layers still compute, and takes the next parameters chunk by chunk as the servers make them: the
// next forward pass begins with the first layers that have theirs. What a step needs and what is
// pushed of it are the scheme's. Where all ranks are in step they take turns on as many replicas of
// the net as there are cores; else each has its own.
//
// Any question that ends without its answer ends the worker, with a cause that names the step and
// whom it asked.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint/kept_version.h"
#include "actors/codecs/buffer_pool.h"
#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "actors/schemes/scheme.h"
#include "actors/worker/progress_meter.h"
#include "actors/worker/rank_net.h"
#include "actors/worker/replica.h"
#include "actors/worker/worker_trace.h"
#include "runtime/actor/byte_window.h"
#include "runtime/actor/process.h"
#include "runtime/cluster/peer.h"
#include "runtime/host/usable_cores.h"

namespace sterna::actors {

class Worker final : public Actor<WorkerInterface> {
 public:
  /// `cores`: replicas that compute side by side.
  explicit Worker(WorkerArgs args, Finder finder = find_any, std::uint32_t cores = usable_cores())
      : args_(std::move(args)),
        finder_(std::move(finder)),
        cores_(cores),
        kept_(args_.job, args_.ranks),
        meter_(args_) {}

  KeepAnswer on(KeepVersion keep);

 private:
  /// Whom it asks, and how much of that may be under way.
  struct Server {
    Server(Peer<ParameterServerInterface> found, const Poster& poster, std::uint64_t most)
        : peer(std::move(found)), up(poster, most), down(poster, most) {}
    Peer<ParameterServerInterface> peer;
    ByteWindow up, down;
    std::uint64_t in_flight = 0;  // bytes of pushes without an answer
  };
  struct Reader {
    Reader(Peer<InputReaderInterface> found, const Poster& poster, std::uint64_t most)
        : peer(std::move(found)), down(poster, most) {}
    Peer<InputReaderInterface> peer;
    ByteWindow down;
  };
  /// Neighbouring rows of a batch, asked of one reader, or of each for those in its shard.
  struct AskedRows {
    struct Part {
      const std::string& reader;
      Task<Result<Batch>> answer;
    };
    NextBatch question;
    std::vector<Part> parts;
  };
  using AskedBatch = std::vector<AskedRows>;
  /// A chunk of an answer.
  struct Waiting {
    std::shared_ptr<const Parameters> answer;
    std::size_t index = 0;
  };
  struct Rank;
  /// A replica and the ranks that take turns on it.
  struct Seat {
    std::shared_ptr<Replica> replica;
    std::vector<Rank*> ranks;
    /// Of the version that is on its way or came last: chunks not yet written, by tensor, and how
    /// many tensors at the front of the table have it whole.
    std::vector<std::uint32_t> missing;
    std::uint32_t readable = 0;
    Time readable_since;               // when the first became so
    std::vector<Waiting> waiting;      // for their tensors to settle
    Condition ready;                   // `readable` has grown
    std::vector<std::uint64_t> bases;  // by chunk: the version that it has

    /// Another version is on its way: of all that it reads, or of what changes.
    void expect_version(const ParameterTable& table, Pulled what);
    bool last(const Rank& rank) const { return ranks.back() == &rank; }
  };
  struct Rank {
    std::uint32_t rank = 0;
    Seat* seat = nullptr;
    std::shared_ptr<RankNet> net;
    std::deque<AskedBatch> batches;  // ahead, in the order of steps
    std::uint64_t asked = 0;         // the next step whose batch will be asked for
    std::uint64_t step = 0;          // that it is in
    std::uint64_t pushed = 0;        // where all are in step: all packets of those before are made
    Condition agreed;                // shared scalers have come
    std::uint64_t agreements = 0;    // how often
    bool encoding = false;           // what it held of its last step
    Condition encoded;               // no longer
    GradientEncoder::Counts counts;  // of the steps that are done
    RankTrace trace;
    // Where it exchanges by itself:
    std::uint64_t version = 0;    // the oldest that its replica has of a chunk
    std::uint64_t kept = 0;       // of versions up to this one all that is to be kept
    std::size_t pulling = 0;      // groups that have not come
    std::size_t unanswered = 0;   // pushes
    std::vector<Packet> dropped;  // that are to be given back
    Condition answered;           // one of the two has become less
  };

  void started() override;
  /// What a question came to, with the step and whom it was asked.
  static Error at(std::uint64_t step, const std::string& with, const Error& error);
  Task<Result<void>> train();
  Task<Result<void>> find_everyone();
  /// In the place of a worker that was lost: from then on this one is as of a job that begins where
  /// its ranks go on (worker_rejoin.cc).
  Task<Result<void>> rejoin();
  /// Every server has all packets of this worker's ranks of the steps before `step`, where it would
  /// matter: no worker in its place begins earlier.
  Task<void> all_pushed(std::uint64_t step);
  /// Memory for what error feedback keeps that outlives this process, if there is such.
  Task<void> take_residual_memory();
  /// What the rank's first step adds. Errors: not_found, of a rank that goes on without.
  Result<Residuals> residuals_of(std::uint32_t rank) const;
  /// The scalers of the step before the first, of a job whose ranks use those.
  Task<Result<void>> recall_scalers();
  Task<Result<void>> make_replicas();
  Result<void> make_ranks(Seat& seat, std::uint32_t first, std::uint32_t count);
  /// What the ranks go on from, where the job does (worker_state.cc).
  Task<Result<void>> restore();
  Task<Result<void>> restore_slots(Seat& seat);
  Task<Result<void>> restore_rank(Rank& rank);
  /// Adds the rank's state to what is kept of `version`, where it is to be kept.
  Task<void> keep_state(const Rank& rank, std::uint64_t version);
  /// The same, where it exchanges by itself, of all versions that it has come past.
  Task<void> keep_passed(Rank& rank);
  Task<void> write_part(StatePart part);
  /// Ranks that are in step with all others, turn by turn.
  Task<Result<void>> train_seat(Seat& seat);
  Task<Result<void>> take_turn(Rank& rank, std::uint64_t step);
  Task<void> end_of_steps(Rank& rank);
  /// The same where it exchanges by itself, at its own pace (worker_apart.cc).
  Task<Result<void>> train_apart(Rank& rank);
  /// Its next parameters, which have all of its pushes before `push`; and what became of those.
  Task<Result<void>> pull_newest(Rank& rank, std::uint64_t push);
  Task<Result<void>> pull_newest_of(Rank& rank, std::uint64_t push,
                                    const ParameterTable::PullGroup& group);
  Result<void> take_verdicts(Rank& rank, const PushReply& reply, std::size_t packets,
                             std::vector<Packet> kept);
  Task<void> injected_delay(Rank& rank);
  void ask_batches(Rank& rank, std::uint64_t step);
  AskedRows ask_rows(const Rank& rank, const NextBatch& question, std::size_t reader);
  Task<Result<Batch>> next_batch(Rank& rank, std::uint64_t step);
  Task<Result<Batch>> whole(AskedBatch asked);
  Result<void> check(const Batch& batch, const NextBatch& question) const;
  /// The forward pass, begun with the first tensors that have come.
  Task<Result<void>> forward(Rank& rank, std::uint64_t step, Batch batch);
  /// The backward pass. What waits for shared scalers then is still to be encoded. The loss.
  Task<Result<nets::Net::Loss>> backward(Rank& rank, RankStep step);
  /// Until the last packet of its last backward pass is on its way.
  Task<void> encode_held(Rank& rank);
  /// The same, beside the turns of others, and the step is done.
  Task<void> finish_turn(Rank& rank, std::uint64_t step, nets::Net::Loss loss);

  void pull(std::uint64_t step);
  Task<Result<void>> pull_group(std::uint64_t step, const ParameterTable::PullGroup& group);
  /// Of the answer's chunks each of `seats` makes its own next version.
  Result<void> take(Parameters parameters, const Pull& question, const std::vector<Seat*>& seats);
  std::vector<Seat*> everyone();
  void write_settled(Seat& seat);
  /// Asks each server whether the rank's parameters are what its own are, where the scheme says so.
  Task<void> compare(const Rank& rank, std::uint64_t step);
  Task<Result<void>> compare_at(std::uint32_t shard, std::uint32_t rank, Compare compare);

  Task<Result<void>> agree(Rank& rank, std::uint64_t step, std::uint32_t shard,
                           std::vector<Offer::OwnScaler> scalers);
  void push(Rank& rank, std::uint64_t step, std::uint32_t shard, std::vector<Packet> packets);
  Task<Result<void>> send(Rank& rank, std::uint32_t shard, Push push);
  /// Tells the observer, unless it is still busy with the last.
  void tell(Watched step);
  Task<void> tell_observer(Watched step);
  void step_done(std::uint64_t step, Rank& rank, const nets::Net::Loss& loss);
  /// Says that this worker is done, if it is: nothing it has sent waits for its answer.
  void finish();
  const PeerIdentity& identity() const { return process().options().link.identity; }
  Traffic traffic() const;
  std::vector<TensorTotals> totals() const;

  WorkerArgs args_;
  bool rejoins_ = false;
  bool goes_on_ = false;  ///< where others have left what its first step needs
  /// Of one that rejoins: seats in the first step, whose next version may be there before it is
  /// due: what the lost worker had pushed counts.
  std::size_t in_first_step_ = 0;
  Finder finder_;
  std::uint32_t cores_;
  std::unique_ptr<WorkerPolicy> policy_;
  std::deque<Server> servers_;  // deques: windows do not move
  std::deque<Reader> readers_;
  std::optional<Peer<Observer>> observer_;
  std::shared_ptr<const ParameterTable> table_;
  std::vector<ParameterTable::PullGroup> groups_;      // of the next pull
  std::vector<ParameterTable::PullGroup> all_groups_;  // of a rank's first, where each pulls
  std::shared_ptr<BufferPool> pool_ = std::make_shared<BufferPool>();
  std::deque<Seat> seats_;  // deques: conditions do not move
  std::deque<Rank> ranks_;
  std::size_t groups_missing_ = 0;
  std::size_t unacknowledged_ = 0;
  std::map<std::uint64_t, std::size_t> under_way_;  // pushes without an answer, by step
  Condition pushed_;                                // one of them has its answer, or a rank is done
  std::optional<KeptMemory::Region> residual_memory_;
  std::optional<Peer<CheckpointKeeperInterface>> keeper_;
  KeptVersion kept_;
  ProgressMeter meter_;
  Traffic traffic_;
  WorkerTrace trace_;
  bool telling_watched_ = false;
  std::uint64_t lost_watched_ = 0;  // steps
};

}  // namespace sterna::actors
