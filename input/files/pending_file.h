// A file that grows piece by piece under a temporary name, and appears whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::input {

/// What is too large to be held in memory for write_atomically (runtime/base/file.h), which keeps
/// the same promise. Holds 64 KiB. Every error names the file; after one only the destructor may be
/// called.
class PendingFile {
 public:
  /// Creates the temporary file beside `path`, whose folder must exist.
  static Result<PendingFile> create(const std::filesystem::path& path);
  /// Removes what processes that were killed left in `folder` of files whose names end so. What
  /// somebody writes is locked (flock(2)) and stays; where the file system has no locks, all does.
  static void remove_abandoned(const std::filesystem::path& folder, std::string_view ending);

  /// Where it will appear.
  const std::filesystem::path& path() const { return path_; }

  Result<void> append(std::span<const std::uint8_t> bytes);
  /// Syncs and renames to `path`, replacing what is there. The last call.
  Result<void> finish();

  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&& other) noexcept;
  /// Without finish() nothing is left behind.
  ~PendingFile();

 private:
  PendingFile(std::filesystem::path path, std::string temporary, int file);
  Result<void> flush();
  Result<void> write(std::span<const std::uint8_t> bytes);
  std::filesystem::path path_;
  std::string temporary_;
  int file_ = -1;
  std::vector<std::uint8_t> held_;
};

/// Whether `name` is that of the file `of` while it is not whole, here and of write_atomically(): a
/// random number of 64 bits stands behind it. Shorter ones than nearly all such numbers are
/// somebody's own, a date or a time.
bool is_pending_name(std::string_view name, std::string_view of);

}  // namespace sterna::input
