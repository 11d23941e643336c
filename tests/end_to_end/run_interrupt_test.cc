// Ctrl-C stops this run, all of it, at any moment, and no other.
#include <csignal>

#include "input/formats/idx.h"
#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using testing::HasSubstr;

class RunInterrupt : public RunTest {
 protected:
  void expect_interrupted(SternaProgram& program, const std::string& run_directory = "run") {
    EXPECT_EQ(program.exit_code(seconds(10)), 130) << program.story();
    EXPECT_TRUE(program.processes().empty()) << program.story();
    EXPECT_THAT(program.err(), HasSubstr("interrupted at step"));
    const nlohmann::json written = result(run_directory);
    ASSERT_TRUE(written.is_object());
    EXPECT_EQ(written["exit"], 130);
    EXPECT_EQ(written["cause"], "interrupted");
  }
  /// Test images of which an evaluation takes seconds.
  std::string many_test_images() const {
    constexpr std::size_t kImages = 60000;
    constexpr std::size_t kSide = 28;
    std::filesystem::copy(digits(), path("many"));
    const input::IdxNames names = input::mnist_names(input::Split::test);
    EXPECT_TRUE(input::write_idx_images(path("many") + "/" + names.images,
                                        std::vector<std::uint8_t>(kImages * kSide * kSide), kSide,
                                        kSide)
                    .ok());
    EXPECT_TRUE(input::write_idx_labels(path("many") + "/" + names.labels,
                                        std::vector<std::uint16_t>(kImages))
                    .ok());
    return path("many");
  }
};

TEST_F(RunInterrupt, WhileItTrainsItStopsEverything) {
  SternaProgram& program = run_for_ever();
  ASSERT_TRUE(trains(program)) << program.story();
  program.interrupt();
  expect_interrupted(program);
}

TEST_F(RunInterrupt, ASuspendIsIgnoredAndSaysSo) {
  SternaProgram& program = run_for_ever();
  ASSERT_TRUE(trains(program)) << program.story();
  strike(program.pid(), SIGTSTP);
  program.interrupt();
  expect_interrupted(program);
  EXPECT_THAT(content_of(path("run/status.json")), HasSubstr("Ctrl-Z would end this run"));
}

TEST_F(RunInterrupt, WhoWatchesHearsOfTheCauseAndExitsAsTheRun) {
  SternaProgram& program = run_for_ever();
  ASSERT_TRUE(trains(program)) << program.story();
  SternaProgram& watch = sterna({"watch", "--json"});
  ASSERT_TRUE(eventually(kPatience, [&] { return !watch.out().empty(); })) << watch.story();
  program.interrupt();
  expect_interrupted(program);
  EXPECT_EQ(watch.exit_code(kPatience), 130) << watch.story();
  EXPECT_THAT(watch.err(), testing::MatchesRegex("run has ended at step [0-9,]+: interrupted\n"));
  for (const std::string& line : lines_of(watch.out())) {
    EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  }
}

TEST_F(RunInterrupt, WhileItStartsItStopsWhatHasStarted) {
  for (const char* until : {"coordinator", "node-localhost", "worker0", "evaluator0"}) {
    SternaProgram& program =
        run({"--set", "job.steps=1000000", "--run-dir", std::string("run-") + until});
    ASSERT_TRUE(eventually(kPatience, [&] { return program.has_process(until); }));
    program.interrupt();
    expect_interrupted(program, std::string("run-") + until);
  }
}

TEST_F(RunInterrupt, WhileItEvaluatesItStopsTooAndLeavesTheWeights) {
  SternaProgram& program = sterna({"run", "job.toml", "--data", many_test_images(), "--run-dir",
                                   "run", "--set", "job.steps=1"});
  ASSERT_TRUE(
      eventually(kPatience, [&] { return program.out().find("evaluating") != std::string::npos; }));
  ASSERT_TRUE(eventually(kPatience, [&] {
    return std::filesystem::exists(path("run") + "/weights.safetensors");
  })) << program.story();
  program.interrupt();
  expect_interrupted(program);
  EXPECT_THAT(program.err(), HasSubstr("; its weights and logs are in run"));
}

TEST_F(RunInterrupt, WithJsonTheLastLineStillIsTheResult) {
  SternaProgram& program = run_for_ever({"--json"});
  ASSERT_TRUE(trains(program)) << program.story();
  program.interrupt();
  expect_interrupted(program);
  const std::vector<std::string> lines = lines_of(program.out());
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(nlohmann::json::parse(lines.back()), result());
}

TEST_F(RunInterrupt, ASecondOneEndsTheGraceOfAProcessThatHangs) {
  SternaProgram& program = run_for_ever(with({"cluster.grace=5m", "cluster.silence=10m"}));
  ASSERT_TRUE(trains(program)) << program.story();
  strike(program.pid_of("server0"), SIGSTOP);
  program.interrupt();
  // The others stop, and all wait for the one that cannot.
  for (const char* other : {"worker0", "worker1", "reader0", "evaluator0"}) {
    ASSERT_TRUE(eventually(kPatience, [&] { return !program.has_process(other); })) << other;
  }
  EXPECT_FALSE(program.exit_code(Duration::zero())) << program.story();
  program.interrupt();
  expect_interrupted(program);
  EXPECT_THAT(program.err(), HasSubstr("4 processes stopped, 1 killed"));
}

TEST_F(RunInterrupt, OneThatHangsIsKilledAfterTheGrace) {
  // No silence ends it before.
  SternaProgram& program = run_for_ever(with({"cluster.silence=10m"}));
  ASSERT_TRUE(trains(program)) << program.story();
  strike(program.pid_of("server0"), SIGSTOP);
  const SteadyClock clock;
  const Time began = clock.now();
  program.interrupt();
  EXPECT_EQ(program.exit_code(kPatience), 130) << program.story();
  const double took = in_seconds(clock.now() - began);
  EXPECT_GE(took, 3) << "cluster.grace, which it was given";
  EXPECT_LE(took, 3 + 3 + 5) << "that, what SIGKILL may take, and a slow machine";
  expect_interrupted(program);
}

TEST_F(RunInterrupt, ATerminationIsAnInterruptToo) {
  SternaProgram& program = run_for_ever();
  ASSERT_TRUE(trains(program)) << program.story();
  strike(program.pid(), SIGTERM);
  expect_interrupted(program);
}

TEST_F(RunInterrupt, ATerminationOfEveryProcessIsAnInterruptWhoeverHearsOfItFirst) {
  SternaProgram& program = run_for_ever();
  ASSERT_TRUE(trains(program)) << program.story();
  for (const FoundProcess& process : program.processes()) {
    strike(static_cast<pid_t>(process.pid), SIGTERM);
  }
  const std::string metrics = path("run/metrics.jsonl");
  const std::size_t written = content_of(metrics).size();
  ASSERT_TRUE(eventually(kPatience, [&] { return content_of(metrics).size() > 2 * written; }))
      << program.story();  // it trains on
  EXPECT_EQ(program.processes().size(), 7U) << program.story();
  strike(program.pid(), SIGTERM);
  expect_interrupted(program);
}

TEST_F(RunInterrupt, SoIsAClosedTerminal) {
  SternaProgram& program = run_for_ever();
  ASSERT_TRUE(trains(program)) << program.story();
  strike(program.pid(), SIGHUP);
  expect_interrupted(program);
}

TEST_F(RunInterrupt, TwoRunsOfOneFolderLiveSideBySideAndOneOutlivesTheOther) {
  const Arguments endless = {"--set", "job.steps=1000000"};
  SternaProgram& first = run(endless);
  SternaProgram& second = run(endless);
  ASSERT_TRUE(eventually(kPatience, [&] {
    return first.out().find("loss") != std::string::npos &&
           second.out().find("loss") != std::string::npos;
  }));
  std::vector<std::string> directories;
  for (const auto& entry : std::filesystem::directory_iterator(path("runs"))) {
    directories.push_back(entry.path().filename().string());
  }
  EXPECT_EQ(directories.size(), 2U);
  first.interrupt();
  EXPECT_EQ(first.exit_code(seconds(10)), 130) << first.story();
  EXPECT_TRUE(first.processes().empty()) << first.story();

  EXPECT_FALSE(second.exit_code(Duration::zero())) << second.story();
  EXPECT_EQ(second.processes().size(), 7U) << second.story();
  const std::size_t seen = second.out().size();
  EXPECT_TRUE(eventually(kPatience, [&] { return second.out().size() > seen; }))
      << "it does not train on";
  second.interrupt();
  EXPECT_EQ(second.exit_code(seconds(10)), 130) << second.story();
}

}  // namespace
}  // namespace sterna::test
