// A file that appears under its name complete or not at all.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>

#include "runtime/base/result.h"

namespace sterna::input {

/// Writes `parts`, one after the other, to a temporary name beside `path`, syncs, and renames it to
/// `path`; on an error (a full disk, no permission) nothing is left behind. Never readable for more
/// than `mode` says.
Result<void> write_atomically(const std::filesystem::path& path,
                              std::initializer_list<std::span<const std::uint8_t>> parts,
                              mode_t mode = 0644);

/// Renames `from` to `to`, replacing it. `from` must have been synced.
Result<void> rename_into_place(const std::filesystem::path& from, const std::filesystem::path& to);

/// Makes `dir` and its parents.
Result<void> make_directory(const std::filesystem::path& dir);

}  // namespace sterna::input
