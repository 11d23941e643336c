#include "actors/reader/input_reader.h"

#include <fmt/format.h>

#include <optional>

#include "actors/reader/batch_parts.h"
#include "actors/reader/data_folder.h"
#include "input/batches/batch.h"

namespace sterna::actors {
namespace {

/// A rank asks a few steps ahead; more at once is no worker of ours, and would fill the memory.
constexpr std::uint32_t kMostAhead = 16;

static_assert(kMostShards == input::kMostShards);

using Loaded = Result<std::shared_ptr<const input::TrainingPart>>;

std::optional<input::ShardId> shard_of(const ReaderArgs& args) {
  const std::uint32_t shards = args.job.shards;
  if (shards == 0) return std::nullopt;
  return input::ShardId{args.shard, shards};
}

Loaded load_examples(const DataSection& data, const std::optional<input::ShardId>& shard) {
  STERNA_ASSIGN(const std::string folder, training_folder(data, shard));
  STERNA_ASSIGN(input::TrainingPart part, input::load_training_part(folder, shard));
  return Loaded(std::make_shared<const input::TrainingPart>(std::move(part)));
}

}  // namespace

void InputReader::started() {
  answering_.resize(args_.job.ranks);
  run(load());
}

Task<Result<void>> InputReader::load() {
  STERNA_CO_ASSIGN(part_, compute([data = args_.job.data, shard = shard_of(args_)] {
                     return load_examples(data, shard);
                   }));
  loaded_.notify_all();
  co_return {};
}

Task<Result<Batch>> InputReader::on(NextBatch question) {
  const JobConfig& job = args_.job;
  if (question.rank >= job.ranks || question.step < job.first_step || question.step >= job.steps) {
    co_return Error{Errc::invalid_argument,
                    fmt::format("no batch for rank {} of {} at step {} of {}", question.rank,
                                job.ranks, question.step, job.steps)};
  }
  const PeerIdentity* peer = process().identity_of(sender().process);
  const bool ours = sender().process == process().id();
  if (!ours && (peer == nullptr || !hosts(args_.workers, peer->name, question.rank))) {
    process().blame_sender(fmt::format("it asked for the batch of rank {}", question.rank));
    co_return Error{Errc::permission, "a worker gets the batches of its own ranks"};
  }
  std::uint32_t& answering = answering_[question.rank];
  if (answering >= kMostAhead) {
    co_return Error{Errc::overloaded,
                    fmt::format("rank {} asks for too many batches at once", question.rank)};
  }
  // Also when the asker dies meanwhile and this frame is destroyed.
  struct Answering {
    std::uint32_t& count;
    explicit Answering(std::uint32_t& answers) : count(answers) { ++count; }
    Answering(const Answering&) = delete;
    Answering& operator=(const Answering&) = delete;
    ~Answering() { --count; }
  } const counted(answering);
  while (!part_) co_await loaded_.wait();
  const input::BatchQuestion which{.seed = job.seed,
                                   .step = question.step,
                                   .rank = question.rank,
                                   .ranks = job.ranks,
                                   .batch = job.batch};
  auto made = compute([part = part_, pool = pool_, which] { return rows_of(which, *part, *pool); });
  co_return co_await std::move(made);
}

}  // namespace sterna::actors
