// Processes of a run die in every way: the run ends at once, says of whom and why, and leaves
// nobody behind.
#include <csignal>

#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// As for actors that are not started again by themselves.
const std::vector<std::string> kForGood = {"actor.input_reader.restart=0",
                                           "actor.evaluator.restart=0", "actor.worker.restart=0",
                                           "cluster.coordinator_restarts=0"};

class RunDeath : public RunTest {
 protected:
  /// The run fails within `patience`; its last line and result.json have the cause.
  void expect_failure(SternaProgram& program, Duration patience,
                      const testing::Matcher<std::string>& cause) {
    ASSERT_EQ(program.exit_code(patience), 1) << program.story();
    EXPECT_TRUE(program.processes().empty()) << program.story();
    const std::vector<std::string> lines = lines_of(program.err());
    ASSERT_FALSE(lines.empty());
    EXPECT_THAT(lines.back(), cause);
    const nlohmann::json written = result();
    ASSERT_TRUE(written.is_object());
    EXPECT_EQ(written["exit"], 1);
    EXPECT_THAT(written["cause"].get<std::string>(), cause);
  }
};

std::string test_name(const testing::TestParamInfo<const char*>& who) {
  std::string name = who.param;
  std::erase(name, '-');
  return name;
}

class RunDeathOf : public RunDeath, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Each, RunDeathOf,
                         testing::Values("worker1", "server0", "reader0", "evaluator0",
                                         "node-localhost", "coordinator"),
                         test_name);

TEST_P(RunDeathOf, KilledItEndsTheRunWithinFiveSecondsAndIsNamed) {
  SternaProgram& program = run_for_ever(with(kForGood));
  ASSERT_TRUE(trains(program)) << program.story();
  strike(program.pid_of(GetParam()), SIGKILL);
  expect_failure(program, seconds(5), AllOf(StartsWith(GetParam()), HasSubstr("SIGKILL")));
}

class RunSilenceOf : public RunDeath, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Each, RunSilenceOf,
                         testing::Values("worker1", "server0", "evaluator0", "node-localhost",
                                         "coordinator"),
                         test_name);

TEST_P(RunSilenceOf, StoppedItEndsTheRunSoonAfterTheTimeThatTheFileAllows) {
  SternaProgram& program = run_for_ever(with(
      {"cluster.heartbeat=100ms", "cluster.silence=1s", "cluster.grace=1s",
       "actor.evaluator.restart=0", "actor.worker.restart=0", "cluster.coordinator_restarts=0"}));
  ASSERT_TRUE(trains(program)) << program.story();
  strike(program.pid_of(GetParam()), SIGSTOP);
  expect_failure(program, seconds(5), AllOf(StartsWith(GetParam()), HasSubstr("silence")));
}

TEST_F(RunDeath, AStoppedWorkerEndsTheRunWithinTenSecondsUnlessTheFileSaysOtherwise) {
  SternaProgram& program = run_for_ever(with(kForGood));
  ASSERT_TRUE(trains(program)) << program.story();
  strike(program.pid_of("worker0"), SIGSTOP);
  expect_failure(program, seconds(10), AllOf(StartsWith("worker0"), HasSubstr("silence")));
}

TEST_F(RunDeath, AStoppedLauncherSaysThatItWasStopped) {
  SternaProgram& program = run_for_ever(with({"cluster.heartbeat=100ms", "cluster.silence=1s"}));
  ASSERT_TRUE(trains(program)) << program.story();
  strike(program.pid(), SIGSTOP);
  EXPECT_TRUE(eventually(kPatience, [&] { return !program.has_process("worker0"); }));
  strike(program.pid(), SIGCONT);
  expect_failure(program, seconds(5), HasSubstr("longer than cluster.silence (1s)"));
}

TEST_F(RunDeath, OverTcpACrashedServerIsNamedTooAndItsLogSaysWhereItWas) {
  SternaProgram& program = run_for_ever(with({"cluster.transport=tcp"}));
  ASSERT_TRUE(trains(program)) << program.story();
  strike(program.pid_of("server0"), SIGSEGV);
  expect_failure(program, seconds(5), AllOf(StartsWith("server0"), HasSubstr("SIGSEGV")));
  EXPECT_THAT(content_of(path("run/logs/server0.log")), HasSubstr("crashed: SIGSEGV"));
}

TEST_F(RunDeath, AnActorThatDiesWhileItStartsEndsTheRun) {
  SternaProgram& program = run_for_ever(with(kForGood));
  ASSERT_TRUE(eventually(kPatience, [&] { return program.has_process("reader0"); }));
  strike(program.pid_of("reader0"), SIGKILL);
  expect_failure(program, seconds(5), AllOf(StartsWith("reader0"), HasSubstr("SIGKILL")));
}

TEST_F(RunDeath, AKilledLauncherLeavesNobodyWithinFiveSeconds) {
  SternaProgram& program = run_for_ever();
  ASSERT_TRUE(trains(program)) << program.story();
  EXPECT_EQ(program.processes().size(), 7U);
  program.kill();
  EXPECT_TRUE(eventually(seconds(5), [&] { return program.processes().empty(); }))
      << program.story();
}

TEST_F(RunDeath, ALauncherThatIsKilledWhileItStartsLeavesNobodyEither) {
  may_leave_socket_folders();
  for (const char* until : {"coordinator", "node-localhost", "worker0"}) {
    SternaProgram& program = run({"--set", "job.steps=1000000"});
    ASSERT_TRUE(eventually(kPatience, [&] { return program.has_process(until); }));
    program.kill();
    EXPECT_TRUE(eventually(seconds(5), [&] { return program.processes().empty(); }))
        << until << "\n"
        << program.story();
  }
}

TEST_F(RunDeath, ALossThatIsNotANumberEndsTheRunWithRankAndStep) {
  SternaProgram& program = run_for_ever(with({"optimizer.learning_rate=1e30"}));
  expect_failure(program, kPatience,
                 testing::MatchesRegex("worker[01]#1 is dead: rank [01], step [0-9]+: .*"));
}

}  // namespace
}  // namespace sterna::test
