#include "launcher/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace sterna::launcher {
namespace {

constexpr std::size_t max_size = std::size_t{16} << 20;

/// Writes, makes it durable and closes; `file` is closed in every case.
Result<void> write_and_close(int file, const std::string& path, std::string_view content) {
  int failed = 0;
  while (!content.empty() && failed == 0) {
    const ssize_t wrote = write(file, content.data(), content.size());
    if (wrote >= 0) {
      content.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno != EINTR) {
      failed = errno;
    }
  }
  // Network file systems report a full disk only here; special files refuse fsync with EINVAL.
  if (failed == 0 && fsync(file) != 0 && errno != EINVAL) failed = errno;
  if (close(file) != 0 && failed == 0) failed = errno;
  if (failed != 0) return system_error("cannot write " + path, failed);
  return {};
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
  if (failed != 0) return system_error(path, failed);
  if (content.size() > max_size)
    return Error{Errc::invalid_argument, path + ": larger than 16 MiB"};
  return content;
}

Result<void> write_file(const std::string& path, std::string_view content) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return system_error("cannot create " + path, errno);
  return write_and_close(file, path, content);
}

Result<void> replace_file(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".new";
  STERNA_TRY(write_file(temporary, content));
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    return system_error("cannot write " + path, errno);
  }
  return {};
}

}  // namespace sterna::launcher
