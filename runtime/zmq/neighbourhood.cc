#include "runtime/zmq/neighbourhood.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <string_view>

#include "runtime/zmq/socket_directory.h"

namespace sterna {
namespace {

constexpr std::size_t kRunDigits = 16;     // hexadecimal
constexpr std::size_t kUniqueLetters = 7;  // with the hyphen before them
constexpr const char* kLock = "owner";

std::string label_of(std::uint64_t run) { return fmt::format("{:016x}-", run); }

bool is_name_of_ours(std::string_view name) {
  if (!name.starts_with(kSocketDirectoryPrefix)) return false;
  name.remove_prefix(kSocketDirectoryPrefix.size());
  return name.size() == kRunDigits + kUniqueLetters &&
         name.find_first_not_of("0123456789abcdef") == kRunDigits && name[kRunDigits] == '-';
}

/// Removes the directories of this kind and this user's that `doomed` names.
void remove_those(const std::function<bool(const std::filesystem::path&)>& doomed) {
  std::error_code ignored;  // others come and go while we look
  for (std::filesystem::directory_iterator entry(socket_directory_base(), ignored), end;
       entry != end; entry.increment(ignored)) {
    if (!is_name_of_ours(entry->path().filename().string())) continue;
    struct stat status {};
    const bool own = ::lstat(entry->path().c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                     status.st_uid == ::geteuid();
    if (own && doomed(entry->path())) std::filesystem::remove_all(entry->path(), ignored);
  }
}

/// One without a lock is being made just now.
bool owner_is_dead(const std::filesystem::path& directory) {
  const int lock = ::open((directory / kLock).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (lock < 0) return false;
  const bool free = ::flock(lock, LOCK_EX | LOCK_NB) == 0;
  ::close(lock);
  return free;
}

}  // namespace

Result<std::unique_ptr<NearDirectory>> NearDirectory::make(std::uint64_t run) {
  remove_those(owner_is_dead);
  STERNA_ASSIGN(std::string path, make_socket_directory(label_of(run)));
  std::unique_ptr<NearDirectory> made(new NearDirectory(std::move(path)));
  STERNA_TRY(made->take());
  return made;
}

/// The lock gets its name once it is held: nobody finds it free before.
Result<void> NearDirectory::take() {
  const std::string name = path_ + "/" + kLock;
  const std::string before = name + ".new";
  lock_ = ::open(before.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (lock_ < 0 || ::flock(lock_, LOCK_EX | LOCK_NB) != 0 ||
      ::rename(before.c_str(), name.c_str()) != 0) {
    return system_error("cannot lock " + name, errno);
  }
  return {};
}

NearDirectory::~NearDirectory() {
  std::error_code ignored;  // somebody else was faster
  std::filesystem::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

void NearDirectory::remove_of(std::uint64_t run) {
  const std::string prefix = std::string(kSocketDirectoryPrefix) + label_of(run);
  remove_those([&](const std::filesystem::path& directory) {
    return directory.filename().string().starts_with(prefix);
  });
}

}  // namespace sterna
