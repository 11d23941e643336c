#include "input/files/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace sterna::input {

Result<FolderLock> FolderLock::take(const std::filesystem::path& folder) {
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return system_error("cannot open " + folder.string(), errno);
  FolderLock lock(opened);
  if (::flock(opened, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return lock;
  return Error{
      Errc::already_exists,
      fmt::format("another process is writing into {}; wait for it, or name another folder",
                  folder.string())};
}

FolderLock::~FolderLock() {
  if (folder_ >= 0) ::close(folder_);
}

}  // namespace sterna::input
