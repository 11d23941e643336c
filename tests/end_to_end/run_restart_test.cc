// Actors that are killed or stopped are started again beside the others, and the run ends with the
// bits of one that lost nobody.
#include <algorithm>
#include <csignal>
#include <map>
#include <set>

#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RunRestart : public RunTest {
 protected:
  std::string job() const override { return of_a_small_net(); }
  SternaProgram& begin(const std::string& folder, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"actor.input_reader.backoff=20ms", "actor.evaluator.backoff=20ms",
                               "actor.worker.backoff=20ms", unhurried()});
    Arguments arguments = with(more);
    arguments.insert(arguments.end(), {"--run-dir", folder});
    return run(arguments);
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
  /// Waits until as many more steps are done.
  void trains_on(SternaProgram& program, int steps) {
    const auto done = [&] {
      const std::string metrics = content_of(path("run/metrics.jsonl"));
      return std::ranges::count(metrics, '\n');
    };
    const auto before = done();
    EXPECT_TRUE(eventually(kPatience, [&] { return done() >= before + steps; })) << program.story();
  }
  /// The numbers of its evaluations, without their times.
  static std::vector<std::string> evaluations_of(const nlohmann::json& result) {
    std::vector<std::string> evaluations;
    for (nlohmann::json one : result["evaluations"]) {
      one.erase("seconds");
      evaluations.push_back(one.dump());
    }
    return evaluations;
  }
};

TEST_F(RunRestart, ReadersWorkersAndTheEvaluatorComeAndGoAndTheBitsAreTheSame) {
  const std::vector<std::string> how = {"job.steps=120", "evaluator.every=20",
                                        "cluster.heartbeat=100ms", "cluster.silence=2s"};
  SternaProgram& calm = begin("calm", how);
  ASSERT_EQ(calm.exit_code(kPatience), 0) << calm.story();
  SternaProgram& hit = begin("run", how);
  ASSERT_TRUE(trains(hit)) << hit.story();
  std::map<std::string, pid_t> killed;
  for (int i = 0; i < 2; ++i) {
    for (const char* name : {"reader0", "evaluator0", "worker1"}) {
      strike(killed[name] = next_of(hit, name, killed[name]), SIGKILL);
    }
  }
  // One that has not begun yet would not be missed so soon.
  const pid_t reader = next_of(hit, "reader0", killed["reader0"]);
  trains_on(hit, 20);
  // Nobody trains on without it, however long it takes.
  strike(reader, SIGSTOP);
  ASSERT_EQ(hit.exit_code(kPatience), 0) << hit.story();
  const nlohmann::json expected = result("calm");
  const nlohmann::json got = result();
  EXPECT_EQ(got["parameters_sha256"], expected["parameters_sha256"]);
  EXPECT_EQ(evaluations_of(got), evaluations_of(expected));
  EXPECT_FALSE(expected.contains("actor_restarts"));
  ASSERT_EQ(got["actor_restarts"].size(), 7U) << got;
  // Of two that die at the same time either may be heard of first.
  const auto first = std::ranges::find_if(got["actor_restarts"], [](const nlohmann::json& one) {
    return one["actor"] == "reader0" && one["incarnation"] == 1;
  });
  ASSERT_NE(first, got["actor_restarts"].end()) << got;
  EXPECT_THAT((*first)["cause"].get<std::string>(),
              AllOf(HasSubstr("reader0#1 is dead"), HasSubstr("SIGKILL")));
  EXPECT_THAT(got["actor_restarts"][6]["cause"].get<std::string>(), HasSubstr("silence"));
  EXPECT_THAT(content_of(path("run/metrics.jsonl")), HasSubstr("\"kind\":\"actor_restart\""));
  SternaProgram& events = sterna({"events", "run"});
  ASSERT_EQ(events.exit_code(kPatience), 0) << events.story();
  const std::vector<std::string> lines = lines_of(events.out());
  ASSERT_GE(lines.size(), 9U) << events.story();
  EXPECT_THAT(lines.front(), HasSubstr("  began"));
  EXPECT_THAT(lines.back(), AllOf(HasSubstr("step 120"), HasSubstr("  ended"), HasSubstr("done")));
  EXPECT_EQ(
      std::ranges::count_if(
          lines, [](const std::string& line) { return line.find("  actor_restart") != line.npos; }),
      7)
      << events.out();
}

TEST_F(RunRestart, WhatErrorFeedbackKeepsOutlivesWorkersThatAreKilled) {
  for (const std::string scaler : {"shared", "last_step"}) {
    const std::vector<std::string> how = {"job.steps=160", "evaluator.every=0",
                                          "gradient.error_feedback=true", "actor.worker.ranks=2",
                                          "gradient.scaler=" + scaler};
    SternaProgram& calm = begin("calm-" + scaler, how);
    ASSERT_EQ(calm.exit_code(kPatience), 0) << calm.story();
    SternaProgram& hit = begin("run", how);
    ASSERT_TRUE(trains(hit)) << hit.story();
    std::map<std::string, pid_t> killed;
    for (int i = 0; i < 2; ++i) {
      for (const char* name : {"worker0", "worker1"}) {
        strike(killed[name] = next_of(hit, name, killed[name]), SIGKILL);
        trains_on(hit, 10);
      }
    }
    ASSERT_EQ(hit.exit_code(kPatience), 0) << hit.story();
    EXPECT_EQ(result()["parameters_sha256"], result("calm-" + scaler)["parameters_sha256"]);
    EXPECT_EQ(result()["actor_restarts"].size(), 4U) << result();
    std::filesystem::remove_all(path("run"));
  }
}

TEST_F(RunRestart, AReaderThatIsLostTooOftenEndsTheRunWithTheFirstAndTheLastCause) {
  SternaProgram& program = run_for_ever(with({"actor.input_reader.restart=1"}));
  ASSERT_TRUE(trains(program)) << program.story();
  pid_t reader = next_of(program, "reader0");
  strike(reader, SIGKILL);
  strike(next_of(program, "reader0", reader), SIGKILL);
  ASSERT_EQ(program.exit_code(kPatience), 1) << program.story();
  EXPECT_THAT(result()["cause"].get<std::string>(),
              AllOf(HasSubstr("reader0#2 is dead"), HasSubstr("after 1 restart of it within 10m"),
                    HasSubstr("first lost: killed by SIGKILL")));
}

TEST_F(RunRestart, EitherOfTwoServersIsLostAndTheOtherGoesOn) {
  const std::vector<std::string> how = {"job.steps=120", "evaluator.every=20"};
  SternaProgram& calm = begin("calm", how);
  ASSERT_EQ(calm.exit_code(kPatience), 0) << calm.story();
  std::vector<std::string> paired = how;
  paired.insert(paired.end(),
                {"actor.parameter_server.replicas=1", "actor.parameter_server.backoff=20ms"});
  SternaProgram& hit = begin("run", paired);
  ASSERT_TRUE(trains(hit)) << hit.story();
  const auto refilled = [&] {
    const std::vector<std::string> lines = lines_of(content_of(path("run/events.jsonl")));
    return std::ranges::count_if(
        lines, [](const std::string& line) { return line.find("\"refilled\"") != line.npos; });
  };
  std::ptrdiff_t times = 0;
  for (const char* name : {"server0", "server0-replica", "server0"}) {
    strike(next_of(hit, name), SIGKILL);
    ++times;
    EXPECT_TRUE(eventually(kPatience, [&] { return refilled() >= times; })) << hit.story();
  }
  ASSERT_EQ(hit.exit_code(kPatience), 0) << hit.story();
  EXPECT_EQ(result()["parameters_sha256"], result("calm")["parameters_sha256"]);
  EXPECT_EQ(evaluations_of(result()), evaluations_of(result("calm")));
  EXPECT_EQ(result()["actor_restarts"].size(), 3U) << result();
}

TEST_F(RunRestart, WhereWorkersStepAServerGetsFromThemWhatTheLostOneHad) {
  const std::vector<std::string> how = {"job.steps=120",
                                        "evaluator.every=20",
                                        "gradient.down=average",
                                        "gradient.scaler=shared",
                                        "gradient.check_every=10",
                                        "actor.parameter_server.count=2",
                                        "actor.parameter_server.backoff=20ms"};
  SternaProgram& calm = begin("calm", how);
  ASSERT_EQ(calm.exit_code(kPatience), 0) << calm.story();
  SternaProgram& hit = begin("run", how);
  ASSERT_TRUE(trains(hit)) << hit.story();
  pid_t killed = 0;
  for (int i = 0; i < 3; ++i) {
    strike(killed = next_of(hit, "server1", killed), SIGKILL);
    trains_on(hit, 20);
  }
  ASSERT_EQ(hit.exit_code(kPatience), 0) << hit.story();
  const nlohmann::json got = result();
  EXPECT_EQ(got["parameters_sha256"], result("calm")["parameters_sha256"]);
  EXPECT_EQ(got["actor_restarts"].size(), 3U) << got.dump();
  EXPECT_FALSE(got.contains("restarts")) << "no step was done again";
  EXPECT_THAT(content_of(path("run/events.jsonl")), HasSubstr("\"refilled\""));
}

TEST_F(RunRestart, AServerAndAWorkerThatAreLostTogetherEndTheRun) {
  SternaProgram& program = run_for_ever(with({"gradient.down=average", "gradient.scaler=shared"}));
  ASSERT_TRUE(trains(program)) << program.story();
  const pid_t server = next_of(program, "server0"), worker = next_of(program, "worker0");
  strike(server, SIGKILL);
  strike(worker, SIGKILL);
  EXPECT_EQ(program.exit_code(kPatience), 1) << program.story();
  EXPECT_THAT(program.err(), HasSubstr("had the parameters again")) << program.story();
}

TEST_F(RunRestart, TwoServersThatAreLostTogetherEndTheRun) {
  SternaProgram& program = run_for_ever(with({"actor.parameter_server.replicas=1"}));
  ASSERT_TRUE(trains(program)) << program.story();
  strike(next_of(program, "server0"), SIGKILL);
  strike(next_of(program, "server0-replica"), SIGKILL);
  ASSERT_EQ(program.exit_code(kPatience), 1) << program.story();
  EXPECT_THAT(result()["cause"].get<std::string>(),
              AllOf(HasSubstr("server0"), HasSubstr("had the parameters again")));
}

TEST_F(RunRestart, OfWhatIsNoRunThereAreNoEvents) {
  SternaProgram& events = sterna({"events", "nothing"});
  EXPECT_EQ(events.exit_code(kPatience), 2) << events.story();
  EXPECT_THAT(events.err(), HasSubstr("no events of nothing"));
}

TEST_F(RunRestart, OfServersAFileCannotAskForIt) {
  SternaProgram& program = run(with({"actor.parameter_server.restart=1"}));
  EXPECT_EQ(program.exit_code(kPatience), 2) << program.story();
  EXPECT_THAT(program.err(), AllOf(HasSubstr("restart"), HasSubstr("checkpoint.every_steps")));
}

TEST_F(RunRestart, ReplicasAreOfServersWhoseRanksAreInStepOrShareNoScalers) {
  SternaProgram& other = run(with({"actor.worker.replicas=1"}));
  EXPECT_EQ(other.exit_code(kPatience), 2) << other.story();
  EXPECT_THAT(other.err(), HasSubstr("\"actor.replicas\" is for parameter servers"));
  SternaProgram& scalers = run(with({"actor.parameter_server.replicas=1", "actor.worker.count=3",
                                     "scheme.quorum=2", "gradient.scaler=last_step"}));
  EXPECT_EQ(scalers.exit_code(kPatience), 2) << scalers.story();
  EXPECT_THAT(scalers.err(), HasSubstr("set gradient.scaler = \"own\""));
}

TEST_F(RunRestart, TheCoordinatorComesAndGoesAndNobodyElseNotices) {
  // Long enough that who asks last still finds it, on a machine that does much else.
  const std::vector<std::string> how = {"job.steps=300", "evaluator.every=50",
                                        "cluster.heartbeat=100ms", "cluster.silence=2s"};
  SternaProgram& calm = begin("calm", how);
  ASSERT_EQ(calm.exit_code(kPatience), 0) << calm.story();
  SternaProgram& hit = begin("run", how);
  ASSERT_TRUE(trains(hit)) << hit.story();
  pid_t killed = 0;
  for (int i = 0; i < 2; ++i) {
    killed = next_of(hit, "coordinator", killed);
    strike(killed, SIGKILL);
    // Who asks finds the next one; who is lost meanwhile comes again with its help.
    if (i == 0) strike(next_of(hit, "worker1"), SIGKILL);
    SternaProgram& status = sterna({"status", "--json"});
    EXPECT_EQ(status.exit_code(kPatience), 0) << status.story();
    EXPECT_THAT(status.out(), HasSubstr("\"name\":\"worker0\""));
  }
  ASSERT_EQ(hit.exit_code(kPatience), 0) << hit.story();
  const nlohmann::json expected = result("calm");
  const nlohmann::json got = result();
  EXPECT_EQ(got["parameters_sha256"], expected["parameters_sha256"]);
  EXPECT_EQ(evaluations_of(got), evaluations_of(expected));
  std::multiset<std::string> restarted;
  for (const nlohmann::json& one : got["actor_restarts"]) {
    restarted.insert(one["actor"].get<std::string>());
  }
  EXPECT_EQ(restarted, (std::multiset<std::string>{"coordinator", "coordinator", "worker1"}));
  const std::string events = content_of(path("run/events.jsonl"));
  EXPECT_THAT(events, HasSubstr("\"actor\":\"coordinator\""));
}

TEST_F(RunRestart, TheCoordinatorMayBeLostWhileTheRunStarts) {
  const std::vector<std::string> how = {"job.steps=60"};
  SternaProgram& calm = begin("calm", how);
  ASSERT_EQ(calm.exit_code(kPatience), 0) << calm.story();
  SternaProgram& hit = begin("run", how);
  const pid_t first = next_of(hit, "coordinator");
  strike(first, SIGKILL);
  const pid_t second = next_of(hit, "coordinator", first);
  ASSERT_TRUE(eventually(kPatience, [&] { return hit.pid_of("worker1") > 0; })) << hit.story();
  strike(second, SIGKILL);
  ASSERT_EQ(hit.exit_code(kPatience), 0) << hit.story();
  const nlohmann::json got = result();
  EXPECT_EQ(got["parameters_sha256"], result("calm")["parameters_sha256"]);
  EXPECT_EQ(got["actor_restarts"].size(), 2U) << got;
}

TEST_F(RunRestart, TheNodeOfAnEmulatedHostThatIsToldToEndGivesItsHostBack) {
  std::string text = job() + R"(
[cluster]
placer = "local"

[[host]]
name = "a"

[[host]]
name = "b"
)";
  write("job.toml", text);
  // What error feedback has kept there goes with its worker.
  const std::vector<std::string> how = {
      "job.steps=200", "actor.parameter_server.hosts=[\"a\"]", "actor.worker.hosts=[\"b\", \"a\"]",
      "gradient.error_feedback=true", "gradient.scaler=last_step"};
  SternaProgram& calm = begin("calm", how);
  ASSERT_EQ(calm.exit_code(kPatience), 0) << calm.story();
  SternaProgram& hit = begin("run", how);
  ASSERT_TRUE(trains(hit)) << hit.story();
  strike(next_of(hit, "node-b"), SIGTERM);
  ASSERT_EQ(hit.exit_code(kPatience), 0) << hit.story();
  const nlohmann::json got = result();
  EXPECT_EQ(got["parameters_sha256"], result("calm")["parameters_sha256"]);
  EXPECT_THAT(content_of(path("run/events.jsonl")), HasSubstr("\"actor\":\"node-b\""));
  EXPECT_FALSE(got.contains("restarts")) << got;
}

}  // namespace
}  // namespace sterna::test
