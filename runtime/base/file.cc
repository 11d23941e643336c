#include "runtime/base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "runtime/base/random.h"

namespace sterna {

namespace fs = std::filesystem;

namespace {

/// Writes of `bytes` what the file takes, and takes that off them; 0 or the errno.
int write_from(int file, ByteView& bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(file, bytes.data(), bytes.size());
    if (wrote >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

/// Writes all of `bytes`; 0 or the errno.
int write_all(int file, ByteView bytes) { return write_from(file, bytes); }

Error cannot_write(const fs::path& path, int saved_errno) {
  return system_error("cannot write " + path.string(), saved_errno);
}

/// Takes the last `count` bytes away from a regular file.
Result<void> take_back(const std::string& path, int file, std::size_t count) {
  struct stat found {};
  if (count == 0 || ::fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) return {};
  if (::ftruncate(file, found.st_size - static_cast<off_t>(count)) == 0) return {};
  return cannot_write(path, errno);
}

/// Makes the file durable and closes it; 0 or the errno. Network file systems report a full disk
/// only here; special files refuse fsync with EINVAL.
int sync_and_close(int file) {
  int failed = 0;
  if (::fsync(file) != 0 && errno != EINVAL) failed = errno;
  if (::close(file) != 0 && failed == 0) failed = errno;
  return failed;
}

/// Creates `name`, which must not exist, and writes `parts`; 0 or the errno.
int write_new(const char* name, std::span<const ByteView> parts, mode_t mode) {
  const int file = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0) return errno;
  int failed = 0;
  for (const ByteView part : parts) {
    if (failed == 0) failed = write_all(file, part);
  }
  const int unsynced = sync_and_close(file);
  return failed != 0 ? failed : unsynced;
}

/// How long the writer of a pipe may say nothing.
constexpr int kPipePatienceMs = 10'000;

/// Waits for the next bytes of a pipe, or its end; 0 or the errno.
int await_bytes(int file) {
  pollfd waited{file, POLLIN, 0};
  const int ready = ::poll(&waited, 1, kPipePatienceMs);
  if (ready < 0) return errno == EINTR ? 0 : errno;
  return ready == 0 ? ETIMEDOUT : 0;
}

/// Syncs what lies at `path`; 0 or the errno.
int sync(const fs::path& path, int flags) {
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (opened < 0) return errno;
  const bool synced = ::fsync(opened) == 0 || errno == EINVAL || errno == EROFS;
  const int failed = synced ? 0 : errno;
  ::close(opened);
  return failed;
}

}  // namespace

Result<std::string> read_file(const fs::path& path, std::size_t most) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    const int saved = errno;
    if (saved == ENOENT) return Error{Errc::not_found, path.string() + ": there is no such file"};
    Error error = system_error(path.string(), saved);
    if (saved == EACCES) error.code = Errc::permission;
    return error;
  }
  std::string content;
  int failed = 0;
  while (failed == 0 && content.size() <= most) {
    std::array<char, 16384> chunk;
    const ssize_t got = ::read(file, chunk.data(), chunk.size());
    if (got > 0) {
      content.append(chunk.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      break;
    } else if (errno == EAGAIN) {
      failed = await_bytes(file);
    } else if (errno != EINTR) {
      failed = errno;
    }
  }
  ::close(file);
  if (failed == EISDIR) {
    return Error{Errc::invalid_argument, path.string() + ": a directory, not a file"};
  }
  if (failed != 0) return system_error(path.string(), failed);
  if (content.size() > most) {
    const bool whole = most >= 1U << 20;
    return Error{Errc::invalid_argument, path.string() + ": larger than " +
                                             std::to_string(whole ? most >> 20 : most) +
                                             (whole ? " MiB" : " bytes")};
  }
  return content;
}

Result<void> write_atomically(const fs::path& path, std::span<const ByteView> parts, mode_t mode) {
  const std::string temporary = path.string() + "." + std::to_string(SystemRandom().next());
  if (const int failed = write_new(temporary.c_str(), parts, mode); failed != 0) {
    if (failed != EEXIST) ::unlink(temporary.c_str());
    return cannot_write(path, failed);
  }
  Result<void> placed = rename_into_place(temporary, path);
  if (!placed) ::unlink(temporary.c_str());
  return placed;
}

Result<void> write_atomically(const fs::path& path, std::string_view text, mode_t mode) {
  const ByteView bytes = std::as_bytes(std::span(text));
  return write_atomically(path, {&bytes, 1}, mode);
}

Result<void> rename_into_place(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) return cannot_write(to, errno);
  const fs::path folder = to.has_parent_path() ? to.parent_path() : fs::path(".");
  if (const int failed = sync(folder, O_DIRECTORY); failed != 0) return cannot_write(to, failed);
  return {};
}

Result<void> sync_file(const fs::path& path) {
  if (const int failed = sync(path, O_NOFOLLOW); failed != 0) return cannot_write(path, failed);
  return {};
}

Result<void> sync_folder(const fs::path& folder) {
  if (const int failed = sync(folder, O_DIRECTORY); failed != 0)
    return cannot_write(folder, failed);
  return {};
}

Result<void> make_directory(const fs::path& dir) {
  std::error_code error;
  fs::create_directories(dir, error);
  if (error) return system_error("cannot make the directory " + dir.string(), error.value());
  return {};
}

Result<void> may_read_folder(const std::string& folder) {
  const int may = ::faccessat(AT_FDCWD, folder.c_str(), R_OK | X_OK, AT_EACCESS);
  if (may == 0 || errno != EACCES) return {};
  return Error{Errc::permission, folder + ": Permission denied"};
}

Result<void> make_writable_folder(const std::string& folder) {
  STERNA_TRY(make_directory(folder));
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
  return cannot_write(folder, errno);
}

std::string expand_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  const bool tilde = path == "~" || path.starts_with("~/");
  return tilde && home != nullptr ? home + path.substr(1) : path;
}

Result<LineFile> LineFile::create(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return system_error("cannot create " + path, errno);
  return LineFile(path, file);
}

LineFile& LineFile::operator=(LineFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  return *this;
}

LineFile::~LineFile() {
  if (file_ >= 0) ::close(file_);
}

Result<void> LineFile::append(std::string_view line) {
  if (file_ < 0) return Error{Errc::io, "cannot write " + path_ + ": it is closed"};
  const std::string whole = std::string(line) + "\n";
  ByteView left = std::as_bytes(std::span(whole));
  const int failed = write_from(file_, left);
  if (failed == 0) return {};
  if (!take_back(path_, file_, whole.size() - left.size())) {
    return cannot_write(path_ + " (and a part of a line stays)", failed);
  }
  return cannot_write(path_, failed);
}

Result<void> LineFile::close() {
  if (file_ < 0) return {};
  const int failed = sync_and_close(std::exchange(file_, -1));
  if (failed != 0) return cannot_write(path_, failed);
  return {};
}

}  // namespace sterna
