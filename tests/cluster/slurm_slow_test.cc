// What takes a minute of Slurm's own: the shortest time limit, and the way back into the queue.
#include <gmock/gmock.h>

#include "tests/cluster/slurm_job.h"

namespace sterna::test {
namespace {

class SlurmTimeLimit : public SlurmJobTest {
 protected:
  void SetUp() override { start_hosts(GetParam()); }
};

TEST_P(SlurmTimeLimit, EndsARunPolitelyAndLeavesNothing) {
  const std::string job = start_for_ever({"--time=1"});
  EXPECT_TRUE(eventually(seconds(150), [&] { return forgotten(job); }));
  EXPECT_TRUE(nothing_left());
  EXPECT_EQ(exit_of_run(), 130) << story();
}

/// As before a time limit, and with what `sterna up` writes into such a script.
TEST_P(SlurmTimeLimit, IsTheEndOfAJobAndNotOfItsRun) {
  const std::string job =
      start_for_ever({"--requeue", "--open-mode=append"},
                     " --again 5 --set checkpoint.every_steps=1000000 --set cluster.grace=20s");
  EXPECT_TRUE(hosts().slurm({"scancel", "--signal=TERM", "--batch", job}).ok());
  EXPECT_TRUE(eventually(seconds(60), [&] { return exit_of_run() == 75; }))
      << story() << "of its first part, before the next begins";
  const auto events = [this] { return text_on(hosts(), "a", kRun + "/events.jsonl"); };
  EXPECT_TRUE(eventually(
      seconds(200),
      [&] { return events().find("from " + kRun + "/checkpoints/step-") != std::string::npos; }))
      << story() << events();
  EXPECT_TRUE(eventually(seconds(60), [&] { return !exit_of_run(); })) << "it goes on";
  EXPECT_THAT(hosts().slurm({"scontrol", "show", "job", job}).out,
              testing::HasSubstr("Restarts=1"));
  EXPECT_TRUE(hosts().slurm({"scancel", job}).ok());
  EXPECT_TRUE(eventually(seconds(60), [&] { return forgotten(job); }));
  EXPECT_TRUE(nothing_left());
}

INSTANTIATE_TEST_SUITE_P(Tracked, SlurmTimeLimit, testing::Values("linuxproc"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace sterna::test
