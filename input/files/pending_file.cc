#include "input/files/pending_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

#include "input/files/listing.h"
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
  while (true) {
    std::string temporary = path.string() + "." + std::to_string(SystemRandom().next());
    const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0) return cannot_write(path, errno);
    PendingFile created(path, std::move(temporary), file);
    struct stat status {};
    // Before it was locked it looked like one that was left: then it may be gone, and is made anew.
    ::flock(file, LOCK_EX);
    if (::fstat(file, &status) != 0) return cannot_write(path, errno);
    if (status.st_nlink > 0) return created;
  }
}

void PendingFile::remove_abandoned(const fs::path& folder, std::string_view ending) {
  const Result<std::vector<std::string>> names = names_in(folder, fs::file_type::regular);
  if (!names) return;
  for (const std::string& name : *names) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || !std::string_view(name).substr(0, dot).ends_with(ending)) {
      continue;
    }
    if (name.find_first_not_of("0123456789", dot + 1) != std::string::npos) continue;
    const fs::path path = folder / name;
    const int left = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (left < 0) continue;
    if (::flock(left, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
    ::close(left);
  }
}

bool is_pending_name(std::string_view name, std::string_view of) {
  constexpr std::size_t kLeastDigits = 18;  // of 200 random numbers one has fewer
  if (!name.starts_with(of)) return false;
  name.remove_prefix(of.size());
  return name.size() > kLeastDigits && name.front() == '.' &&
         name.find_first_not_of("0123456789", 1) == std::string_view::npos;
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
  // The lock is held until the file has its name.
  const int locked = ::fcntl(file_, F_DUPFD_CLOEXEC, 0);
  // Network file systems report a full disk only here.
  if (::close(std::exchange(file_, -1)) != 0 && failed == 0) failed = errno;
  Result<void> placed =
      failed != 0 ? cannot_write(path_, failed) : rename_into_place(temporary_, path_);
  if (!placed) ::unlink(temporary_.c_str());
  if (locked >= 0) ::close(locked);
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
