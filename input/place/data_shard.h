// A training set in parts: each input reader holds one shard, a contiguous range of its examples.
//
// On disk a shard is a folder in the form of the whole data set, with fewer training examples, all
// test examples, and SHARD.txt, which says what it is a part of. Batches are defined over the whole
// set (BATCHES.md) and do not change; a shard is only where an example lies.
//
// Of TFRecord files and of pictures a shard has whole blocks (Source::block_of), as links or
// copies: every file that holds an example of its range, so that one between two ranges lies in
// both shards, and every block of 64 pictures. Whoever reads a damaged example so finds the same
// one that stands for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "input/formats/dataset.h"
#include "input/formats/format.h"
#include "input/formats/source.h"
#include "runtime/base/result.h"

namespace sterna::input {

inline constexpr const char* kShardFile = "SHARD.txt";
inline constexpr std::uint32_t kMostShards = 4096;
/// So that their product with a number of shards fits 64 bits.
inline constexpr std::uint64_t kMostExamples = std::uint64_t{1} << 48;

/// Shard `index` of `shards`; index < shards.
struct ShardId {
  std::uint32_t index = 0;
  std::uint32_t shards = 1;
  bool operator==(const ShardId&) const = default;
};

/// [N·index/shards, N·(index + 1)/shards) of N `examples`, rounded down.
ExampleRange range_of(const ShardId& shard, std::uint64_t examples);
/// The index of the shard that holds `example` (< `examples`).
std::uint32_t shard_of(std::uint64_t example, std::uint32_t shards, std::uint64_t examples);

/// "shard-0-of-4", the folder of a shard beside the others.
std::string folder_name(const ShardId& shard);

/// What SHARD.txt says.
struct ShardLabel {
  ShardId shard;
  std::uint64_t examples = 0;  ///< of the whole training set
  std::string sha256;          ///< of its pixels, then its labels (a byte each up to 256 classes,
                               ///< else two, the lower first), without the files' headers; or
                               ///< as the source names itself (SourceFacts::sha256)
  ExampleRange held;           ///< what lies there: at least the shard's range
  bool operator==(const ShardLabel&) const = default;
};

/// None in the folder of a whole data set, or of none; `malformed` where SHARD.txt makes no sense.
Result<std::optional<ShardLabel>> read_shard_label(const std::filesystem::path& dir);

/// Of the whole training set that `dir` holds all or a shard of, at a glance.
Result<SourceFacts> training_facts(const std::filesystem::path& dir,
                                   const DataOptions& options = {});

/// Whether `dir` can give `wanted` (none: the whole training set): it holds that shard, or all. The
/// error says in one line what it is instead.
Result<void> check_shard(const std::filesystem::path& dir, const std::optional<ShardId>& wanted);

/// The training examples that somebody holds, and what they are part of.
struct TrainingPart {
  std::shared_ptr<const Source> source;
  std::uint64_t first = 0;     ///< the example of the whole set that is the source's 0
  ExampleRange range;          ///< of the whole set's examples
  std::uint64_t examples = 0;  ///< of the whole set
  std::string sha256 = {};  ///< of the whole set, as ShardLabel's; empty where no shard is wanted
};

/// The training examples of `dir`, or those of the `wanted` shard: all of that shard's folder, or a
/// whole set's part, of which the rest is dropped or not read. Errors as load_data's and
/// check_shard's.
Result<TrainingPart> load_training_part(const std::filesystem::path& dir,
                                        const std::optional<ShardId>& wanted,
                                        const DataOptions& options = {});

/// Writes the whole data set in `from` to `into`/shard-0-of-N, ..., each as plain files, or with
/// links to those of `from`; the same again over an earlier split of the same set, of which what
/// was left half written is removed. A folder of such a name that holds anything else, or that
/// another process splits into, is `already_exists`.
Result<void> split_data(const std::filesystem::path& from, std::uint32_t shards,
                        const std::filesystem::path& into, const std::filesystem::path& cache = {});

}  // namespace sterna::input
