// One rank's batch from the answers of readers that hold a shard each. What it is does not depend
// on how the training set is cut, nor do the bits of what is trained.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "actors/job/job.h"
#include "actors/job/messages.h"
#include "input/batches/batch.h"
#include "input/batches/prepare.h"
#include "input/place/data_shard.h"

namespace sterna::actors {

/// What a rank of the job asks a reader, with what the job says of it.
input::BatchQuestion question_of(const JobConfig& job, const NextBatch& question);

/// What a reader has of the rows of a question: which of the batch, and what stands there.
struct OwnRows {
  std::vector<std::uint32_t> numbers = {};  ///< of a shard; else empty: all that were asked for
  std::vector<input::BatchRow> rows = {};
};

/// All of them, or those of the reader's shard, where it has one.
OwnRows own_rows(const input::BatchQuestion& question, const input::TrainingPart& part);
/// Bytes that the answer of so many rows takes of a pool.
std::uint64_t pool_bytes(std::size_t rows, const input::Preparation& how);

/// The answer of the reader that holds `part`, with the rows that it has of the question. Errors:
/// those of reading and preparing.
Result<Batch> rows_of(const input::BatchQuestion& question, OwnRows own,
                      const input::TrainingPart& part, const input::Preparation& how,
                      BufferPool& pool);

/// The rows of `question` from one answer per shard, in their order. Every row must come
/// once, from the reader whose shard it lies in; an answer that lies about that, or is of another
/// training set, is `malformed` in a line that names its reader. `readers` are their names.
Result<Batch> put_together(const input::BatchQuestion& question, std::span<const Batch> parts,
                           std::span<const std::string> readers, BufferPool& pool);

/// One batch from pieces of neighbouring rows, in their order.
Batch joined(std::vector<Batch> pieces, BufferPool& pool);

}  // namespace sterna::actors
