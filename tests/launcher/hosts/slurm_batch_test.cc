#include "launcher/hosts/slurm_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

ClusterFile by_resources(std::int64_t nodes) {
  const std::string text = R"(format = 1
[cluster]
name = "job"
placer = "slurm"
nodes = )" + std::to_string(nodes) +
                           R"(
[[actor]]
role = "parameter_server"
count = 2
cpus = 1
memory = "300MiB"
[[actor]]
role = "worker"
count = 4
cpus = 2
gpus = 1
[[actor]]
role = "input_reader"
[[actor]]
role = "evaluator"
[job]
net = "lenet"
steps = 1
)";
  const auto file = parse_cluster_file(text, "job.toml");
  EXPECT_TRUE(file) << file.error().message;
  return *file;
}

TEST(SlurmRequest, IsTheLeastThatHoldsAllActors) {
  const auto one = slurm_request(by_resources(1));
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->cpus, 10);
  EXPECT_EQ(one->gpus, 4);
  EXPECT_EQ(one->megabytes, 600U);
  const auto two = slurm_request(by_resources(2));
  EXPECT_EQ(two->cpus, 5);
  EXPECT_EQ(two->gpus, 2);
  EXPECT_EQ(two->megabytes, 300U);
}

TEST(SlurmScript, AsksForWhatTheActorsNeedAndHoldsTheFile) {
  ClusterFile file = by_resources(2);
  file.cluster.time = std::chrono::seconds(90);
  file.cluster.partition = "gpu";
  const std::string text =
      slurm_script(file, {2, 5, 2, 300},
                   {"/data/o'hara", {"/opt/sterna", "~/.cache/sterna"}, "", "/elsewhere/job-1", 5});
  for (const char* line :
       {"#SBATCH --nodes=2\n", "#SBATCH --ntasks-per-node=1\n", "#SBATCH --cpus-per-task=5\n",
        "#SBATCH --gres=gpu:2\n", "#SBATCH --mem=300M\n", "#SBATCH --time=2\n",
        "#SBATCH --partition='gpu'\n", "|| p='/opt/sterna'\n", "|| p=~/'.cache/sterna'\n",
        "run /dev/stdin --run-dir '/elsewhere/job-1'", "#SBATCH --output='/elsewhere/job-1.out'\n",
        "placer = \"slurm\"\n"}) {
    EXPECT_THAT(text, testing::HasSubstr(line));
  }
  EXPECT_THAT(text, testing::HasSubstr(R"(--chdir='/data/o'\''hara')"));
}

TEST(SlurmScript, WritesBesideTheRunWhateverSlurmTakesForASignInItsName) {
  const std::string text =
      slurm_script(by_resources(1), {}, {"/50%j", {"/opt/sterna"}, "", "/50%j/1", 5});
  for (const char* line : {"#SBATCH --chdir='/50%j'\n", "#SBATCH --output='/50%%j/1.out'\n",
                           "run /dev/stdin --run-dir '/50%j/1'"}) {
    EXPECT_THAT(text, testing::HasSubstr(line));
  }
}

TEST(SlurmScript, OfARunThatKeepsCheckpointsGoesBackIntoTheQueue) {
  ClusterFile file = by_resources(1);
  const SlurmScript script{"/data", {"/opt/sterna"}, "", "/runs/1", 5};
  EXPECT_THAT(slurm_script(file, {}, script), testing::Not(testing::HasSubstr("requeue")));
  file.checkpoint.every_seconds = 60;
  const std::string text = slurm_script(file, {}, script);
  for (const char* line : {"#SBATCH --requeue\n", "#SBATCH --open-mode=append\n",
                           "#SBATCH --signal=B:TERM@60\n", "--run-dir '/runs/1' --again 5 <<"}) {
    EXPECT_THAT(text, testing::HasSubstr(line));
  }
  const std::string once = slurm_script(file, {}, {"/data", {"/opt/sterna"}, "", "/runs/1", 0});
  EXPECT_THAT(once, testing::Not(testing::HasSubstr("--requeue")));
  EXPECT_THAT(once, testing::HasSubstr("--again 0 <<")) << "submitted by hand it goes on";
  file.cluster.time = std::chrono::minutes(5);
  EXPECT_THAT(slurm_script(file, {}, script), testing::Not(testing::HasSubstr("--signal")))
      << "there would be no time left to train in";
}

}  // namespace
}  // namespace sterna::launcher
