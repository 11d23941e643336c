// BatchesAhead: what a worker's ranks compute on, asked of readers ahead of the steps that need it.
// A batch travels in rows, from whichever reader is next, or from each those in its shard, and is
// put together here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "actors/job/messages.h"
#include "actors/worker/worker_context.h"
#include "runtime/actor/byte_window.h"
#include "runtime/cluster/peer.h"

namespace sterna::actors {

class BatchesAhead {
 public:
  using Readers = std::vector<Peer<InputReaderInterface>>;

  /// `poster`: the worker's. What is made of rows lies in `pool`.
  BatchesAhead(const WorkerContext& context, Readers readers, const Poster& poster,
               std::shared_ptr<BufferPool> pool);

  /// Once for each rank: the first step that it makes, and what an image of it takes on its way.
  void begin(std::uint32_t rank, std::uint64_t first_step, std::size_t image_bytes);
  /// Asks for what the rank will need from `step` on, as far ahead as its memory goes.
  void ask(std::uint32_t rank, std::uint64_t step);
  /// Whether one has been asked for that the rank has not taken.
  bool has(std::uint32_t rank) const { return !ranks_.at(rank).asked.empty(); }
  /// The next that was asked for, which is of `step`. Errors: the readers', and malformed; with the
  /// step and who is at fault.
  Task<Result<Batch>> next(std::uint32_t rank, std::uint64_t step);

 private:
  /// Whom it asks, and how much of that may be under way.
  struct Reader {
    Reader(Peer<InputReaderInterface> found, const Poster& poster, std::uint64_t most)
        : peer(std::move(found)), down(poster, most) {}
    Peer<InputReaderInterface> peer;
    ByteWindow down;
  };
  /// Neighbouring rows of a batch, asked of one reader, or of each for those in its shard.
  struct Rows {
    struct Part {
      const std::string& reader;
      Task<Result<Batch>> answer;
    };
    NextBatch question;
    std::vector<Part> parts;
  };
  using Asked = std::vector<Rows>;
  struct Rank {
    std::size_t image_bytes = 0;
    std::uint64_t next = 0;   // the step whose batch will be asked for
    std::deque<Asked> asked;  // in the order of steps
  };

  bool sharded() const { return context_.job().shards > 0; }
  Rows ask_rows(std::size_t image_bytes, const NextBatch& question, std::size_t reader);
  Task<Result<Batch>> whole(Asked asked);
  Result<void> check(const Batch& batch, const NextBatch& question) const;

  const WorkerContext& context_;
  std::shared_ptr<BufferPool> pool_;
  std::deque<Reader> readers_;  // a deque: windows do not move
  std::map<std::uint32_t, Rank> ranks_;
};

}  // namespace sterna::actors
