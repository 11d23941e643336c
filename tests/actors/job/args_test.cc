#include "actors/job/args.h"

#include <gtest/gtest.h>

namespace sterna::actors {
namespace {

TEST(WorkerRanks, AreHostedByTheWorkerOfThatNameAlone) {
  const std::vector<WorkerRanks> workers = {{"worker0", 0, 2}, {"worker1", 2, 1}};
  EXPECT_TRUE(hosts(workers, "worker0", 0));
  EXPECT_TRUE(hosts(workers, "worker0", 1));
  EXPECT_FALSE(hosts(workers, "worker0", 2));
  EXPECT_TRUE(hosts(workers, "worker1", 2));
  EXPECT_FALSE(hosts(workers, "worker1", 3));
  EXPECT_FALSE(hosts(workers, "reader0", 0));
}

TEST(WorkerArgs, AveragedRanksAreThoseOfOneWorker) {
  WorkerArgs args;
  args.job.net = "mlp";
  args.job.steps = 1;
  args.job.ranks = 4;
  args.job.gradient.host = HostRule::average;
  args.job.averaged_ranks = 2;
  args.servers = {"server0"};
  args.readers = {"reader0"};
  args.ranks = 2;
  args.first_rank = 2;
  EXPECT_TRUE(args.check().ok());
  args.first_rank = 1;
  EXPECT_FALSE(args.check().ok());
  args.first_rank = 0;
  args.ranks = 4;
  EXPECT_FALSE(args.check().ok());
  EXPECT_TRUE(validate(args.job).ok());
  args.job.averaged_ranks = 3;
  EXPECT_FALSE(validate(args.job).ok());
  args.job.averaged_ranks = 2;
  args.job.gradient.host = HostRule::each;
  EXPECT_FALSE(validate(args.job).ok());
}

TEST(WorkerArgs, AWorkerWithoutServersHasAllRanks) {
  WorkerArgs args;
  args.job.ranks = 4;
  args.readers = {"reader0"};
  args.ranks = 4;
  EXPECT_FALSE(args.check().ok());
  args.job.gradient.exchange = ExchangeRule::nccl;
  EXPECT_TRUE(args.check().ok());
  EXPECT_FALSE(args.job.workers_come_again());
  args.ranks = 3;
  EXPECT_FALSE(args.check().ok());
  args.ranks = 4;
  args.servers = {"server0"};
  EXPECT_FALSE(args.check().ok());
}

}  // namespace
}  // namespace sterna::actors
