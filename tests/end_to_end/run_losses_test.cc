// Workers of runs whose ranks do not wait for each other are killed: they come again, or the run
// goes on without them, and makes all its versions. So does one of two servers, with such ranks.
#include <algorithm>
#include <csignal>
#include <map>

#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RunLosses : public RunTest {
 protected:
  std::string job() const override { return of_a_small_net(); }
  /// A run of so many steps that is evaluated five times.
  SternaProgram& begin(std::vector<std::string> more, int steps = 100) {
    more.insert(more.end(), {"actor.worker.count=3", "job.steps=" + std::to_string(steps),
                             "evaluator.every=" + std::to_string(steps / 5), unhurried(3)});
    Arguments arguments = with(more);
    arguments.insert(arguments.end(), {"--run-dir", "run"});
    return run(arguments);
  }
  /// Waits until it trains and all its actors have begun. Others may train while one only starts,
  /// whose end then would be that of the run's start.
  bool all_have_begun(SternaProgram& program) {
    return trains(program) && eventually(kPatience, [&] {
             SternaProgram& status = sterna({"status", "--json"});
             return status.exit_code(kPatience) == 0 &&
                    status.out().find("\"starting\"") == std::string::npos;
           });
  }
  /// Waits until another process than `before` plays that actor.
  pid_t next_of(SternaProgram& program, const std::string& actor, pid_t before = 0) {
    pid_t pid = 0;
    EXPECT_TRUE(eventually(kPatience,
                           [&] {
                             pid = program.pid_of(actor);
                             return pid > 0 && pid != before;
                           }))
        << actor << "\n"
        << program.story();
    return pid;
  }
  std::ptrdiff_t events_of(const std::string& kind) const {
    const std::vector<std::string> lines = lines_of(content_of(path("run/events.jsonl")));
    return std::ranges::count_if(lines, [&](const std::string& line) {
      return line.find("\"kind\":\"" + kind + "\"") != line.npos;
    });
  }
};

TEST_F(RunLosses, WorkersThatAreKilledComeAgainWhereRanksDoNotGoInStep) {
  const std::map<std::string, std::vector<std::string>> ways = {
      {"quorum", {"scheme.quorum=2", "gradient.error_feedback=true"}},
      {"async", {"scheme.name=async", "gradient.error_feedback=true"}},
      {"async, bounded", {"scheme.name=async", "scheme.max_staleness=2"}},
      {"agn", {"scheme.name=agn", "scheme.window=2", "local_optimizer.name=gd"}}};
  for (const auto& [name, how] : ways) {
    SCOPED_TRACE(name);
    std::vector<std::string> all = how;
    all.emplace_back("actor.worker.backoff=20ms");
    // Where each rank makes versions by itself, they are made faster than workers can be lost.
    const int steps = name == "quorum" ? 150 : 400;
    SternaProgram& hit = begin(all, steps);
    ASSERT_TRUE(all_have_begun(hit)) << hit.story();
    std::map<std::string, pid_t> killed;
    for (int i = 0; i < 2; ++i) {
      for (const char* worker : {"worker0", "worker1"}) {
        strike(killed[worker] = next_of(hit, worker, killed[worker]), SIGKILL);
      }
    }
    ASSERT_EQ(hit.exit_code(kPatience), 0) << hit.story();
    EXPECT_EQ(result()["steps"], steps) << result();
    EXPECT_EQ(result()["actor_restarts"].size(), 4U) << result();
    EXPECT_FALSE(result().contains("restarts")) << "no step was done again";
    EXPECT_EQ(result()["evaluations"].size(), 5U);
    std::filesystem::remove_all(path("run"));
  }
}

TEST_F(RunLosses, EitherOfTwoServersIsLostWhereRanksDoNotGoInStep) {
  const auto refilled = [&] { return events_of("refilled"); };
  for (const char* how : {"scheme.name=async", "scheme.quorum=2"}) {
    SCOPED_TRACE(how);
    const int steps = std::string(how) == "scheme.name=async" ? 400 : 100;
    SternaProgram& hit = begin(
        {how, "actor.parameter_server.replicas=1", "actor.parameter_server.backoff=20ms"}, steps);
    ASSERT_TRUE(all_have_begun(hit)) << hit.story();
    std::ptrdiff_t times = 0;
    for (const char* name : {"server0", "server0-replica", "server0"}) {
      strike(next_of(hit, name), SIGKILL);
      ++times;
      EXPECT_TRUE(eventually(kPatience, [&] { return refilled() >= times; })) << hit.story();
    }
    ASSERT_EQ(hit.exit_code(kPatience), 0) << hit.story();
    EXPECT_EQ(result()["steps"], steps) << result();
    EXPECT_EQ(result()["actor_restarts"].size(), 3U) << result();
    EXPECT_FALSE(result().contains("restarts")) << "no step was done again";
    EXPECT_EQ(result()["evaluations"].size(), 5U);
    std::filesystem::remove_all(path("run"));
  }
}

TEST_F(RunLosses, BelowAFullQuorumTheRunGoesOnWithoutAWorkerAndSaysSo) {
  SternaProgram& hit =
      begin({"scheme.quorum=2", "cluster.lost_host=quorum", "actor.worker.restart=0",
             "checkpoint.every_steps=50", "gradient.error_feedback=true"});
  ASSERT_TRUE(all_have_begun(hit)) << hit.story();
  strike(next_of(hit, "worker1"), SIGKILL);
  EXPECT_TRUE(eventually(kPatience, [&] { return events_of("lost") == 1; })) << hit.story();
  ASSERT_EQ(hit.exit_code(kPatience), 0) << hit.story();
  EXPECT_THAT(content_of(path("run/status.json")), HasSubstr("\"lost_workers\":[\"worker1\"]"));
  const nlohmann::json got = result();
  EXPECT_EQ(got["steps"], 100);
  EXPECT_EQ(got["evaluations"].size(), 5U);
  ASSERT_EQ(got["lost_workers"].size(), 1U) << got;
  EXPECT_EQ(got["lost_workers"][0]["actor"], "worker1");
  EXPECT_THAT(got["lost_workers"][0]["cause"].get<std::string>(),
              AllOf(HasSubstr("SIGKILL"), HasSubstr("2 of 3 ranks are left")));
  EXPECT_THAT(got["checkpoint"].get<std::string>(), HasSubstr("100")) << "also without its part";
}

TEST_F(RunLosses, WithFewerThanTheQuorumItEndsAndNamesThat) {
  SternaProgram& hit = begin({"scheme.quorum=2", "cluster.lost_host=quorum", "job.steps=1000000",
                              "actor.worker.restart=0"});
  ASSERT_TRUE(all_have_begun(hit)) << hit.story();
  for (const char* worker : {"worker1", "worker2"}) strike(next_of(hit, worker), SIGKILL);
  ASSERT_EQ(hit.exit_code(kPatience), 1) << hit.story();
  EXPECT_THAT(result()["cause"].get<std::string>(),
              AllOf(HasSubstr("SIGKILL"), HasSubstr("1 of 3 ranks are left, and a version takes "
                                                    "2")));
}

TEST_F(RunLosses, WithFewerThanTheQuorumAndACheckpointAllBeginAgainThere) {
  SternaProgram& hit = begin({"scheme.quorum=2", "cluster.lost_host=quorum",
                              "actor.worker.restart=0", "checkpoint.every_steps=20"});
  ASSERT_TRUE(eventually(kPatience, [&] {
    return exists("run/checkpoints/step-000000020/manifest.json");
  })) << hit.story();
  for (const char* worker : {"worker1", "worker2"}) strike(next_of(hit, worker), SIGKILL);
  ASSERT_EQ(hit.exit_code(kPatience), 0) << hit.story();
  nlohmann::json got = result();
  ASSERT_EQ(got["restarts"].size(), 1U) << got;
  EXPECT_GE(got["restarts"][0]["step"], 20);
  EXPECT_THAT(got["restarts"][0]["cause"].get<std::string>(),
              HasSubstr("1 of 3 ranks are left, and a version takes 2"));
  EXPECT_EQ(got["steps"], 100);
  EXPECT_EQ(got["lost_workers"].size(), 1U) << "the other one is why all began again: " << got;
}

}  // namespace
}  // namespace sterna::test
