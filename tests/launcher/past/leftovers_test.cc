// What is left of a run on this machine, whose shell is asked without ssh.
#include "launcher/past/leftovers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "tests/launcher/past/fake_actor.h"

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
