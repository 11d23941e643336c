#include "input/files/pending_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

#include "runtime/base/file.h"
#include "runtime/base/random.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {
constexpr std::size_t kHeld = std::size_t{64} * 1024;

Error cannot_write(const fs::path& path, int saved_errno) {
  Error error = system_error("cannot write " + path.string(), saved_errno);
  if (saved_errno == EACCES || saved_errno == EROFS) error.code = Errc::permission;
  return error;
}
}  // namespace

PendingFile::PendingFile(fs::path path, std::string temporary, int file)
    : path_(std::move(path)), temporary_(std::move(temporary)), file_(file) {}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      file_(std::exchange(other.file_, -1)),
      held_(std::move(other.held_)) {}

PendingFile& PendingFile::operator=(PendingFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(file_, other.file_);
  std::swap(held_, other.held_);
  return *this;
}

PendingFile::~PendingFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

Result<PendingFile> PendingFile::create(const fs::path& path) {
  std::string temporary = path.string() + "." + std::to_string(SystemRandom().next());
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return cannot_write(path, errno);
  return PendingFile(path, std::move(temporary), file);
}

Result<void> PendingFile::append(std::span<const std::uint8_t> bytes) {
  if (held_.size() + bytes.size() > kHeld) STERNA_TRY(flush());
  if (bytes.size() > kHeld) return write(bytes);
  held_.insert(held_.end(), bytes.begin(), bytes.end());
  return {};
}

Result<void> PendingFile::finish() {
  STERNA_TRY(flush());
  int failed = ::fsync(file_) != 0 ? errno : 0;
  // Network file systems report a full disk only here.
  if (::close(std::exchange(file_, -1)) != 0 && failed == 0) failed = errno;
  Result<void> placed =
      failed != 0 ? cannot_write(path_, failed) : rename_into_place(temporary_, path_);
  if (!placed) ::unlink(temporary_.c_str());
  return placed;
}

Result<void> PendingFile::flush() {
  STERNA_TRY(write(held_));
  held_.clear();
  return {};
}

Result<void> PendingFile::write(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(file_, bytes.data(), bytes.size());
    if (wrote >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    } else if (errno != EINTR) {
      return cannot_write(path_, errno);
    }
  }
  return {};
}

}  // namespace sterna::input
