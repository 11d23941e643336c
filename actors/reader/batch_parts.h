// One rank's batch from the answers of readers that hold a shard each. What it is does not depend
// on how the training set is cut, nor do the bits of what is trained.
#pragma once

#include <span>
#include <string>

#include "actors/codecs/buffer_pool.h"
#include "actors/job/messages.h"
#include "input/batches/batch.h"
#include "input/place/data_shard.h"

namespace sterna::actors {

/// What a reader that holds `part` has of a batch: all of it, or the rows of its shard.
Batch rows_of(const input::BatchQuestion& question, const input::TrainingPart& part,
              BufferPool& pool);

/// The whole batch of `question` from one answer per shard, in their order. Every row must come
/// once, from the reader whose shard it lies in; an answer that lies about that, or is of another
/// training set, is `malformed` in a line that names its reader. `readers` are their names.
Result<Batch> put_together(const input::BatchQuestion& question, std::span<const Batch> parts,
                           std::span<const std::string> readers, BufferPool& pool);

}  // namespace sterna::actors
