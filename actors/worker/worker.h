// Worker: one or several ranks. Asks for batches ahead, computes, pushes gradients while earlier
// layers still compute, and takes the next parameters chunk by chunk as the servers make them: the
// next forward pass begins with the first layers that have theirs.
//
// Synchronous steps: step s is computed from version s of the parameters. Any question that ends
// without its answer ends the worker, with a cause that names the step and whom it asked.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "actors/job/peers.h"
#include "actors/worker/rank_net.h"
#include "runtime/actor/process.h"

namespace sterna::actors {

class Worker final : public Actor<WorkerInterface> {
 public:
  explicit Worker(WorkerArgs args, Finder finder = directory_finder())
      : args_(std::move(args)), finder_(std::move(finder)) {}

 private:
  /// A question to a reader.
  struct Asked {
    std::size_t reader = 0;
    Future<Batch> answer;
  };
  /// A chunk of an answer.
  struct Waiting {
    std::shared_ptr<const Parameters> answer;
    std::size_t index = 0;
  };
  struct Rank {
    std::uint32_t rank = 0;
    std::shared_ptr<RankNet> net;
    /// Asked ahead, in the order of steps: one reader, or each reader for its shard's rows.
    std::deque<std::vector<Asked>> batches;
    std::uint64_t asked = 0;  // steps whose batch was asked for
    /// Of the version that is on its way or came last: chunks not yet written, by tensor, and how
    /// many tensors at the front of the table have it whole.
    std::vector<std::uint32_t> missing;
    std::uint32_t readable = 0;
    std::vector<Waiting> waiting;    // for their tensors to settle in the net
    Condition ready;                 // `readable` has grown
    Condition agreed;                // shared scalers have come
    std::uint64_t agreements = 0;    // how often
    GradientEncoder::Counts counts;  // of the steps that are done

    /// Another version is on its way.
    void expect_version(const ParameterTable& table);
  };

  void started() override;
  Task<void> train();
  Task<Result<void>> find_everyone();
  Task<Result<void>> make_nets();
  Task<void> train_rank(Rank& rank);
  /// The forward pass, begun with the first tensors that have come.
  Task<Result<void>> forward(Rank& rank, std::uint64_t step, std::shared_ptr<const Batch> batch);
  void ask_batches(Rank& rank, std::uint64_t step);
  Task<Result<Batch>> next_batch(Rank& rank, std::uint64_t step);
  Result<void> check(const Batch& batch, std::uint64_t step, std::uint32_t rank) const;

  void pull(std::uint64_t version);
  Task<void> pull_group(std::uint64_t version, std::size_t group);
  Result<void> take(Parameters parameters, const Pull& question);
  void write_settled(Rank& rank);
  void compare(const Rank& rank, std::uint64_t version, const std::vector<Hash>& hashes);
  Task<void> compare_at(std::uint32_t shard, std::uint32_t rank, Compare compare);

  Task<void> agree(Rank& rank, std::uint64_t step, std::uint32_t shard,
                   std::vector<Offer::OwnScaler> scalers);
  void push(Rank& rank, std::uint64_t step, std::uint32_t shard, std::vector<Packet> packets);
  Task<void> send(std::uint32_t shard, Push push);
  void step_done(std::uint64_t step, std::uint32_t rank, double loss);
  void finish();
  void fail_at(std::uint64_t step, const std::string& with, const Error& error);
  Traffic traffic() const;
  std::vector<TensorTotals> totals() const;
  double seconds() const;

  WorkerArgs args_;
  Finder finder_;
  std::vector<ActorRef<ParameterServerInterface>> servers_;
  std::vector<ActorRef<InputReaderInterface>> readers_;
  ActorRef<Observer> observer_;
  std::shared_ptr<const ParameterTable> table_;
  std::vector<ParameterTable::PullGroup> groups_;
  std::shared_ptr<BufferPool> pool_ = std::make_shared<BufferPool>();
  std::deque<Rank> ranks_;  // a deque: conditions do not move
  std::size_t groups_missing_ = 0;
  std::size_t unacknowledged_ = 0;

  struct StepLosses {
    std::vector<double> by_rank;
    std::uint32_t missing = 0;
  };
  std::map<std::uint64_t, StepLosses> losses_;  // of steps that are not done by all ranks
  bool began_ = false;
  Time began_at_;
  Time last_step_at_;
  Time last_progress_at_;
  std::uint64_t steps_done_ = 0;
  double last_loss_ = 0;
  std::vector<std::int64_t> step_times_;  // of the last steps, a ring
  Traffic traffic_;
};

}  // namespace sterna::actors
