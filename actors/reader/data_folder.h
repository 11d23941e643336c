// Where the data set lies on the host that an actor runs on.
#pragma once

#include <optional>
#include <string>

#include "actors/job/job.h"
#include "input/place/data_shard.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// The folder of the training examples, or of `shard`: in the one that the job names ("~/" is this
/// host's home), or without one where a run on this host would look. A reader k of N takes
/// "shard-k-of-N/" there, and else a whole data set. Digits that are asked for by name are drawn
/// where they are missing. May take seconds: not on the loop thread.
Result<std::string> training_folder(const DataSection& data,
                                    const std::optional<input::ShardId>& shard);

/// What the job says of its data set that the files do not, and this host's cache. `seed`: the
/// job's, for pictures that are made up.
input::DataOptions data_options(const DataSection& data, std::uint64_t seed);

/// The folder of the test examples, which are in every shard, too; found as the others.
Result<std::string> test_folder(const DataSection& data);

}  // namespace sterna::actors
