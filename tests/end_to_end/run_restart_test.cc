// Actors that are killed or stopped are started again beside the others, and the run ends with the
// bits of one that lost nobody.
#include <algorithm>
#include <csignal>
#include <map>

#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RunRestart : public RunTest {
 protected:
  SternaProgram& begin(const std::string& folder, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"actor.input_reader.backoff=20ms", "actor.evaluator.backoff=20ms",
                               "actor.worker.backoff=20ms"});
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
  const std::vector<std::string> how = {"job.steps=300", "evaluator.every=20",
                                        "cluster.heartbeat=100ms", "cluster.silence=2s"};
  SternaProgram& calm = begin("calm", how);
  ASSERT_EQ(calm.exit_code(kPatience), 0) << calm.story();
  SternaProgram& hit = begin("run", how);
  ASSERT_TRUE(trains(hit)) << hit.story();
  std::map<std::string, pid_t> killed;
  for (int i = 0; i < 2; ++i) {
    for (const char* name : {"reader0", "evaluator0", "worker1"}) {
      ::kill(killed[name] = next_of(hit, name, killed[name]), SIGKILL);
    }
  }
  // One that has not begun yet would not be missed so soon.
  const pid_t reader = next_of(hit, "reader0", killed["reader0"]);
  trains_on(hit, 20);
  // Nobody trains on without it, however long it takes.
  ::kill(reader, SIGSTOP);
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
  EXPECT_THAT(lines.back(), AllOf(HasSubstr("step 300"), HasSubstr("  ended"), HasSubstr("done")));
  EXPECT_EQ(
      std::ranges::count_if(
          lines, [](const std::string& line) { return line.find("  actor_restart") != line.npos; }),
      7)
      << events.out();
}

TEST_F(RunRestart, WhatErrorFeedbackKeepsOutlivesWorkersThatAreKilled) {
  for (const std::string scaler : {"shared", "last_step"}) {
    const std::vector<std::string> how = {"job.steps=300", "evaluator.every=0",
                                          "gradient.error_feedback=true", "actor.worker.ranks=2",
                                          "gradient.scaler=" + scaler};
    SternaProgram& calm = begin("calm-" + scaler, how);
    ASSERT_EQ(calm.exit_code(kPatience), 0) << calm.story();
    SternaProgram& hit = begin("run", how);
    ASSERT_TRUE(trains(hit)) << hit.story();
    std::map<std::string, pid_t> killed;
    for (int i = 0; i < 2; ++i) {
      for (const char* name : {"worker0", "worker1"}) {
        ::kill(killed[name] = next_of(hit, name, killed[name]), SIGKILL);
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
  ::kill(reader, SIGKILL);
  ::kill(next_of(program, "reader0", reader), SIGKILL);
  ASSERT_EQ(program.exit_code(kPatience), 1) << program.story();
  EXPECT_THAT(result()["cause"].get<std::string>(),
              AllOf(HasSubstr("reader0#2 is dead"), HasSubstr("after 1 restart of it within 10m"),
                    HasSubstr("first lost: killed by SIGKILL")));
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

}  // namespace
}  // namespace sterna::test
