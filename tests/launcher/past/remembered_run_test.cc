#include "launcher/past/remembered_run.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <csignal>
#include <optional>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

class RememberedRunTest : public testing::Test {
 protected:
  RememberedRunTest() {
    ::setenv("XDG_STATE_HOME", folder_.path().c_str(), 1);
    RunState state;
    state.run_directory = "/runs/mine";
    state.detached = true;
    run_.emplace(console_);
    EXPECT_TRUE(run_->write(state, "a").ok());
  }
  ~RememberedRunTest() override { ::unsetenv("XDG_STATE_HOME"); }
  /// As on a full disk.
  void end_where_nothing_can_be_written() {
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    rlimit none = before;
    none.rlim_cur = 0;
    const auto heard = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &none);
    run_->ended(1, "failed", "", false);
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, heard);
  }
  TemporaryFolder folder_;
  Console console_;
  std::optional<RememberedRun> run_;
};

TEST_F(RememberedRunTest, LeavesWordOfHowItEnded) {
  run_->ended(1, "failed", "", false);
  run_.reset();
  const Result<RunState> state = RunStates::of_user()->find("mine");
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(state->ended, "failed");
}

TEST_F(RememberedRunTest, IsNotForgottenWhereItsEndCannotBeWritten) {
  end_where_nothing_can_be_written();
  run_.reset();
  const Result<RunState> state = RunStates::of_user()->find("mine");
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(state->ended, "");
  EXPECT_EQ(state->run_directory, "/runs/mine");
}

}  // namespace
}  // namespace sterna::launcher
