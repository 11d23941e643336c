// Who may start a run of a file, where several would.
#include "launcher/past/start_turn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <optional>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;

class StartTurnTest : public testing::Test {
 protected:
  TemporaryFolder folder;
  RunStates states{folder / "sterna/runs"};
};

TEST_F(StartTurnTest, OfOneFileIsOneStartersAtATime) {
  std::optional<Result<StartTurn>> first(StartTurn::take(states, "/job.toml", [] {}));
  ASSERT_TRUE(first->ok()) << first->error().message;
  std::promise<void> waits;
  std::future<bool> second = std::async(std::launch::async, [&] {
    return StartTurn::take(states, "/job.toml", [&] { waits.set_value(); }).ok();
  });
  waits.get_future().wait();
  first.reset();
  EXPECT_TRUE(second.get());
  EXPECT_TRUE(std::filesystem::is_empty(folder / "sterna/runs")) << "its file is gone";
}

TEST_F(StartTurnTest, OfOtherFilesNobodyWaits) {
  const auto unwaited = [] { ADD_FAILURE() << "it waits"; };
  const Result<StartTurn> first = StartTurn::take(states, "/job.toml", unwaited);
  const Result<StartTurn> second = StartTurn::take(states, "/other.toml", unwaited);
  EXPECT_TRUE(first.ok());
  EXPECT_TRUE(second.ok());
  EXPECT_TRUE(states.all().empty()) << "a lock is no run";
}

TEST_F(StartTurnTest, IsNobodysWhereNoStateCanBeWritten) {
  const Result<StartTurn> turn = StartTurn::take(RunStates("/proc/sterna"), "/job.toml", [] {});
  ASSERT_FALSE(turn.ok());
  EXPECT_EQ(turn.error().code, Errc::permission);
  EXPECT_THAT(turn.error().message, HasSubstr("/proc/sterna"));
}

}  // namespace
}  // namespace sterna::launcher
