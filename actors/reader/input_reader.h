// InputReader: answers which batch belongs to (step, rank). A function of the job's seed alone, so
// that any reader may answer any question, again and again, and its death loses nothing. One with
// a shard answers the rows that lie in it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "actors/job/args.h"
#include "actors/job/messages.h"
#include "input/place/data_shard.h"
#include "runtime/actor/process.h"

namespace sterna::actors {

class InputReader final : public Actor<InputReaderInterface> {
 public:
  explicit InputReader(ReaderArgs args) : args_(std::move(args)), pool_(new BufferPool) {}

  Task<Result<Batch>> on(NextBatch question);

 private:
  void started() override;
  Task<Result<void>> load();

  ReaderArgs args_;
  std::shared_ptr<const input::TrainingPart> part_;  // null until loaded
  Condition loaded_;
  std::shared_ptr<BufferPool> pool_;
  std::vector<std::uint32_t> answering_;  // by rank: questions that wait for their answer
};

}  // namespace sterna::actors
