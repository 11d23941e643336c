// A process whose command line is that of an actor's process, for who looks for such.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/temporary_folder.h"

namespace sterna::launcher {

/// It waits for its end. Its log is that of a process on another host of the
/// run id().
class FakeActor {
 public:
  FakeActor(const std::string& name, std::uint64_t run) {
    // A shell that runs the script "__process": its arguments are then a process's of ours.
    std::ofstream(folder_ / "__process") << "kill -STOP $$\n";
    id_ = "mnist-" + std::to_string(run);
    const std::filesystem::path logs = folder_ / ("runs/" + id_ + "-0123abcd");
    std::filesystem::create_directories(logs);
    log_ = logs / (name + ".log");
    const int log = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(run));
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setpgid(0, 0);
      ::dup2(log, STDERR_FILENO);
      if (::chdir(folder_.path().c_str()) != 0) ::_exit(1);
      ::execl("/bin/sh", "my program", "__process", name.c_str(), digits.data(), "1", nullptr);
      ::_exit(1);
    }
    ::close(log);
    ::waitpid(pid_, nullptr, WUNTRACED);  // until it has stopped itself
  }
  FakeActor(const FakeActor&) = delete;
  FakeActor& operator=(const FakeActor&) = delete;
  ~FakeActor() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  pid_t pid() const { return pid_; }
  const std::string& id() const { return id_; }
  const std::string& log() const { return log_; }
  /// The signal that has ended it; 0: it goes on.
  int signal_of_end() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return 0;
    pid_ = 0;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  TemporaryFolder folder_;
  std::string id_;
  std::string log_;
  pid_t pid_ = 0;
};

}  // namespace sterna::launcher
