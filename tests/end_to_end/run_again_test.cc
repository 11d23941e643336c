// Runs that end and may go on: exit code 75, the command in the last line, and what starts them
// again by itself. However often that happens, the bits are those of one that was never stopped.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>

#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Some seconds of training.
const std::vector<std::string> kSome = {"job.steps=150", "evaluator.every=0",
                                        "optimizer.schedule=fixed", "gradient.error_feedback=true",
                                        unhurried()};

class RunAgain : public RunTest {
 protected:
  std::string job() const override { return of_a_small_net(); }
  static Arguments some(const std::string& folder, std::vector<std::string> more = {}) {
    more.insert(more.begin(), kSome.begin(), kSome.end());
    Arguments arguments = with(more);
    arguments.insert(arguments.end(), {"--run-dir", folder});
    return arguments;
  }
  std::string calm_hash() {
    SternaProgram& calm = run(some("calm"));
    EXPECT_EQ(calm.exit_code(kPatience), 0) << calm.story();
    return hash_of("calm");
  }
  std::string hash_of(const std::string& folder) const {
    const nlohmann::json end = result(folder);
    return end.is_object() ? end.value("parameters_sha256", "no hash") : "no result";
  }
  /// Waits until the run has a checkpoint of that step or a later one.
  bool keeps(int step) const {
    return eventually(kPatience, [&] {
      std::error_code ignored;
      for (const auto& one :
           std::filesystem::directory_iterator(path("run/checkpoints"), ignored)) {
        const bool whole = std::filesystem::exists(one.path() / "manifest.json");
        if (whole && std::stoi(one.path().filename().string().substr(5)) >= step) return true;
      }
      return false;
    });
  }
  /// As a user copies it from the screen.
  void type(const std::string& line) {
    Program shell(
        folder(), {"/bin/sh", "-c", line},
        with_variables(own_environment(), {"HOME=" + path("home"), "TMPDIR=" + path("tmp"),
                                           "XDG_STATE_HOME=" + path("home/.local/state")}));
    EXPECT_EQ(shell.exit_code(kPatience), 0) << line << "\n" << shell.out() << shell.err();
  }
  std::string output(const Arguments& arguments, int code = 0) {
    SternaProgram& program = sterna(arguments);
    EXPECT_EQ(program.exit_code(kPatience), code) << program.story();
    return program.out();
  }
};

TEST_F(RunAgain, WhoLosesItsCoordinatorTooOftenSaysHowItGoesOn) {
  const std::string hash = calm_hash();
  SternaProgram& hit = run(some("run", {"checkpoint.every_steps=5", "checkpoint.restarts=1",
                                        "cluster.coordinator_restarts=0"}));
  pid_t killed = 0;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(keeps(20 * (i + 1))) << hit.story();
    pid_t coordinator = 0;
    ASSERT_TRUE(eventually(kPatience, [&] {
      coordinator = hit.pid_of("coordinator");
      return coordinator > 0 && coordinator != killed && hit.has_process("worker1");
    })) << hit.story();
    strike(coordinator, SIGKILL);
    killed = coordinator;
  }
  EXPECT_EQ(hit.exit_code(kPatience), 75) << hit.story();
  const std::string last = lines_of(hit.err()).back();
  EXPECT_THAT(last, HasSubstr("--set checkpoint.resume=true"));
  EXPECT_EQ(result()["exit"], 75);
  EXPECT_EQ(result()["resume"], last);
  EXPECT_THAT(result()["cause"].get<std::string>(), HasSubstr("coordinator"));
  type(last);
  EXPECT_EQ(hash_of("run"), hash);
}

TEST_F(RunAgain, ToldToEndItMakesACheckpointFirst) {
  const std::string hash = calm_hash();
  // None would be due before the end.
  SternaProgram& told = run(some("run", {"checkpoint.every_steps=100000", "cluster.grace=20s"}));
  ASSERT_TRUE(trains(told)) << told.story();
  strike(told.pid(), SIGTERM);
  EXPECT_EQ(told.exit_code(kPatience), 75) << told.story();
  EXPECT_THAT(told.err(), HasSubstr("interrupted at step"));
  EXPECT_EQ(result()["cause"], "told to end by SIGTERM");
  type(lines_of(told.err()).back());
  EXPECT_EQ(hash_of("run"), hash);
}

TEST_F(RunAgain, ToldToEndItWaitsForOneThatHangsForTwiceTheGrace) {
  // No silence ends it before.
  SternaProgram& told =
      run_for_ever(with({"checkpoint.every_steps=5", "cluster.grace=3s", "cluster.silence=10m"}));
  ASSERT_TRUE(keeps(5)) << told.story();
  strike(told.pid_of("server0"), SIGSTOP);
  const SteadyClock clock;
  const Time began = clock.now();
  strike(told.pid(), SIGTERM);
  EXPECT_EQ(told.exit_code(kPatience), 75) << told.story();
  const double took = in_seconds(clock.now() - began);
  EXPECT_GE(took, 3 + 3) << "for the checkpoint, and for its end";
  EXPECT_LE(took, 3 + 3 + 5) << "and on a slow machine";
  EXPECT_EQ(result()["cause"], "told to end by SIGTERM");
}

TEST_F(RunAgain, AfterCtrlCTheExitCodeIsAsEverAndTheCommandIsSaid) {
  SternaProgram& program = run_for_ever(with({"checkpoint.every_steps=5"}));
  ASSERT_TRUE(keeps(5)) << program.story();
  program.interrupt();
  EXPECT_EQ(program.exit_code(kPatience), 130) << program.story();
  EXPECT_THAT(lines_of(program.err()).back(), HasSubstr("--set checkpoint.resume=true"));
  EXPECT_EQ(result()["exit"], 130);
}

TEST_F(RunAgain, OfOneThatWasKilledItsStatusSaysHowItGoesOn) {
  may_leave_socket_folders();
  SternaProgram& killed = run_for_ever(with({"checkpoint.every_steps=5"}));
  ASSERT_TRUE(keeps(5)) << killed.story();
  killed.processes();
  killed.kill();
  ASSERT_TRUE(eventually(kPatience, [&] { return killed.processes().empty(); }));
  const std::string command =
      "/resolved.toml --run-dir " + path("run") + " --set checkpoint.resume=true";
  SternaProgram& status = sterna({"status", "run"});
  EXPECT_EQ(status.exit_code(kPatience), 1) << status.story();
  EXPECT_THAT(lines_of(status.err()).back(), HasSubstr(command));
  EXPECT_THAT(output({"list"}), HasSubstr(command));
}

TEST_F(RunAgain, InItsOwnProcessItIsStartedAgainToo) {
  const std::string hash = calm_hash();
  Arguments arguments = some("run", {"checkpoint.every_steps=5", "checkpoint.restarts=0"});
  arguments.insert(arguments.end(), {"--again", "1"});
  SternaProgram& hit = run(arguments);
  ASSERT_TRUE(keeps(20)) << hit.story();
  strike(hit.pid_of("server0"), SIGKILL);
  EXPECT_EQ(hit.exit_code(kPatience), 0) << hit.story();
  EXPECT_THAT(hit.err(), HasSubstr("started again, 1 of 1 times"));
  EXPECT_EQ(hash_of("run"), hash);
}

TEST_F(RunAgain, WithoutCheckpointsItCannotBe) {
  for (const char* command : {"run", "up"}) {
    SternaProgram& program = sterna({command, "job.toml", "--again", "2"});
    EXPECT_EQ(program.exit_code(kPatience), 2) << program.story();
    EXPECT_THAT(program.err(), AllOf(HasSubstr("--again"), HasSubstr("checkpoint.every_seconds")));
  }
}

class UpAgain : public RunAgain {
 protected:
  void up(int again, const std::vector<std::string>& more) {
    Arguments arguments = {"up", "job.toml", "--data", digits(), "--again", std::to_string(again)};
    std::ranges::copy(some("run", more), std::back_inserter(arguments));
    SternaProgram& program = sterna(arguments);
    ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  }
  void TearDown() override {
    output({"down", "--all"});
    EXPECT_TRUE(eventually(seconds(10), [this] { return keepers().empty(); }));
    RunAgain::TearDown();
  }
  nlohmann::json state() const {
    return nlohmann::json::parse(content_of(path("home/.local/state/sterna/runs/run")), nullptr,
                                 false);
  }
  /// The processes that keep this run: pid, and that of who starts it again.
  std::vector<std::pair<pid_t, pid_t>> keepers() const {
    std::vector<std::pair<pid_t, pid_t>> found;
    const nlohmann::json known = state();
    if (!known.is_object()) return found;
    const std::string run = known["run"];
    std::error_code ignored;  // they come and go
    for (std::filesystem::directory_iterator entry("/proc", ignored), end; entry != end;
         entry.increment(ignored)) {
      const std::string words = content_of(entry->path() / "cmdline");
      const std::size_t at = words.find(run + '\0');
      if (at == std::string::npos || words.find(std::string("__own") + '\0') == std::string::npos)
        continue;
      found.emplace_back(std::stoi(entry->path().filename()),
                         std::stoi(words.substr(at + run.size() + 1)));
    }
    return found;
  }
  /// The owner, once it is another than `before`.
  pid_t owner(pid_t before = 0) const {
    pid_t pid = 0;
    EXPECT_TRUE(eventually(kPatience, [&] {
      for (const auto& [keeper, parent] : keepers()) {
        if (parent != 0 && keeper != before) pid = keeper;
      }
      return pid != 0;
    }));
    return pid;
  }
};

TEST_F(UpAgain, WhoseOwnerIsKilledEndsWithTheSameBits) {
  const std::string hash = calm_hash();
  up(2, {"checkpoint.every_steps=5"});
  const pid_t first = owner();
  ASSERT_TRUE(keeps(20));
  strike(first, SIGKILL);
  EXPECT_TRUE(eventually(kPatience, [this] {
    const std::string said = output({"list"});
    return said.find("it is started again") != std::string::npos ||
           said.find("training") != std::string::npos || said.find("ended") != std::string::npos;
  }));
  const pid_t second = owner(first);
  ASSERT_TRUE(keeps(60));
  strike(second, SIGKILL);
  ASSERT_TRUE(eventually(kPatience, [this] { return result().is_object(); }))
      << content_of(path("run/logs/launcher.log"));
  EXPECT_EQ(result()["exit"], 0);
  EXPECT_EQ(hash_of("run"), hash);
  EXPECT_TRUE(eventually(kPatience, [this] {
    return output({"list"}).find("ended: precision@1") != std::string::npos;
  }));
  const std::string log = content_of(path("run/logs/launcher.log"));
  EXPECT_THAT(log, AllOf(HasSubstr("killed by SIGKILL"), HasSubstr("then 1 more"),
                         HasSubstr("then 0 more")));
}

TEST_F(UpAgain, WhoseOwnerIsKilledTooOftenSaysHowItGoesOn) {
  up(1, {"checkpoint.every_steps=5", "job.steps=1000000"});
  const pid_t first = owner();
  ASSERT_TRUE(keeps(5));
  strike(first, SIGKILL);
  strike(owner(first), SIGKILL);
  ASSERT_TRUE(eventually(kPatience, [this] {
    const nlohmann::json known = state();
    return known.is_object() && !known["ended"].get<std::string>().empty();
  }));
  SternaProgram& status = sterna({"status", "run"});
  EXPECT_EQ(status.exit_code(kPatience), 75) << status.story();
  EXPECT_THAT(status.err(), HasSubstr("killed by SIGKILL"));
  EXPECT_THAT(lines_of(status.err()).back(),
              AllOf(HasSubstr(" up "), HasSubstr("--set checkpoint.resume=true")));
}

TEST_F(UpAgain, WhoseSupervisorIsToldToEndMakesACheckpointAndSaysHowItGoesOn) {
  up(2, {"checkpoint.every_steps=5", "job.steps=1000000"});
  owner();
  ASSERT_TRUE(keeps(5));
  strike(state()["supervisor"]["pid"].get<pid_t>(), SIGTERM);
  ASSERT_TRUE(eventually(kPatience, [this] {
    const nlohmann::json known = state();
    return known.is_object() && !known["ended"].get<std::string>().empty();
  }));
  EXPECT_EQ(result()["exit"], 75);
  SternaProgram& status = sterna({"status", "run"});
  EXPECT_EQ(status.exit_code(kPatience), 75) << status.story();
  EXPECT_THAT(lines_of(status.err()).back(), HasSubstr("--set checkpoint.resume=true"));
  EXPECT_TRUE(eventually(seconds(10), [this] { return keepers().empty(); }));
}

TEST_F(UpAgain, IsEndedByDownAndNotStartedAgain) {
  up(2, {"checkpoint.every_steps=5", "job.steps=1000000"});
  ASSERT_TRUE(keeps(5));
  EXPECT_EQ(keepers().size(), 2U);
  EXPECT_THAT(output({"down", "run"}), HasSubstr("nothing is left"));
  EXPECT_TRUE(keepers().empty());
  EXPECT_EQ(result()["cause"], "ended by sterna down");
}

}  // namespace
}  // namespace sterna::test
