// What becomes of the files of checkpoints in their folder: parts that come piece by piece, and
// checkpoints that are wanted no longer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "runtime/base/bytes.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// Adds the next bytes of a part; with `first` in place of what lies there.
Result<void> append_to_part(const std::string& path, ByteView bytes, bool first);
/// Up to `most` bytes from `offset` on; none at its end. Errors: not_found, io.
Result<Bytes> read_of_part(const std::string& path, std::uint64_t offset, std::size_t most);
/// The manifest first: without it there is no checkpoint.
void remove_checkpoint(const std::string& checkpoint);
/// What stays of a folder's checkpoints when another is there.
struct KeptCheckpoints {
  std::uint64_t made = 0;  ///< its step: newer ones are none of ours, or still being written
  std::size_t keep = 1;    ///< it, and the newest before it, so many in all
  bool best = false;       ///< and, of each number of examples, the one of the highest precision
  std::optional<std::uint64_t> copied = {};  ///< and the one of that step, which is being read
  std::string run = {};  ///< whose they are: all others stay, and count for nothing; empty: all are
  std::set<std::uint64_t> awaited = {};  ///< and those of these steps, which may yet be the best
};
/// Removes all others, and what older unfinished ones left.
void remove_old_checkpoints(const std::string& folder, const KeptCheckpoints& kept);

}  // namespace sterna::actors
