// What changes nothing is said, not refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/launcher/cluster_file/cluster_file_fixture.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DoubtsTest : public ClusterFileTest {
 protected:
  std::vector<std::string> doubts(const std::string& more) {
    const Result<ClusterFile> file = read(std::string(smallest) + more);
    EXPECT_TRUE(file.ok()) << file.error().message;
    return file.ok() ? doubtful_lines(*file) : std::vector<std::string>{"refused"};
  }
};

TEST_F(DoubtsTest, AWarmUpThatNeverEnds) {
  EXPECT_THAT(doubts("[optimizer]\nname = \"gd\"\nwarm_up = 200\n"), IsEmpty());
  EXPECT_THAT(doubts("[optimizer]\nname = \"gd\"\nwarm_up = 201\n"),
              ElementsAre("optimizer.warm_up = 201 is more than job.steps = 200: the learning rate "
                          "never grows to optimizer.learning_rate"));
}

TEST_F(DoubtsTest, AnOptimizerWhereServersAddWhatRanksHaveComeTo) {
  const std::string keys =
      "[optimizer]\nname = \"adam\"\nlearning_rate = 0.5\nweight_decay = 0.1\n";
  EXPECT_THAT(doubts(keys), IsEmpty());
  EXPECT_THAT(
      doubts(keys + "[scheme]\nname = \"local_sgd\"\n"),
      ElementsAre("optimizer.name, optimizer.learning_rate change nothing where scheme.name "
                  "is \"local_sgd\": ranks step by [local_optimizer], and servers add what "
                  "they come to"));
  EXPECT_THAT(doubts("[scheme]\nname = \"local_sgd\"\n"), IsEmpty());
}

TEST_F(DoubtsTest, KeysOfAnotherSchedule) {
  const std::string keys = "decay_factor = 0.5\nepochs_per_decay = 3\n";
  EXPECT_THAT(doubts("[optimizer]\nschedule = \"exponential\"\n" + keys), IsEmpty());
  EXPECT_THAT(doubts("[optimizer]\n" + keys),
              ElementsAre("optimizer.decay_factor, optimizer.epochs_per_decay change nothing where "
                          "optimizer.schedule is \"fixed\""));
}

TEST_F(DoubtsTest, WhatIsOfTernaryGradientsAlone) {
  const std::string keys = "clip = 3.0\nscaler = \"shared\"\n";
  EXPECT_THAT(doubts("[gradient]\n" + keys), IsEmpty());
  EXPECT_THAT(doubts("[gradient]\ncodec = \"none\"\n" + keys),
              ElementsAre("gradient.clip, gradient.scaler change nothing where gradient.codec is "
                          "\"none\""));
}

TEST_F(DoubtsTest, WhatANetWithoutDropoutWouldKeep) {
  const std::string keep = "[net]\nkeep = 0.8\n";
  EXPECT_THAT(doubts(keep), ElementsAre("net.keep changes nothing: lenet drops no units"));
  EXPECT_THAT(doubts("[net]\nkeep = 0.5\n"), IsEmpty());
  const Result<ClusterFile> file = read(std::string(smallest) + keep, {"job.net=alexnet"});
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_THAT(doubtful_lines(*file), IsEmpty());
}

TEST_F(DoubtsTest, WhatKeepsOrWritesNothing) {
  EXPECT_THAT(doubts("[checkpoint]\nbest = true\nevery_steps = 10\n"), IsEmpty());
  EXPECT_THAT(doubts("[checkpoint]\nbest = true\n[summary]\nevery = 10\n"),
              ElementsAre("checkpoint.best keeps nothing: no checkpoint is made without "
                          "checkpoint.every_steps or checkpoint.every_seconds",
                          "summary.every writes nothing where summary.tensorboard is false"));
}

}  // namespace
}  // namespace sterna::launcher
