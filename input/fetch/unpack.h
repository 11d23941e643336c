// What an archive holds, as files of one folder: the only place that knows libarchive.
#pragma once

#include <cstdint>
#include <filesystem>

#include "runtime/base/result.h"

namespace sterna::input {

/// What an archive may unpack to.
struct UnpackBounds {
  std::uint64_t bytes = std::uint64_t{1} << 30;
  std::uint64_t files = 100'000;
};

/// Unpacks a tar archive, plain or packed with gzip, into the folder `into`: of each name without
/// its first folder ("cifar-10-batches-bin/test_batch.bin" becomes "test_batch.bin"). Each file
/// appears whole or not at all, and replaces what had its name. Hidden names are passed over.
/// Nothing is written outside `into`. Errors, naming the archive: `malformed` for what is no such
/// archive, is cut short, exceeds the bounds, leads out of the folder (by "..", or through a link
/// that is there), or holds a link or a device; those of writing.
Result<void> unpack_archive(const std::filesystem::path& archive, const std::filesystem::path& into,
                            const UnpackBounds& bounds = {});

}  // namespace sterna::input
