// Worker: one or several ranks. Asks for batches ahead, computes, pushes gradients while earlier
// layers still compute, and takes the next parameters chunk by chunk as the servers make them: the
// next forward pass begins with the first layers that have theirs. What a step needs and what is
// pushed of it are the scheme's.
//
// Any question that ends without its answer ends the worker, with a cause that names the step and
// whom it asked.
#pragma once

#include <cstdint>
#include <deque>
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
#include "runtime/actor/byte_window.h"
#include "runtime/actor/process.h"
#include "runtime/cluster/peer.h"

namespace sterna::actors {

class Worker final : public Actor<WorkerInterface> {
 public:
  explicit Worker(WorkerArgs args, Finder finder = find_any)
      : args_(std::move(args)),
        finder_(std::move(finder)),
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
  struct Rank {
    std::uint32_t rank = 0;
    std::shared_ptr<RankNet> net;
    std::deque<AskedBatch> batches;  // ahead, in the order of steps
    std::uint64_t asked = 0;         // the next step whose batch will be asked for
    std::uint64_t step = 0;          // that it is in
    /// Of the version that is on its way or came last: chunks not yet written, by tensor, and how
    /// many tensors at the front of the table have it whole.
    std::vector<std::uint32_t> missing;
    std::uint32_t readable = 0;
    Time readable_since;             // when the first became so
    std::vector<Waiting> waiting;    // for their tensors to settle in the net
    Condition ready;                 // `readable` has grown
    Condition agreed;                // shared scalers have come
    std::uint64_t agreements = 0;    // how often
    GradientEncoder::Counts counts;  // of the steps that are done
    // Where it exchanges by itself:
    std::vector<std::uint64_t> bases;  // by chunk: the version that it has
    std::uint64_t version = 0;         // the oldest of them
    std::size_t pulling = 0;           // groups that have not come
    std::size_t unanswered = 0;        // pushes
    std::vector<Packet> dropped;       // that are to be given back
    Condition answered;                // one of the two has become less

    /// Another version is on its way: of all that it reads, or of what changes.
    void expect_version(const ParameterTable& table, Pulled what);
  };

  void started() override;
  /// What a question came to, with the step and whom it was asked.
  static Error at(std::uint64_t step, const std::string& with, const Error& error);
  Task<Result<void>> train();
  Task<Result<void>> find_everyone();
  Task<Result<void>> make_nets();
  /// What the ranks go on from, where the job does (worker_state.cc).
  Task<Result<void>> restore();
  Task<Result<void>> restore_slots(Rank& rank);
  Task<Result<void>> restore_rank(Rank& rank);
  /// Adds the rank's state to what is kept of `version`, where it is to be kept.
  Task<void> keep_state(const Rank& rank, std::uint64_t version);
  Task<void> write_part(StatePart part);
  Task<Result<void>> train_rank(Rank& rank);
  /// The same where it exchanges by itself, at its own pace (worker_apart.cc).
  Task<Result<void>> train_apart(Rank& rank);
  /// Its next parameters, which have all of its pushes before `push`; and what became of those.
  Task<Result<void>> pull_newest(Rank& rank, std::uint64_t push);
  Task<Result<void>> pull_newest_of(Rank& rank, std::uint64_t push,
                                    const ParameterTable::PullGroup& group);
  Result<void> take_verdicts(Rank& rank, const PushReply& reply, std::size_t packets,
                             std::vector<Packet> kept);
  Task<void> injected_delay(const Rank& rank);
  void ask_batches(Rank& rank, std::uint64_t step);
  AskedRows ask_rows(const Rank& rank, const NextBatch& question, std::size_t reader);
  Task<Result<Batch>> next_batch(Rank& rank, std::uint64_t step);
  Task<Result<Batch>> whole(AskedBatch asked);
  Result<void> check(const Batch& batch, const NextBatch& question) const;
  /// The forward pass, begun with the first tensors that have come.
  Task<Result<void>> forward(Rank& rank, std::uint64_t step, Batch batch);
  /// The backward pass, until the last of its packets is on its way. The loss.
  Task<Result<double>> backward(Rank& rank, RankStep step);

  void pull(std::uint64_t step);
  Task<Result<void>> pull_group(std::uint64_t step, const ParameterTable::PullGroup& group);
  /// Of the answer's chunks each of `ranks` makes its own next version.
  Result<void> take(Parameters parameters, const Pull& question, const std::vector<Rank*>& ranks);
  std::vector<Rank*> everyone();
  void write_settled(Rank& rank);
  /// Asks each server whether the rank's parameters are what its own are, where the scheme says so.
  Task<void> compare(const Rank& rank, std::uint64_t step);
  Task<Result<void>> compare_at(std::uint32_t shard, std::uint32_t rank, Compare compare);

  Task<Result<void>> agree(Rank& rank, std::uint64_t step, std::uint32_t shard,
                           std::vector<Offer::OwnScaler> scalers);
  void push(Rank& rank, std::uint64_t step, std::uint32_t shard, std::vector<Packet> packets);
  Task<Result<void>> send(Rank& rank, std::uint32_t shard, Push push);
  void step_done(std::uint64_t step, Rank& rank, double loss);
  /// Says that this worker is done, if it is: nothing it has sent waits for its answer.
  void finish();
  const PeerIdentity& identity() const { return process().options().link.identity; }
  Traffic traffic() const;
  std::vector<TensorTotals> totals() const;

  WorkerArgs args_;
  Finder finder_;
  std::unique_ptr<WorkerPolicy> policy_;
  std::deque<Server> servers_;  // deques: windows do not move
  std::deque<Reader> readers_;
  std::optional<Peer<Observer>> observer_;
  std::shared_ptr<const ParameterTable> table_;
  std::vector<ParameterTable::PullGroup> groups_;      // of the next pull
  std::vector<ParameterTable::PullGroup> all_groups_;  // of a rank's first, where each pulls
  std::shared_ptr<BufferPool> pool_ = std::make_shared<BufferPool>();
  std::deque<Rank> ranks_;  // a deque: conditions do not move
  std::size_t groups_missing_ = 0;
  std::size_t unacknowledged_ = 0;
  std::optional<Peer<CheckpointKeeperInterface>> keeper_;
  KeptVersion kept_;
  ProgressMeter meter_;
  Traffic traffic_;
};

}  // namespace sterna::actors
