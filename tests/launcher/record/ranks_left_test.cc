#include "launcher/record/ranks_left.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace sterna::launcher {
namespace {

using testing::EndsWith;

ClusterFile file_with(const char* lost_host) {
  ClusterFile file;
  file.cluster.lost_host = lost_host;
  file.scheme.quorum = 3;
  file.actors = {{.name = "server0", .role = Role::kParameterServer, .host = "a"}};
  for (const char* name : {"worker0", "worker1", "worker2"}) {
    file.actors.push_back({.name = name, .role = Role::kWorker, .host = "a", .ranks = 2});
  }
  return file;
}

ProcessDown lost(const char* name) {
  ProcessDown down;
  down.identity = {name, 1};
  down.cause = "node-b is gone: silence";
  down.consequence = true;
  return down;
}

TEST(RanksLeft, TheRunGoesOnAsLongAsTheQuorumIsThere) {
  RanksLeft ranks(file_with("quorum"));
  EXPECT_EQ(ranks.left(), 6U);
  for (int i = 0; i < 2; ++i) {  // twice is once
    ProcessDown down = lost("worker1");
    EXPECT_TRUE(ranks.goes_on_without(down));
    EXPECT_EQ(down.cause, "node-b is gone: silence");
  }
  EXPECT_EQ(ranks.in_words(), "4 of 6 ranks are left, and a version takes 3");
  ProcessDown down = lost("worker2");
  EXPECT_FALSE(ranks.goes_on_without(down));
  EXPECT_THAT(down.cause, EndsWith("; 2 of 6 ranks are left, and a version takes 3"));
  EXPECT_FALSE(down.consequence) << "it is what the run fails of";
}

TEST(RanksLeft, OthersAndWhatWouldHappenAgainEndTheRun) {
  RanksLeft ranks(file_with("quorum"));
  ProcessDown server = lost("server0");
  EXPECT_FALSE(ranks.goes_on_without(server));
  ProcessDown failed = lost("worker0");
  failed.exit_code = 1;  // its loss is no number, say
  EXPECT_FALSE(ranks.goes_on_without(failed));
  EXPECT_EQ(ranks.left(), 6U);
  ProcessDown killed = failed;
  killed.signal = SIGKILL;
  EXPECT_TRUE(ranks.goes_on_without(killed));
}

TEST(RanksLeft, WhereTheFileDoesNotSaySoNoWorkerMayBeMissed) {
  RanksLeft ranks(file_with("move"));
  EXPECT_EQ(ranks.left(), 0U);
  ProcessDown down = lost("worker0");
  EXPECT_FALSE(ranks.goes_on_without(down));
}

}  // namespace
}  // namespace sterna::launcher
