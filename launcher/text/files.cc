#include "launcher/text/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace sterna::launcher {
namespace {

constexpr std::size_t max_size = std::size_t{16} << 20;

/// Writes all of `content`; 0 or the errno.
int write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t wrote = write(file, content.data(), content.size());
    if (wrote >= 0) {
      content.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

/// Makes the file durable and closes it; 0 or the errno. Network file systems report a full disk
/// only here; special files refuse fsync with EINVAL.
int sync_and_close(int file) {
  int failed = 0;
  if (fsync(file) != 0 && errno != EINVAL) failed = errno;
  if (close(file) != 0 && failed == 0) failed = errno;
  return failed;
}

Error cannot_write(const std::string& path, int saved_errno) {
  return system_error("cannot write " + path, saved_errno);
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    Error error = system_error(path, errno);
    if (errno == ENOENT) error = {Errc::not_found, path + ": there is no such file"};
    if (errno == EACCES) error.code = Errc::permission;
    return error;
  }
  struct stat info {};
  std::string content;
  int failed = fstat(file, &info) == 0 ? 0 : errno;
  if (failed == 0 && S_ISDIR(info.st_mode)) failed = EISDIR;
  while (failed == 0 && content.size() <= max_size) {
    std::array<char, 16384> chunk;
    const ssize_t got = read(file, chunk.data(), chunk.size());
    if (got > 0) {
      content.append(chunk.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      break;
    } else if (errno != EINTR) {
      failed = errno;
    }
  }
  close(file);
  if (failed == EISDIR) return Error{Errc::invalid_argument, path + ": a directory, not a file"};
  if (failed != 0) return system_error(path, failed);
  if (content.size() > max_size)
    return Error{Errc::invalid_argument, path + ": larger than 16 MiB"};
  return content;
}

Result<LineFile> LineFile::create(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
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
  const int failed = write_all(file_, std::string(line) + "\n");
  if (failed != 0) return cannot_write(path_, failed);
  return {};
}

Result<void> LineFile::close() {
  if (file_ < 0) return {};
  const int failed = sync_and_close(std::exchange(file_, -1));
  if (failed != 0) return cannot_write(path_, failed);
  return {};
}

}  // namespace sterna::launcher
