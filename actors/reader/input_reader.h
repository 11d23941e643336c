// InputReader: answers which batch belongs to (step, rank). A function of the job's seed alone, so
// that any reader may answer any question, again and again, and its death loses nothing. One with
// a shard answers the rows that lie in it. Where what it reads is damaged or gone it ends by
// itself, with the file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "actors/reader/batch_memory.h"
#include "actors/reader/preparing_meter.h"
#include "input/batches/prepare.h"
#include "input/place/data_shard.h"
#include "runtime/actor/process.h"
#include "runtime/cluster/peer.h"

namespace sterna::actors {

class InputReader final : public Actor<InputReaderInterface> {
 public:
  explicit InputReader(ReaderArgs args, Finder finder = find_any)
      : args_(std::move(args)), finder_(std::move(finder)) {}

  Task<Result<Batch>> on(NextBatch question);

 private:
  /// What it answers from.
  struct Examples {
    input::TrainingPart part;
    input::Preparation how;
  };
  static Result<std::shared_ptr<const Examples>> load_examples(
      const JobConfig& job, const std::optional<input::ShardId>& shard);

  void started() override;
  Task<Result<void>> load();
  Task<Result<void>> find_observer();
  /// `question` is one that may be answered.
  Task<Result<Batch>> prepare(input::BatchQuestion question);
  void report();

  ReaderArgs args_;
  Finder finder_;
  std::shared_ptr<Tracer> tracer_;
  std::optional<Peer<Observer>> observer_;
  bool observed_ = false;  // the observer has been found
  PreparingMeter meter_;
  std::shared_ptr<const Examples> examples_;  // null until loaded
  Condition loaded_;
  std::shared_ptr<BufferPool> pool_;
  std::optional<BatchMemory> memory_;
  std::vector<std::uint64_t> answering_;  // by rank: rows that have been asked for
};

}  // namespace sterna::actors
