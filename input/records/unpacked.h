// Packed TFRecord files (gzip or zlib), which have no positions: unpacked once, into the cache.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::input {

struct UnpackOptions {
  std::filesystem::path cache;  ///< a folder, made where it is missing
  /// That all files together may unpack to; never more than most of what is free there.
  std::uint64_t most_bytes = std::uint64_t{1} << 40;
};

/// The plain form of each of `files`: itself, or what it unpacks to. A file whose first length fits
/// its CRC is plain, whatever its first bytes look like. What was unpacked is used again as long as
/// the file keeps its size and time; what was unpacked of it before is removed, and what readers
/// that were killed left there. As many as `files`, in their order. Bounded memory. Errors: those
/// of opening a file; `malformed` where a stream is damaged, unpacks to more than most_bytes or the
/// cache has room for, or to no TFRecord file; what writing to the cache meets.
Result<std::vector<std::filesystem::path>> plain_record_files(
    std::span<const std::filesystem::path> files, const UnpackOptions& options);

}  // namespace sterna::input
