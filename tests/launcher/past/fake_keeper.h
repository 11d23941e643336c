// A process that a run's state names as its keeper.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "launcher/past/run_state.h"

namespace sterna::launcher {

/// It waits for its end.
class FakeKeeper {
 public:
  FakeKeeper() : pid_(::fork()) {
    if (pid_ != 0) return;
    while (true) ::pause();
  }
  FakeKeeper(const FakeKeeper&) = delete;
  FakeKeeper& operator=(const FakeKeeper&) = delete;
  ~FakeKeeper() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Keeper keeper() const { return Keeper::of(pid_); }
  /// The signal that has ended it; 0: it goes on.
  int signal_of_end() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return 0;
    pid_ = 0;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  pid_t pid_;
};

}  // namespace sterna::launcher
