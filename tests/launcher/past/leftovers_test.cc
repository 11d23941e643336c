// What is left of a run on this machine, whose shell is asked without ssh.
#include "launcher/past/leftovers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const std::vector<StateHost> kHere = {{"here", "", ""}};

/// A process whose command line is that of an actor's process, and which waits for its end.
class FakeActor {
 public:
  FakeActor(const std::string& name, std::uint64_t run) {
    // A shell that runs the script "__process": its arguments are then a process's of ours.
    std::ofstream(folder_ / "__process") << "kill -STOP $$\n";
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(run));
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setpgid(0, 0);
      if (::chdir(folder_.path().c_str()) != 0) ::_exit(1);
      ::execl("/bin/sh", "sh", "__process", name.c_str(), digits.data(), "1", nullptr);
      ::_exit(1);
    }
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
  /// The signal that has ended it; 0: it goes on.
  int signal_of_end() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return 0;
    pid_ = 0;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  TemporaryFolder folder_;
  pid_t pid_ = 0;
};

class Leftovers : public testing::Test {
 protected:
  /// The run's processes on this machine: others may have some, too.
  std::vector<HostProcess> of_run(const std::string& run) {
    std::vector<std::string> errors;
    std::vector<HostProcess> found = processes_on(machine_, kHere, errors);
    EXPECT_THAT(errors, IsEmpty());
    std::erase_if(found, [&](const HostProcess& process) { return process.run != run; });
    return found;
  }
  RealMachine machine_{[](std::string_view) {}};
  std::uint64_t run_ = 0x5eed000000000000 + static_cast<std::uint64_t>(::getpid());
};

TEST_F(Leftovers, AreFoundByTheirCommandLines) {
  const FakeActor actor("worker0", 0xfedcba9876543210);
  const std::vector<HostProcess> found = of_run("fedcba9876543210");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].host, "here");
  EXPECT_EQ(found[0].name, "worker0");
  EXPECT_EQ(found[0].pid, actor.pid());
}

TEST_F(Leftovers, AreKilledWhereTheyDoNotEndInTime) {
  FakeActor actor("worker0", run_);
  const std::vector<HostSweep> swept = sweep(machine_, kHere, run_, Duration(0));
  ASSERT_THAT(swept, SizeIs(1));
  EXPECT_EQ(swept[0].error, "");
  EXPECT_EQ(swept[0].found, 1U);
  EXPECT_EQ(swept[0].left, 0U);
  EXPECT_EQ(actor.signal_of_end(), SIGKILL);
}

TEST_F(Leftovers, OfAnotherRunAreLeftAlone) {
  FakeActor other("worker0", run_ + 1);
  const std::vector<HostSweep> swept = sweep(machine_, kHere, run_, Duration(0));
  ASSERT_THAT(swept, SizeIs(1));
  EXPECT_EQ(swept[0].found, 0U);
  EXPECT_EQ(other.signal_of_end(), 0);
}

}  // namespace
}  // namespace sterna::launcher
