#include "launcher/page/past_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "launcher/text/whole_number.h"
#include "launcher/view/status_json.h"
#include "tests/launcher/view/view_fixture.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

class PastRunTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
  }
  TemporaryFolder folder;
};

TEST_F(PastRunTest, HasItsLastStatusAndItsEnd) {
  write("result.json", R"({"format":1,"exit":1,"cause":"worker0: killed by signal 9","steps":9})");
  write("status.json", status_json(status_in_training()) + "\n");
  const PastRun run = past_run(folder.path());
  EXPECT_EQ(run.exit, 1);
  EXPECT_EQ(run.words, "worker0: killed by signal 9");
  EXPECT_EQ(run.status.actors.size(), 2U);
  EXPECT_EQ(run.status.run_directory, folder.path());
}

TEST_F(PastRunTest, WithoutAStatusItsResultSaysWhatItCan) {
  write("result.json",
        R"({"format":1,"exit":0,"steps":2000,"seconds":28.1,"loss":0.5,"precision_at_1":0.99})");
  const PastRun run = past_run(folder.path());
  EXPECT_EQ(run.exit, 0);
  EXPECT_EQ(run.words, "done after 2,000 steps in 28 s");
  EXPECT_EQ(run.status.phase, "done");
  EXPECT_EQ(run.status.step, 2000);
  EXPECT_EQ(run.status.precision_at_1, 0.99);
  EXPECT_EQ(run.status.recall_at_5, std::nullopt);
}

TEST_F(PastRunTest, AKilledRunHasNoWordOfItsEnd) {
  const PastRun run = past_run(folder.path());
  EXPECT_EQ(run.exit, std::nullopt);
  EXPECT_EQ(run.status.phase, "unknown");
}

TEST_F(PastRunTest, NumbersThatNoRunHasAreTheNearestThatOneMayHave) {
  write("result.json", R"({"exit":1e300,"steps":1e300})");
  EXPECT_EQ(past_run(folder.path()).exit, 255);
  EXPECT_EQ(past_run(folder.path()).status.step, kLastStep);
  write("result.json", R"({"exit":-1e300,"steps":-1e300})");
  EXPECT_EQ(past_run(folder.path()).exit, -255);
  EXPECT_EQ(past_run(folder.path()).status.step, 0);
}

TEST_F(PastRunTest, AResultThatIsNoneIsNone) {
  for (const char* text : {"", "{", "[1]", "7"}) {
    write("result.json", text);
    EXPECT_EQ(past_run(folder.path()).exit, std::nullopt) << text;
  }
}

}  // namespace
}  // namespace sterna::launcher
