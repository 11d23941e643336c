#include "launcher/past/overview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "launcher/view/status_json.h"

namespace sterna::launcher {
namespace {

using testing::ElementsAre;
using Json = nlohmann::json;

RunState state() {
  RunState state;
  state.id = "mnist-1";
  state.name = "mnist";
  state.run_directory = "runs/mnist-1";
  state.head = "a";
  state.hosts = {{"a", "", ""}, {"b", "me@b", "~/work"}};
  return state;
}

/// What the launcher reports lags behind what the coordinator knows of worker0.
Overview overview() {
  RunStatus told;
  told.config = "mnist";
  told.phase = "training";
  told.step = 7;
  told.actors.resize(2);
  told.actors[0].name = "worker0";
  told.actors[0].state = std::string("starting");
  told.actors[1].name = "reader0";
  told.actors[1].state = std::string("done");
  Overview overview;
  overview.report = copy_bytes(status_json(told));
  ProcessStatus& member = overview.members.emplace_back();
  member.identity = {"worker0", 2};
  member.host = "b";
  member.state = "running";
  member.pid = 811;
  member.resident_bytes = 55'700'000;
  member.queued_bytes = 10;
  member.loop_lag = std::chrono::microseconds(1500);
  member.bytes_in = 1000;
  member.bytes_out = 402'000'000;
  return overview;
}

TEST(StatusOfARun, IsWhatTheLauncherReportsWithTheCoordinatorsKnowledgeOfTheProcesses) {
  const RunStatus status = status_of(state(), overview());
  EXPECT_EQ(status.step, 7);
  EXPECT_EQ(status.run_directory, "mnist-1");
  ASSERT_EQ(status.actors.size(), 2U);
  EXPECT_EQ(status.actors[0].state, "running");
  EXPECT_EQ(status.actors[0].host, "b");
  EXPECT_EQ(status.actors[0].incarnation, 2U);
  EXPECT_EQ(status.actors[0].memory_bytes, 55'700'000U);
  EXPECT_EQ(status.actors[0].loop_lag_ms, 1.5);
  EXPECT_EQ(status.actors[1].state, "done");
}

TEST(StatusOfARun, KeepsHowAnActorEndedOfWhichTheCoordinatorOnlyKnowsThatItDid) {
  Overview ended = overview();
  ended.members[0].identity.name = std::string("reader0");
  ended.members[0].state = std::string("dead");
  EXPECT_EQ(status_of(state(), ended).actors[1].state, "done");
}

TEST(StatusOfARun, ThatReportsNothingYetIsThatItStarts) {
  Overview silent = overview();
  silent.report = {};
  const RunStatus status = status_of(state(), silent);
  EXPECT_EQ(status.config, "mnist");
  EXPECT_EQ(status.phase, "starting");
}

TEST(HostsOfARun, AreNamedToWhoAsksForAnotherOne) {
  EXPECT_EQ(other_hosts(state(), "zz"), "; its hosts are a, b");
  EXPECT_EQ(other_hosts(state(), "b"), "") << "it is one, though not now";
}

TEST(HostsOfARun, AreThereWithTheirNodes) {
  Overview now = overview();
  ProcessStatus& node = now.members.emplace_back();
  node.identity = {"node-b", 1};
  node.state = "running";
  EXPECT_TRUE(has_host(now, "b"));
  EXPECT_FALSE(has_host(now, "a"));
  now.members.back().state = "starting";
  EXPECT_FALSE(has_host(now, "b"));
}

TEST(OverviewJson, HasTheRunItsHostsItsMembersAndItsStatus) {
  const Json json = Json::parse(overview_json(state(), overview()));
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["id"], "mnist-1");
  EXPECT_EQ(json["hosts"][1]["ssh"], "me@b");
  EXPECT_EQ(json["members"][0]["name"], "worker0");
  EXPECT_EQ(json["members"][0]["loop_lag_ms"], 1.5);
  EXPECT_EQ(json["status"]["step"], 7);
}

TEST(OverviewJson, HasNoStatusWhereNothingWasReported) {
  Overview silent = overview();
  silent.report = {};
  EXPECT_TRUE(Json::parse(overview_json(state(), silent))["status"].is_null());
}

TEST(MemberTable, HasALineForEachProcess) {
  EXPECT_THAT(
      member_table(overview(), 80),
      ElementsAre("process    host  state    pid   memory  queued     lag       in     out",
                  "worker0#2  b     running  811  55.7 MB    10 B  1.5 ms  1.00 kB  402 MB"));
  EXPECT_THAT(member_table(overview(), 60),
              ElementsAre("process    host  state    pid  queued       in     out",
                          "worker0#2  b     running  811    10 B  1.00 kB  402 MB"));
}

TEST(Refusals, AreCountedByKindOverAllProcesses) {
  Inspection one;
  EXPECT_EQ(refusals_line(one), "");
  one.authentication_denials = 1200;
  one.open_links = 4;
  Inspection other = one;
  other.handshake_failures = 3;
  other.refused_hellos = 2;
  const Inspection sum = sum_of({one, other});
  EXPECT_EQ(sum.open_links, 8U);
  EXPECT_EQ(refusals_line(sum),
            "refused: 2,400 without a valid key or name, 3 failed handshakes, 2 of another run or "
            "build");
  const Json json = Json::parse(overview_json(state(), overview(), sum))["refused"];
  EXPECT_EQ(json["no_valid_key"], 2400);
  EXPECT_EQ(json["handshakes"], 3);
  EXPECT_EQ(json["other_builds"], 2);
  EXPECT_EQ(json["malformed_messages"], 0);
}

}  // namespace
}  // namespace sterna::launcher
