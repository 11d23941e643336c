// Who follows a run's checkpoints: until when. That each is heard of while it goes on,
// run_eval_test shows.
#include "launcher/commands/weights/follow_checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "runtime/loop/uv_loop.h"
#include "tests/launcher/kept_checkpoint.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
namespace fs = std::filesystem;

class FollowCheckpoints : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder.path() + "/" + name) << text;
  }
  /// As if that were written two minutes ago.
  void age(const std::string& name) const {
    fs::last_write_time(folder.path() + "/" + name,
                        fs::file_time_type::clock::now() - std::chrono::minutes(2));
  }
  Result<void> follow() {
    return follow_checkpoints(folder.path(), loop, {},
                              [this](const actors::SavedCheckpoint& saved) -> Result<bool> {
                                steps.push_back(saved.manifest.step);
                                if (comes_later > 0)
                                  keep_checkpoint(folder.path(), std::exchange(comes_later, 0));
                                return saved.manifest.step < last_step;
                              });
  }

  TemporaryFolder folder;
  UvLoop loop;
  std::vector<std::uint64_t> steps;
  std::uint64_t last_step = 100;
  std::uint64_t comes_later = 0;  ///< the step of one that is made after the first visit; 0: none
};

TEST_F(FollowCheckpoints, EndsWithTheRunOnceAllHaveBeenVisited) {
  keep_checkpoint(folder.path(), 10);
  keep_checkpoint(folder.path(), 20);
  write("result.json", "{\"exit\":130,\"steps\":25,\"cause\":\"interrupted\"}");
  EXPECT_TRUE(follow().ok());
  EXPECT_THAT(steps, ElementsAre(10, 20));
}

TEST_F(FollowCheckpoints, EndsWithARunThatWasKilledAWhileAgo) {
  write("resolved.toml", "format = 1\n");
  write("metrics.jsonl", "{}\n");
  age("metrics.jsonl");
  const Result<void> done = follow();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, Errc::unavailable);
  EXPECT_EQ(done.error().message, folder.path() +
                                      ": there is no checkpoint to evaluate, and the run has ended "
                                      "without a word: it was killed, or its disk was full");
}

TEST_F(FollowCheckpoints, WaitsForARunThatMayBeStartedAgain) {
  last_step = 20;
  keep_checkpoint(folder.path(), 10);
  write("result.json", "{\"exit\":75,\"steps\":15,\"cause\":\"told to end\"}");
  comes_later = 20;
  EXPECT_TRUE(follow().ok());
  EXPECT_THAT(steps, ElementsAre(10, 20)) << "and not by then";
  steps.clear();
  last_step = 100;
  age("result.json");
  EXPECT_TRUE(follow().ok());
  EXPECT_THAT(steps, ElementsAre(10, 20));
}

}  // namespace
}  // namespace sterna::launcher
