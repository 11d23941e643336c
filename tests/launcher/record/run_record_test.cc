// What is noted of a run's actors, in its record.
#include "launcher/record/run_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/launcher/record/run_of_two.h"

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

RunStatus with_worker0(const std::string& state) {
  RunStatus status;
  status.actors.resize(1);
  status.actors[0].name = "worker0";
  status.actors[0].state = state;
  return status;
}

TEST(NotePlans, KeepsSoManyAndNoneOfAProcessor) {
  RunResult result;
  note_plans(result, "on a cpu", {});
  EXPECT_THAT(result.plans, IsEmpty());
  for (std::size_t i = 0; i < RunResult::kMostPlans + 1; ++i) {
    note_plans(result, "worker", {std::to_string(i), {}});
  }
  EXPECT_EQ(result.plans.size(), RunResult::kMostPlans);
}

TEST(NoteActorRestart, CountsThoseOfSingleActors) {
  RunRecord record;
  record.status.actors = {{"reader0", "input_reader", "running"}};
  ProcessDown down;
  down.identity = {"reader0", 3};
  note_actor_restart(record, down, "reader0#3 is dead: killed by SIGKILL");
  EXPECT_EQ(record.status.actor_restarts, 1U);
  EXPECT_EQ(record.status.actors[0].state, "restarting");
  ASSERT_THAT(record.result.actor_restarts, SizeIs(1));
  EXPECT_EQ(record.result.actor_restarts[0].incarnation, 3U);
  StatusReport report;
  ProcessStatus& next = report.processes.emplace_back();
  next.identity = {"reader0", 4};
  next.state = "running";
  update_actors(record.status, report);
  EXPECT_EQ(record.status.actors[0].state, "running");
}

TEST(UpdateActors, TakesTheNodesReportOfAProcess) {
  RunStatus status = with_worker0("starting");
  StatusReport report;
  report.processes.resize(1);
  report.processes[0].identity = {"worker0", 2};
  report.processes[0].state = std::string("running");
  report.processes[0].pid = 7;
  report.processes[0].loop_lag = 1500us;
  update_actors(status, report);
  EXPECT_EQ(status.actors[0].state, "running");
  EXPECT_EQ(status.actors[0].incarnation, 2U);
  EXPECT_EQ(status.actors[0].pid, 7);
  EXPECT_EQ(status.actors[0].loop_lag_ms, 1.5);
}

TEST(UpdateActors, DoesNotBringBackWhoHasEnded) {
  for (const char* end : {"dead", "done", "stopped", "killed"}) {
    RunStatus status = with_worker0(end);
    StatusReport report;
    report.processes.resize(1);
    report.processes[0].identity = {"worker0", 1};
    report.processes[0].state = std::string("running");
    update_actors(status, report);
    EXPECT_EQ(status.actors[0].state, end);
  }
}

TEST(EndOf, IsWhetherItWasWantedAndAsked) {
  ProcessDown down;
  EXPECT_EQ(end_of(down, false), "dead");
  EXPECT_EQ(end_of(down, true), "dead");
  down.wanted = true;
  EXPECT_EQ(end_of(down, false), "done");
  EXPECT_EQ(end_of(down, true), "stopped");
  down.signal = SIGKILL;
  EXPECT_EQ(end_of(down, true), "killed");
}

TEST(MarkEnded, NotesTheCauseOfAnEndThatNobodyWanted) {
  RunStatus status = with_worker0("running");
  mark_ended(status, "worker1", "dead", "killed by signal 9");
  EXPECT_EQ(status.actors[0].state, "running");
  mark_ended(status, "worker0", "stopped", "asked to");
  EXPECT_EQ(status.actors[0].state, "stopped");
  EXPECT_EQ(status.actors[0].cause, "");
  mark_ended(status, "worker0", "dead", "killed by signal 9");
  EXPECT_EQ(status.actors[0].state, "dead");
  EXPECT_EQ(status.actors[0].cause, "killed by signal 9");
}

TEST(DeathInWords, NamesTheHostWhereThereAreSeveral) {
  ProcessDown down;
  down.identity = {"reader0", 1};
  down.exit_code = 1;
  down.cause = "the cluster file's data directory /data does not exist";
  EXPECT_EQ(death_in_words(file_of_two(), down), "reader0#1 is dead: " + down.cause);
  const Result<ClusterFile> two = parse_cluster_file(
      std::string(kFileOfTwo) +
          "[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\naddress = \"127.0.0.2\"\n",
      "x.toml", std::vector<std::string>{"actor.input_reader.hosts=[\"b\"]"});
  ASSERT_TRUE(two.ok()) << two.error().message;
  EXPECT_EQ(death_in_words(*two, down), "reader0#1 on b is dead: " + down.cause);
}

}  // namespace
}  // namespace sterna::launcher
