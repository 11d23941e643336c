#include "launcher/past/start_turn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace sterna::launcher {
namespace {

/// Who had it before has removed its file since it was opened, and another may have a new one.
bool is_at(const std::string& path, int opened) {
  struct stat there {};
  struct stat ours {};
  return ::stat(path.c_str(), &there) == 0 && ::fstat(opened, &ours) == 0 &&
         there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
}

/// Where the file system has no locks, nobody waits.
void wait_for_lock(int opened, const std::function<void()>& waits) {
  if (::flock(opened, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  waits();
  while (::flock(opened, LOCK_EX) != 0 && errno == EINTR) continue;
}

/// A disk that is full takes an empty file.
bool writes(int opened, const std::string& text) {
  return ::pwrite(opened, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

Error not_kept(const std::string& why) {
  return {Errc::permission, fmt::format("a run that is started could not be found again, and none "
                                        "is: {}; XDG_STATE_HOME names another folder",
                                        why)};
}

}  // namespace

Result<StartTurn> StartTurn::take(const RunStates& states, const std::string& file,
                                  const std::function<void()>& waits) {
  if (const Result<void> made = states.make_folder(); !made) return not_kept(made.error().message);
  const std::string path = states.start_lock_path(file);
  // Each time round another has just ended its turn.
  constexpr int kMostTurns = 1000;
  for (int turns = 0; turns < kMostTurns; ++turns) {
    const int opened = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (opened < 0) return not_kept(system_error(path, errno).message);
    wait_for_lock(opened, waits);
    if (!is_at(path, opened)) {
      ::close(opened);
      continue;
    }
    StartTurn turn(path, opened);
    if (!writes(opened, file + "\n")) return not_kept(system_error(path, errno).message);
    return turn;
  }
  return not_kept(path + ": a file of this name does not stay the same");
}

StartTurn::StartTurn(StartTurn&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

StartTurn::~StartTurn() {
  if (lock_ < 0) return;
  ::unlink(path_.c_str());
  ::close(lock_);
}

}  // namespace sterna::launcher
