#include "launcher/past/run_visitor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/zmq/curve_keys.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;

class RunVisitorTest : public testing::Test {
 protected:
  RunVisitorTest() {
    ::setenv("XDG_STATE_HOME", folder_.path().c_str(), 1);
    state_.id = "mnist-1";
    state_.name = "mnist";
    state_.run = 1;
    state_.network.tcp = true;
    state_.coordinator.process = kCoordinatorProcess.value;
    state_.coordinator.identity = {"coordinator", 1};
    // Nobody listens at these ports, which only root could bind.
    state_.coordinator.control_endpoint = "tcp://127.0.0.1:1";
    state_.coordinator.data_endpoint = "tcp://127.0.0.1:2";
    state_.coordinator.public_key = make_credentials().public_key;
    state_.operators = issue_operators();
    EXPECT_TRUE(states_.write(state_).ok());
  }
  ~RunVisitorTest() override { ::unsetenv("XDG_STATE_HOME"); }

  Error visit() {
    const auto visitor = RunVisitor::visit(machine_, state_, 10ms);
    EXPECT_FALSE(visitor.ok());
    return visitor.ok() ? Error{} : visitor.error();
  }

  TemporaryFolder folder_;
  RunStates states_{folder_.path() + "/sterna/runs"};
  RealMachine machine_{[](std::string_view) {}};
  RunState state_;
};

TEST_F(RunVisitorTest, SaysWhenTheCoordinatorDoesNotAnswer) {
  const Error error = visit();
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_EQ(error.message, "the coordinator of mnist-1 does not answer");
}

TEST_F(RunVisitorTest, RemovesTheSocketsOfThoseThatWereKilled) {
  const std::filesystem::path dead = folder_ / "sterna-0000000000000000-abcdef";
  std::filesystem::create_directory(dead);
  std::ofstream(dead / "owner");  // which nobody locks
  state_.network.tcp = false;
  state_.coordinator.control_endpoint = "ipc://" + (folder_ / "none").string();
  state_.coordinator.data_endpoint = state_.coordinator.control_endpoint;
  ::setenv("TMPDIR", folder_.path().c_str(), 1);
  EXPECT_EQ(visit().code, Errc::unavailable);
  ::unsetenv("TMPDIR");
  for (const auto& left : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_EQ(left.path().filename(), "sterna") << "what is remembered, alone";
  }
}

TEST_F(RunVisitorTest, IsRefusedWhereAllIdentitiesAreInUse) {
  std::vector<int> locks;
  for (const OperatorKeys& keys : state_.operators) {
    locks.push_back(::open(states_.lock_path(state_.id, keys.identity.name).c_str(),
                           O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(::flock(locks.back(), LOCK_EX), 0);
  }
  const Error error = visit();
  EXPECT_EQ(error.code, Errc::overloaded);
  EXPECT_NE(error.message.find("commands look at mnist-1 already"), std::string::npos);
  for (const int lock : locks) ::close(lock);
}

}  // namespace
}  // namespace sterna::launcher
