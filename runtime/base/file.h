// Files as wholes: read in one piece, put into place complete or not at all, or grown line by line;
// folders; and "~". Every error is one line that names the path.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/bytes.h"
#include "runtime/base/result.h"

namespace sterna {

inline constexpr std::size_t kMostFileBytes = std::size_t{16} << 20;

/// The content of the file, at most `most` bytes; of a pipe what its writer, if any, still writes.
/// Errors: not_found, permission, invalid_argument (a directory, or larger), io (also 10 s mute).
Result<std::string> read_file(const std::filesystem::path& path, std::size_t most = kMostFileBytes);

/// Writes `parts`, one after the other, to a temporary name beside `path`, syncs, and renames it to
/// `path`; on an error (a full disk, no permission) nothing is left behind. `mode` less the umask
/// are its permissions, from the first byte on.
Result<void> write_atomically(const std::filesystem::path& path, std::span<const ByteView> parts,
                              mode_t mode = 0644);
Result<void> write_atomically(const std::filesystem::path& path, std::string_view text,
                              mode_t mode = 0644);

/// Renames `from` to `to`, replacing it, and syncs the folder: the name outlives a power cut.
/// `from` must have been synced.
Result<void> rename_into_place(const std::filesystem::path& from, const std::filesystem::path& to);

/// What was written to a file outlives a power cut; the names in a folder do. A file system that
/// syncs no folders, as some of other machines', is no error; a link in place of the file is.
Result<void> sync_file(const std::filesystem::path& path);
Result<void> sync_folder(const std::filesystem::path& folder);

/// Makes `dir` and its parents, where they are not there.
Result<void> make_directory(const std::filesystem::path& dir);

/// An error, of Errc::permission, where `folder` is there and this user may not read it.
Result<void> may_read_folder(const std::string& folder);

/// Makes `folder`, as make_directory does; an error, too, where this user may put no files there.
Result<void> make_writable_folder(const std::string& folder);

/// "~" and "~/..." with $HOME in place of the tilde; anything else as it is.
std::string expand_home(const std::string& path);

/// A file that grows by whole lines, each written at once.
class LineFile {
 public:
  /// Creates `path`, or goes on behind what it holds.
  static Result<LineFile> create(const std::string& path);
  LineFile(LineFile&& other) noexcept
      : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
  LineFile& operator=(LineFile&& other) noexcept;
  ~LineFile();

  const std::string& path() const { return path_; }
  /// Appends `line` and its end. After an error nothing of it is there, so the next may be tried.
  Result<void> append(std::string_view line);
  /// Closes the file; a full disk may show only here. A second call does nothing.
  Result<void> close();

 private:
  LineFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
  std::string path_;
  int file_ = -1;
};

}  // namespace sterna
