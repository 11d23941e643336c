// Packed TFRecord files (gzip or zlib), which have no positions: unpacked once, into the cache.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::input {

struct UnpackOptions {
  std::filesystem::path cache;   ///< a folder, made where it is missing
  std::uint64_t most_bytes = 0;  ///< that all files together may unpack to
};

/// TFRecord files that can be read by position.
struct PlainFiles {
  std::vector<std::filesystem::path> paths;  ///< as many as were asked for, in their order
  std::vector<std::string>
      notes;  ///< for the user: a line for each file that is read from the cache
};

/// The plain form of each of `files`: itself, or what it unpacks to. A file whose first length fits
/// its CRC is plain, whatever its first bytes look like. What was unpacked is used again as long as
/// the file keeps its size and time; what was unpacked of it before is removed. Bounded memory.
/// Errors: those of opening a file; `malformed` where a stream is damaged, unpacks to more than
/// most_bytes, or to no TFRecord file; what writing to the cache meets.
Result<PlainFiles> plain_record_files(std::span<const std::filesystem::path> files,
                                      const UnpackOptions& options);

}  // namespace sterna::input
