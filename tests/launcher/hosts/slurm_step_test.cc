// A process that stands for Slurm's daemon: all that counts of it is its name.
#include "launcher/hosts/slurm_step.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;

/// A daemon, and below it a process that runs `work` and then ends.
class FakeDaemon {
 public:
  template <class Work>
  explicit FakeDaemon(Work work) {
    EXPECT_EQ(::pipe2(says_.data(), O_CLOEXEC), 0);
    daemon_ = ::fork();
    if (daemon_ != 0) {
      ::close(says_[1]);
      return;
    }
    ::prctl(PR_SET_NAME, "slurmstepd");
    if (::fork() == 0) {
      work([this](char word) { EXPECT_EQ(::write(says_[1], &word, 1), 1); });
      ::_exit(0);
    }
    while (true) ::pause();
  }
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;
  ~FakeDaemon() {
    end();
    ::close(says_[0]);
  }
  /// What the process below it says next; 0: it has ended.
  char heard() const {
    char word = 0;
    return ::read(says_[0], &word, 1) == 1 ? word : '\0';
  }
  void end() {
    if (daemon_ == 0) return;
    ::kill(daemon_, SIGKILL);
    ::waitpid(std::exchange(daemon_, 0), nullptr, 0);
  }

 private:
  std::array<int, 2> says_{};
  pid_t daemon_ = 0;
};

TEST(SlurmStep, IsNoneWhereNoProcessAboveIsTheDaemon) { EXPECT_EQ(slurm_step_daemon(), 0); }

TEST(SlurmStep, IsTheDaemonAboveThisProcess) {
  FakeDaemon daemon([](auto say) { say(slurm_step_daemon() == ::getppid() ? 'y' : 'n'); });
  EXPECT_EQ(daemon.heard(), 'y');
}

TEST(SlurmStep, SaysWhenTheDaemonIsGone) {
  FakeDaemon daemon([](auto say) {
    UvLoop loop;
    bool gone = false;
    const SlurmStep step(loop, [&] { gone = true; });
    say('r');
    loop.run_until([&] { return gone; }, loop.now() + 10s);
    say(gone ? 'y' : 'n');
  });
  EXPECT_EQ(daemon.heard(), 'r');
  daemon.end();
  EXPECT_EQ(daemon.heard(), 'y');
}

TEST(SlurmStep, DoesNothingWithoutADaemon) {
  UvLoop loop;
  bool gone = false;
  const SlurmStep step(loop, [&] { gone = true; });
  loop.run_until([] { return false; }, loop.now() + 1ms);
  EXPECT_FALSE(gone);
}

}  // namespace
}  // namespace sterna::launcher
