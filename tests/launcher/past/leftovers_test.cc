// What is left of a run on this machine, whose shell is asked without ssh.
#include "launcher/past/leftovers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/launcher/past/fake_actor.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const std::vector<StateHost> kHere = {{"here", "", ""}};

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
  EXPECT_EQ(found[0].log, actor.log());
  EXPECT_FALSE(found[0].keeps);
}

TEST_F(Leftovers, AreFoundBehindWhatALoginShellPrints) {
  const TemporaryFolder folder;
  std::ofstream(folder / "ssh") << R"sh(#!/bin/sh
cat >/dev/null
echo Welcome
printf 'ready> '
echo STERNA process 7 /bin/sterna __process node-a fedcba9876543210 0
echo STERNA log 7 /runs/x/logs/node-a.log
echo STERNA listed
)sh";
  std::filesystem::permissions(folder / "ssh", std::filesystem::perms::owner_all);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", (folder.path() + ":" + path).c_str(), 1);
  std::vector<std::string> errors;
  const std::vector<HostProcess> found = processes_on(machine_, {{"a", "a", ""}}, errors);
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(errors, IsEmpty());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].name, "node-a");
  EXPECT_EQ(found[0].pid, 7);
  EXPECT_EQ(found[0].log, "/runs/x/logs/node-a.log");
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
