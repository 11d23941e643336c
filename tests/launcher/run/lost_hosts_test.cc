// The file that is left when hosts are lost.
#include "launcher/run/lost_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/cluster_file/placement.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LostHostsTest : public testing::Test {
 protected:
  LostHostsTest() {
    for (const char* name : {"a", "b", "c"}) {
      HostSection host;
      host.name = name;
      host.address = host.bind = "127.0.0.1";
      host.cpus = 2;
      hosts.push_back(host);
    }
    file.cluster.head = "a";
  }
  ActorSection& add(const char* role, std::int64_t count) {
    ActorSection& table = file.tables.emplace_back();
    table.role = role;
    table.count = count;
    return table;
  }
  void placed() {
    Result<ClusterFile> all = place(file, hosts);
    ASSERT_TRUE(all.ok()) << all.error().message;
    file = std::move(all).value();
  }
  static std::vector<std::string> where(const ClusterFile& file) {
    std::vector<std::string> names;
    for (const ActorPlan& actor : file.actors) names.push_back(actor.name + " on " + actor.host);
    return names;
  }

  ClusterFile file;
  std::vector<HostSection> hosts;
};

TEST_F(LostHostsTest, ItsActorsAreOnTheOthers) {
  add("parameter_server", 3);
  add("worker", 2).hosts = {"b", "c"};
  placed();
  const Result<ClusterFile> left = without_hosts(file, {"b"});
  ASSERT_TRUE(left.ok()) << left.error().message;
  EXPECT_THAT(where(*left), ElementsAre("server0 on a", "server1 on c", "server2 on a",
                                        "worker0 on c", "worker1 on c"));
  ASSERT_EQ(left->hosts.size(), 3U);
  EXPECT_TRUE(left->hosts[1].spare) << "somebody may add it again";
  EXPECT_FALSE(with_added(*left, {"b"}).hosts[1].spare);
  EXPECT_EQ(left->cluster.head, "a");
  file.cluster.head.clear();  // the machine that the command runs on
  EXPECT_EQ(without_hosts(file, {"b"})->cluster.head, "");
}

TEST_F(LostHostsTest, TooFewCoresAreNoHindrance) {
  add("worker", 6).cpus = 1;
  placed();
  const Result<ClusterFile> left = without_hosts(file, {"c"});
  ASSERT_TRUE(left.ok()) << left.error().message;
  EXPECT_EQ(left->actors.size(), 6U);
  EXPECT_EQ(left->hosts[0].cpus, 2) << "it has as many as before";
}

TEST_F(LostHostsTest, WhoMayBeNowhereElseIsSaid) {
  add("parameter_server", 1).hosts = {"c"};
  placed();
  const Result<ClusterFile> left = without_hosts(file, {"c"});
  ASSERT_FALSE(left.ok());
  EXPECT_THAT(left.error().message, HasSubstr("hosts = [\"c\"]"));
  EXPECT_THAT(left.error().message, HasSubstr("parameter_server"));
}

TEST_F(LostHostsTest, TooLittleMemoryIsSaid) {
  for (HostSection& host : hosts) host.memory.count = 1000;
  add("worker", 3).memory.count = 900;
  placed();
  const Result<ClusterFile> left = without_hosts(file, {"c"});
  ASSERT_FALSE(left.ok());
  EXPECT_THAT(left.error().message, HasSubstr("memory"));
}

TEST_F(LostHostsTest, OtherHostsAreThoseWithRoomFirstAndThenTheEmptiest) {
  hosts.push_back(hosts[0]);
  hosts.back().name = "d";
  hosts[3].labels = {"fast"};
  add("parameter_server", 1).hosts = {"b"};
  ActorSection& workers = add("worker", 1);
  workers.hosts = {};
  workers.cpus = 2;
  placed();
  ASSERT_EQ(file.actors[1].host, "a");
  EXPECT_THAT(other_hosts(file, file.actors[1]), ElementsAre("c", "d", "b"));
  EXPECT_THAT(other_hosts(file, file.actors[1], 1), ElementsAre("c"));
  EXPECT_THAT(other_hosts(file, file.actors[0]), testing::IsEmpty()) << "its table names one";
}

TEST_F(LostHostsTest, OtherHostsHaveTheLabelsAndTheMemory) {
  hosts[1].labels = hosts[2].labels = {"fast"};
  hosts[0].labels = {"fast"};
  hosts[1].memory.count = 10;
  hosts[2].memory.count = 1000;
  ActorSection& workers = add("worker", 1);
  workers.labels = {"fast"};
  workers.memory.count = 100;
  placed();
  ASSERT_EQ(file.actors[0].host, "a");
  EXPECT_THAT(other_hosts(file, file.actors[0]), ElementsAre("c"));
}

}  // namespace
}  // namespace sterna::launcher
