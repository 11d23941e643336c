// Which host each actor gets, and which GPUs.
#include "launcher/cluster_file/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "launcher/cluster_file/placement_view.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Resources {
  std::int64_t cpus = 0;
  std::int64_t gpus = 0;
  std::uint64_t memory = 0;
  std::vector<std::string> labels = {};
};

/// Hosts h0, h1, …
std::vector<HostSection> hosts(const std::vector<Resources>& all) {
  std::vector<HostSection> result;
  for (const Resources& one : all) {
    HostSection host;
    host.name = fmt::format("h{}", result.size());
    host.address = host.bind = "127.0.0.1";
    host.cpus = one.cpus;
    host.gpus = one.gpus;
    host.memory.count = one.memory;
    host.labels = one.labels;
    result.push_back(std::move(host));
  }
  return result;
}

ActorSection workers(std::int64_t count) {
  ActorSection table;
  table.role = "worker";
  table.count = count;
  return table;
}

std::vector<std::string> where(const Placement& placement) {
  std::vector<std::string> result;
  for (const ActorPlan& actor : placement.actors) result.push_back(actor.host);
  return result;
}

std::vector<std::vector<std::int64_t>> devices(const Placement& placement) {
  std::vector<std::vector<std::int64_t>> result;
  for (const ActorPlan& actor : placement.actors) result.push_back(actor.devices);
  return result;
}

std::vector<std::string> messages(const Placement& placement) {
  std::vector<std::string> result;
  for (const PlacementProblem& problem : placement.problems) result.push_back(problem.message);
  return result;
}

TEST(Placement, WithoutWishesAllHostsAreUsedInTurnAnewForEachTable) {
  const std::vector tables = {workers(3), workers(1)};
  EXPECT_THAT(where(place(hosts({{}, {}}), tables)), ElementsAre("h0", "h1", "h0", "h0"));
}

TEST(Placement, NamedHostsAreUsedInTurn) {
  std::vector tables = {workers(4)};
  tables[0].hosts = {"h1", "h1", "h0"};
  EXPECT_THAT(where(place(hosts({{}, {}}), tables)), ElementsAre("h1", "h1", "h0", "h1"));
}

TEST(Placement, PackFillsTheFirstHostThatFits) {
  std::vector tables = {workers(4)};
  tables[0].cpus = 1.5;
  tables[0].policy = "pack";
  EXPECT_THAT(where(place(hosts({{.cpus = 1}, {.cpus = 3}, {.cpus = 8}}), tables)),
              ElementsAre("h1", "h1", "h2", "h2"));
}

TEST(Placement, SpreadTakesTheHostWithTheLargestShareLeft) {
  std::vector tables = {workers(4)};
  tables[0].cpus = 2;
  EXPECT_THAT(where(place(hosts({{.cpus = 4}, {.cpus = 8}}), tables)),
              ElementsAre("h1", "h0", "h1", "h1"));
  EXPECT_THAT(where(place(hosts({{.cpus = 4}, {.cpus = 4}}), tables)),
              ElementsAre("h0", "h1", "h0", "h1"));
}

TEST(Placement, SpreadByLabelsAloneCountsActors) {
  std::vector tables = {workers(3)};
  tables[0].labels = {"x"};
  EXPECT_THAT(where(place(hosts({{.labels = {"x"}}, {}, {.labels = {"y", "x"}}}), tables)),
              ElementsAre("h0", "h2", "h0"));
}

TEST(Placement, TheResourceThatIsScarcestDecides) {
  std::vector tables = {workers(2)};
  tables[0].cpus = 1;
  tables[0].memory.count = 4;
  EXPECT_THAT(where(place(hosts({{.cpus = 64, .memory = 6}, {.cpus = 8, .memory = 16}}), tables)),
              ElementsAre("h1", "h1"));
}

TEST(Placement, TenTenthsOfACoreFitOnOne) {
  std::vector tables = {workers(10)};
  tables[0].cpus = 0.1;
  EXPECT_THAT(place(hosts({{.cpus = 1}}), tables).problems, IsEmpty());
}

TEST(Placement, GpusThatAreAskedForAreNobodyElses) {
  std::vector tables = {workers(3), workers(1)};
  tables[0].gpus = 1;
  tables[0].policy = "pack";
  const Placement placement = place(hosts({{.gpus = 2}, {.gpus = 2}}), tables);
  EXPECT_THAT(where(placement), ElementsAre("h0", "h0", "h1", "h0"));
  EXPECT_THAT(devices(placement),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(0), IsEmpty()));
}

TEST(Placement, NamedDevicesComeInTurnAndAreNotGivenToOthers) {
  std::vector tables = {workers(1), workers(4)};
  tables[0].gpus = 1;
  tables[1].hosts = {"h0", "h0", "h1", "h1"};
  tables[1].devices = {0, 1};
  const Placement placement = place(hosts({{.gpus = 2}, {.gpus = 3}}), tables);
  EXPECT_THAT(where(placement), ElementsAre("h1", "h0", "h0", "h1", "h1"));
  EXPECT_THAT(devices(placement), ElementsAre(ElementsAre(2), ElementsAre(0), ElementsAre(1),
                                              ElementsAre(0), ElementsAre(1)));
}

TEST(Placement, NamedDevicesMayBeSharedAndComeInGroups) {
  std::vector tables = {workers(3)};
  tables[0].devices = {0};
  EXPECT_THAT(devices(place(hosts({{.gpus = 1}}), tables)),
              ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(0)));
  tables[0].count = 2;
  tables[0].gpus = 2;
  tables[0].devices = {0, 1, 2, 3};
  EXPECT_THAT(devices(place(hosts({{.gpus = 4}}), tables)),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

TEST(Placement, WhoFindsNoPlaceSaysWhatWasAskedForAndWhatThereIs) {
  std::vector tables = {workers(3)};
  tables[0].cpus = 4;
  tables[0].gpus = 1;
  tables[0].memory.count = 2'000'000'000;
  tables[0].labels = {"fast"};
  const auto all = hosts({{.cpus = 8, .gpus = 4, .memory = 8'000'000'000},
                          {.cpus = 10, .gpus = 2, .labels = {"fast"}}});
  const Placement placement = place(all, tables);
  EXPECT_THAT(
      messages(placement),
      ElementsAre("\"worker2\" asks for 4 cpus, 1 gpu, 2GB of memory, the label \"fast\", and "
                  "no host has that free; the best, \"h1\" has 2 of 10 cpus, 0 of 2 gpus, any "
                  "amount of memory free; ask for less, or add a host"));
  EXPECT_EQ(placement.actors[2].host, "");
  EXPECT_EQ(placement.problems[0].table, 0U);
}

TEST(Placement, WhoAsksForSomeOfNamedDevicesSaysHowMany) {
  std::vector tables = {workers(1)};
  const auto asks = [&](std::int64_t gpus, std::vector<std::int64_t> named) {
    tables[0].gpus = gpus;
    tables[0].devices = std::move(named);
    const auto all = messages(place(hosts({{}}), tables));
    return all.empty() ? "" : all[0].substr(0, all[0].find(", and no host"));
  };
  EXPECT_EQ(asks(1, {}), "\"worker0\" asks for 1 gpu");
  EXPECT_EQ(asks(1, {3}), "\"worker0\" asks for gpu 3");
  EXPECT_EQ(asks(1, {0, 1}), "\"worker0\" asks for one of gpus 0, 1");
  EXPECT_EQ(asks(2, {0, 1, 2, 3}), "\"worker0\" asks for 2 of gpus 0, 1, 2, 3");
}

TEST(Placement, MemoryIsALimitThatMustExistOnNamedHostsToo) {
  std::vector tables = {workers(2)};
  tables[0].hosts = {"h0"};
  tables[0].memory.count = 3'000'000'000;
  EXPECT_THAT(messages(place(hosts({{.memory = 4'000'000'000}}), tables)),
              ElementsAre("\"worker1\" may take 3GB, but \"h0\" has 1GB of 4GB of memory free"));
  EXPECT_EQ(place(hosts({{}}), tables).actors[1].memory, 3'000'000'000U);
}

TEST(Placement, NamesAndRanksFollowTheFileAndNotTheHosts) {
  std::vector tables = {workers(2), workers(2)};
  tables[0].ranks = 3;
  tables[0].cpus = 2;
  tables[1].name = "extra";
  for (const auto& all : {hosts({{.cpus = 4}}), hosts({{.cpus = 1}, {.cpus = 2}, {.cpus = 2}})}) {
    const Placement placement = place(all, tables);
    ASSERT_THAT(placement.problems, IsEmpty());
    std::vector<std::pair<std::string, std::int64_t>> ranks;
    for (const ActorPlan& actor : placement.actors)
      ranks.emplace_back(actor.name, actor.first_rank);
    EXPECT_THAT(ranks, ElementsAre(std::pair("worker0", 0), std::pair("worker1", 3),
                                   std::pair("extra0", 6), std::pair("extra1", 7)));
  }
}

TEST(PlacementView, ListsWhatEachHostCarries) {
  ClusterFile file;
  file.cluster.head = "h1";
  file.cluster.transport = "tcp";
  file.cluster.ports = PortRange{100, 199};
  file.tables = {workers(2), workers(1)};
  file.tables[0].gpus = 1;
  file.tables[0].ranks = 2;
  file.tables[1].cpus = 0.5;
  file = place(file, hosts({{.cpus = 4, .gpus = 2}, {.cpus = 4}})).value();
  EXPECT_THAT(
      placement_lines(file),
      ElementsAre("host       address        cpus    gpus  processes  ports         actors",
                  "h0         127.0.0.1    0 of 4  2 of 2          3  6 of 100-199  worker0 "
                  "(ranks 0-1; gpu 0), worker1 (ranks 2-3; gpu 1)",
                  "h1 (head)  127.0.0.1  0.5 of 4       -          4  8 of 100-199  worker2 "
                  "(rank 4)"));
  const std::string json = placement_json(file);
  EXPECT_THAT(json, testing::HasSubstr(R"("name":"h0")"));
  EXPECT_THAT(json, testing::HasSubstr(R"("devices":[1])"));
  EXPECT_THAT(json, testing::Not(testing::HasSubstr("\n")));
}

TEST(PlacementView, NamesTheShardOfEachReader) {
  ClusterFile file;
  ActorSection readers;
  readers.role = "input_reader";
  readers.count = readers.shards = 2;
  file.tables = {readers};
  file = place(file, hosts({{}, {}})).value();
  EXPECT_THAT(placement_lines(file).at(1), testing::EndsWith("reader0 (shard 0 of 2)"));
  EXPECT_THAT(placement_lines(file).at(2), testing::EndsWith("reader1 (shard 1 of 2)"));
  EXPECT_THAT(placement_json(file), testing::HasSubstr(R"("shard":1,"shards":2)"));
}

ActorSection servers_with_replicas(std::int64_t count) {
  ActorSection table;
  table.role = "parameter_server";
  table.count = count;
  table.replicas = 1;
  return table;
}

TEST(Placement, PutsAReplicaOnAnotherHostThanWhomItReplaces) {
  const ActorSection servers = servers_with_replicas(2);
  const std::vector<HostSection> three = hosts({{}, {}, {}});
  const Placement placement = place(three, std::vector{servers, workers(1)});
  ASSERT_EQ(placement.actors.size(), 5U);
  EXPECT_EQ(placement.actors[2].name, "server0-replica");
  EXPECT_EQ(placement.actors[2].partner, "server0");
  EXPECT_TRUE(placement.actors[2].replica);
  EXPECT_EQ(placement.actors[0].partner, "server0-replica");
  EXPECT_FALSE(placement.actors[0].replica);
  EXPECT_EQ(placement.actors[4].name, "worker0");
  EXPECT_THAT(where(placement), ElementsAre("h0", "h1", "h1", "h2", "h0"));
  // The only host has both.
  EXPECT_THAT(where(place(hosts({{}}), std::vector{servers})), ElementsAre("h0", "h0", "h0", "h0"));
}

TEST(Placement, PutsAReplicaThatAsksForResourcesApartWhereItFits) {
  ActorSection servers = servers_with_replicas(1);
  servers.cpus = 2;
  EXPECT_THAT(where(place(hosts({{.cpus = 8}, {.cpus = 2}}), std::vector{servers})),
              ElementsAre("h0", "h1"));
  EXPECT_THAT(where(place(hosts({{.cpus = 8}, {.cpus = 1}}), std::vector{servers})),
              ElementsAre("h0", "h0"));
}

TEST(Placement, ASpareHostIsWhereActorsMayGoAndNoneIsAtTheStart) {
  ClusterFile file;
  file.hosts = hosts({{}, {}, {}});
  file.hosts[1].spare = true;
  file.tables = {workers(3), workers(1), workers(1)};
  file.tables[1].hosts = {"h1", "h2"};
  file.tables[2].cpus = 1;
  const Placement placed = place(file.hosts, file.tables);
  EXPECT_THAT(where(placed), ElementsAre("h0", "h2", "h0", "h2", "h0"));
  file.actors = placed.actors;
  EXPECT_THAT(other_hosts(file, file.actors[0], 0), ElementsAre("h1")) << "beyond the most";
  EXPECT_THAT(other_hosts(file, file.actors[0]), ElementsAre("h2", "h1")) << "last";
  EXPECT_THAT(other_hosts(file, file.actors[3]), ElementsAre("h1"));
  file.tables[1].hosts = {"h1"};
  EXPECT_THAT(
      messages(place(file.hosts, file.tables)),
      ElementsAre("\"worker3\" has no host at the start: those that it may be on are spare"));
}

TEST(Placement, MovesAServerBesideItsPartnerOnlyWhereThereIsNowhereElse) {
  ClusterFile file;
  file.tables = {servers_with_replicas(1)};
  const ClusterFile on_three = *place(file, hosts({{}, {}, {}}));
  EXPECT_THAT(other_hosts(on_three, on_three.actors[0]), ElementsAre("h2"));
  const ClusterFile on_two = *place(file, hosts({{}, {}}));
  EXPECT_THAT(other_hosts(on_two, on_two.actors[0]), ElementsAre("h1"));
}

}  // namespace
}  // namespace sterna::launcher
