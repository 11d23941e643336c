// Examples in numbered TFRecord files: `train-00000-of-00008`, written by several threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::input {

/// Files that a split may be cut into: as many as their names' five digits count.
inline constexpr std::uint32_t kMostRecordShards = 99'999;

/// One split. File k of `shards` holds the positions [count * k / shards, count * (k+1) / shards).
struct ShardedSplit {
  std::string prefix;        ///< "train"
  std::uint32_t shards = 1;  ///< files
  std::uint64_t count = 0;   ///< examples
  /// The data of the record at a position below `count`; none: it is left out. A function of the
  /// position alone. Called by several threads at once.
  std::function<Result<std::optional<std::vector<std::uint8_t>>>(std::uint64_t position)> record;
};

/// What one split came to.
struct ShardsWritten {
  std::uint64_t records = 0;   ///< in all of its files
  std::uint64_t left_out = 0;  ///< examples without a record
  std::uint32_t kept = 0;      ///< files that were there already
};

/// Gets how many of all examples are done; never called twice at once.
using BuildProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// "train-00003-of-00008".
std::string shard_name(const ShardedSplit& split, std::uint32_t shard);

/// Writes the files that `into` lacks, each whole or not at all, with `threads` threads, which end
/// before this returns; what an interrupted call left half written is removed. A file that is there
/// and whole is kept: that it holds what would be written is the caller's to know. The files' bytes
/// do not depend on `threads`. Answers for each split, in their order. Errors: of `record`, the
/// first file's that has one; of writing.
Result<std::vector<ShardsWritten>> write_shards(const std::filesystem::path& into,
                                                std::span<const ShardedSplit> splits,
                                                unsigned threads, const BuildProgress& progress);

}  // namespace sterna::input
