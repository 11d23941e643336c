// What takes a minute of Slurm's own: the shortest time limit.
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

INSTANTIATE_TEST_SUITE_P(Tracked, SlurmTimeLimit, testing::Values("linuxproc"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace sterna::test
