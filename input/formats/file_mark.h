// What tells a file from another of its name without reading all of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::input {

/// Plain data.
struct FileMark {
  std::uint64_t size = 0;        ///< bytes
  std::int64_t modified_ns = 0;  ///< since 1970; a copy has another
  /// The first KiB, and the last of what is behind it.
  std::vector<std::uint8_t> ends;
};

/// Errors: not_found, permission, invalid_argument (not a regular file), io; they name the file.
Result<FileMark> mark_of(const std::filesystem::path& path);

}  // namespace sterna::input
