// Lines as the originals print them.
#include "launcher/view/original_log.h"

#include <gtest/gtest.h>

#include "view_fixture.h"

namespace sterna::launcher {
namespace {

class OriginalLogTest : public testing::Test {
 protected:
  std::unique_ptr<RunView> log(std::string_view style) {
    return make_original_log(style, out_, [] { return "2026-01-02 03:04:05"; });
  }
  /// What was written since the last call.
  std::string written() { return out_.taken(); }
  static RunStatus at(std::int64_t step, double seconds) {
    RunStatus status = status_in_training();
    status.step = step;
    status.elapsed_seconds = seconds;
    status.batches_of_epoch = 550;
    return status;
  }
  RecordedText out_;
};

TEST_F(OriginalLogTest, SchlagsHasALineEachHundredStepsAndAtTheEndOfAnEpoch) {
  const auto view = log("schlag");
  view->update(at(99, 1));
  EXPECT_EQ(written(), "");
  view->update(at(100, 1.5));
  EXPECT_EQ(written(),
            "Step: 100,  Epoch:  1,  Batch: 100 of 550,  Cost: 0.0833,  AvgTime: 15.00ms\n");
  view->update(at(520, 3.6));
  EXPECT_EQ(written(),
            "Step: 520,  Epoch:  1,  Batch: 520 of 550,  Cost: 0.0833,  AvgTime: 5.00ms\n");
  view->update(at(549, 3.7));
  EXPECT_EQ(written(), "");
  view->update(at(551, 3.91));
  EXPECT_EQ(written(),
            "Step: 551,  Epoch:  2,  Batch:   1 of 550,  Cost: 0.0833,  AvgTime: 10.00ms\n");
}

TEST_F(OriginalLogTest, SchlagsEndsWithTheAccuracyTheTimeAndTheCost) {
  const auto view = log("schlag");
  RunStatus status = at(11'000, 61.234);
  status.phase = "failed";
  view->finish(status);
  EXPECT_EQ(written(), "");
  status.phase = "done";
  view->finish(status);
  EXPECT_EQ(written(), "Test-Accuracy: 0.98\nTotal Time: 61.23s\nFinal Cost: 0.0833\ndone\n");
}

TEST_F(OriginalLogTest, TerngradsHasALineEachTenStepsAndAfterEachEvaluation) {
  const auto view = log("terngrad");
  RunStatus status = at(9, 0.9);
  status.precision_at_1.reset();
  view->update(status);
  EXPECT_EQ(written(), "");
  status.step = 12;
  status.elapsed_seconds = 1.5;
  view->update(status);
  EXPECT_EQ(written(),
            "2026-01-02 03:04:05: step 12, loss = 0.08 (3912.4 examples/sec; 0.125 sec/batch)\n");
  status.precision_at_1 = 0.9812;
  status.recall_at_5 = 0.9991;
  view->update(status);
  EXPECT_EQ(written(), "2026-01-02 03:04:05: precision @ 1 = 0.9812 recall @ 5 = 0.9991\n");
  view->update(status);
  EXPECT_EQ(written(), "");
}

}  // namespace
}  // namespace sterna::launcher
