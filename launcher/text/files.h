// A file read whole and a file that grows by lines, with every system error as one line. Files that
// are written whole are input/files/atomic_file.h's.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/result.h"

namespace sterna::launcher {

/// The content of the regular file `path`, at most 16 MiB.
Result<std::string> read_file(const std::string& path);

/// A file that grows by whole lines, each written at once.
class LineFile {
 public:
  /// Creates `path`, which must not exist or be a device.
  static Result<LineFile> create(const std::string& path);
  LineFile(LineFile&& other) noexcept
      : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
  LineFile& operator=(LineFile&& other) noexcept;
  ~LineFile();

  /// Appends `line` and its end. After an error the file may end in a part of the line.
  Result<void> append(std::string_view line);
  /// Closes the file; a full disk may show only here. A second call does nothing.
  Result<void> close();

 private:
  LineFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
  std::string path_;
  int file_ = -1;
};

}  // namespace sterna::launcher
