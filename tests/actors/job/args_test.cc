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

}  // namespace
}  // namespace sterna::actors
