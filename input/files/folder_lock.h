// A folder that one process at a time writes into.
#pragma once

#include <filesystem>
#include <utility>

#include "runtime/base/result.h"

namespace sterna::input {

/// Held until it ends, or its process does, however that is. It is an advisory lock (flock(2)) of
/// the folder itself, so nothing is left behind; a file system that has none for folders gives it
/// to everybody.
class FolderLock {
 public:
  /// Of a folder that is there. Errors: already_exists where another holds it; those of opening it.
  static Result<FolderLock> take(const std::filesystem::path& folder);

  FolderLock(FolderLock&& other) noexcept : folder_(std::exchange(other.folder_, -1)) {}
  FolderLock& operator=(FolderLock&& other) noexcept {
    std::swap(folder_, other.folder_);
    return *this;
  }
  ~FolderLock();

 private:
  explicit FolderLock(int folder) : folder_(folder) {}
  int folder_;
};

}  // namespace sterna::input
