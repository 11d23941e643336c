// sterna up, and what can be done with a run that nobody watches.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>

#include "tests/end_to_end/run_test.h"

namespace sterna::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RunDetached : public RunTest {
 protected:
  /// sterna up job.toml, longer than any test.
  void up() {
    SternaProgram& program = sterna(
        {"up", "job.toml", "--data", digits(), "--run-dir", "run", "--set", "job.steps=1000000"});
    ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
    ASSERT_TRUE(eventually(kPatience, [&] {
      return content_of(path("run/metrics.jsonl")).find("\"step\"") != std::string::npos;
    }));
  }
  /// Whatever command, its output, once it has exited with this code.
  std::string output(const Arguments& arguments, int code = 0) {
    SternaProgram& program = sterna(arguments);
    EXPECT_EQ(program.exit_code(kPatience), code) << program.story();
    return program.out();
  }
  nlohmann::json status() {
    return nlohmann::json::parse(output({"status", "--json"}), nullptr, false);
  }
  /// The process that keeps the run.
  static pid_t owner_of(const std::string& run) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string words = content_of(entry.path() / "cmdline");
      const bool owns = words.find(std::string("__own") + '\0') != std::string::npos;
      if (owns && words.find(run) != std::string::npos) return std::stoi(entry.path().filename());
    }
    return 0;
  }
  void TearDown() override {
    output({"down", "--all"});
    RunTest::TearDown();
  }
};

TEST_F(RunDetached, ItGoesOnIsSeenAndIsEnded) {
  up();
  const nlohmann::json before = status();
  ASSERT_TRUE(before.is_object());
  EXPECT_EQ(before["members"].size(), 7U);  // coordinator, node and five actors
  const std::int64_t step = before["status"]["step"];
  EXPECT_TRUE(eventually(kPatience, [&] { return status()["status"]["step"] > step; }));
  EXPECT_THAT(output({"status"}), AllOf(HasSubstr("worker0#1"), HasSubstr("node-localhost#1")));
  EXPECT_THAT(output({"list"}), AllOf(HasSubstr("run"), HasSubstr("training, step")));
  EXPECT_THAT(output({"logs", "run", "node-localhost"}), HasSubstr("started worker0#1"));
  output({"logs", "run", "launcher"});
  SternaProgram& launcher = sterna({"logs", "-f", "run", "launcher"});
  SternaProgram& node = sterna({"logs", "-f", "run", "node-localhost"});
  EXPECT_TRUE(eventually(kPatience, [&] { return !node.out().empty(); }));
  EXPECT_THAT(output({"down"}), AllOf(HasSubstr("5 actors stopped"), HasSubstr("nothing is left")));
  EXPECT_EQ(result()["exit"], 130);
  EXPECT_EQ(result()["cause"], "ended by sterna down");
  EXPECT_EQ(launcher.exit_code(kPatience), 0) << launcher.story();
  EXPECT_EQ(launcher.out(), content_of(path("run/logs/launcher.log"))) << "to its last words";
  EXPECT_EQ(node.exit_code(kPatience), 0) << node.story();
  EXPECT_EQ(node.out(), content_of(path("run/logs/node-localhost.log")));
  EXPECT_THAT(output({"list"}), HasSubstr("ended: "));
  EXPECT_THAT(sterna({"down", "run"}).exit_code(kPatience), 0);
}

TEST_F(RunDetached, WhoEndsItHearsHowItGoesOn) {
  SternaProgram& program =
      sterna({"up", "job.toml", "--data", digits(), "--run-dir", "run", "--set",
              "job.steps=1000000", "--set", "checkpoint.every_steps=5"});
  ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  ASSERT_TRUE(eventually(kPatience, [&] {
    return std::filesystem::exists(path("run/checkpoints/step-000000005/manifest.json"));
  }));
  SternaProgram& down = sterna({"down"});
  EXPECT_EQ(down.exit_code(kPatience), 0) << down.story();
  EXPECT_THAT(down.err(), HasSubstr("it goes on from its newest checkpoint with\n"));
  EXPECT_THAT(down.err(), HasSubstr("checkpoint.resume=true"));
}

TEST_F(RunDetached, TwoStartedAtOnceAreOneRun) {
  const auto start = [this](const std::string& run) -> SternaProgram& {
    return sterna(
        {"up", "job.toml", "--data", digits(), "--run-dir", run, "--set", "job.steps=1000000"});
  };
  SternaProgram& one = start("one");
  SternaProgram& other = start("other");
  EXPECT_EQ(one.exit_code(kPatience), 0) << one.story();
  EXPECT_EQ(other.exit_code(kPatience), 0) << other.story();
  EXPECT_NE(std::filesystem::exists(path("one")), std::filesystem::exists(path("other")));
  EXPECT_THAT(one.err() + other.err(), HasSubstr("is already up"));
}

TEST_F(RunDetached, TheSameFileIsNotStartedTwice) {
  up();
  SternaProgram& again = sterna({"up", "job.toml", "--data", digits()});
  EXPECT_EQ(again.exit_code(kPatience), 0) << again.story();
  EXPECT_THAT(again.err(), HasSubstr("run is already up"));
  EXPECT_THAT(again.err(), HasSubstr("in " + path("run") + ": --data changes nothing of it\n"));
  SternaProgram& other = sterna({"up", "job.toml", "--run-dir", "run", "--set", "job.batch=9"});
  EXPECT_EQ(other.exit_code(kPatience), 0) << other.story();
  EXPECT_THAT(other.err(), HasSubstr(": --set changes nothing of it\n"));
  SternaProgram& both = sterna({"up", "job.toml", "--run-dir", "other", "--set", "job.batch=9"});
  EXPECT_EQ(both.exit_code(kPatience), 0) << both.story();
  EXPECT_THAT(both.err(), HasSubstr(": --set and --run-dir change nothing of it\n"));
  EXPECT_FALSE(exists("other"));
}

TEST_F(RunDetached, ItEndsByItselfAndLeavesItsResult) {
  SternaProgram& program = sterna({"up", "job.toml", "--data", digits(), "--run-dir", "run"});
  ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  ASSERT_TRUE(eventually(kPatience, [&] { return result().is_object(); }));
  EXPECT_EQ(result()["exit"], 0);
  EXPECT_TRUE(eventually(
      kPatience, [&] { return output({"list"}).find("ended: precision@1") != std::string::npos; }));
  EXPECT_THAT(output({"logs", "run", "node-localhost"}), HasSubstr("started worker0#1"));
}

TEST_F(RunDetached, WhoKillsItsOwnerEndsItAll) {
  up();
  const auto state = nlohmann::json::parse(content_of(path("home/.local/state/sterna/runs/run")));
  const pid_t pid = owner_of(state["run"]);
  ASSERT_GT(pid, 0);
  strike(pid, SIGKILL);
  const std::string said = output({"down", "run"});
  EXPECT_THAT(said, HasSubstr("nothing is left"));
}

TEST_F(RunDetached, DownEndsARunInATerminalAlsoWhereAllWhoMayLookAtItDo) {
  SternaProgram& program = run_for_ever(with({"checkpoint.every_steps=5"}));
  ASSERT_TRUE(trains(program)) << program.story();
  std::vector<int> locks;
  for (int i = 0; i < 8; ++i) {
    const std::string name = "run.operator" + std::to_string(i) + ".lock";
    locks.push_back(::open(path("home/.local/state/sterna/runs/" + name).c_str(),
                           O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(::flock(locks.back(), LOCK_EX), 0);
  }
  EXPECT_THAT(output({"down", "run"}), HasSubstr("nothing is left"));
  EXPECT_TRUE(program.exit_code(Duration::zero())) << "it goes on: " << program.story();
  EXPECT_EQ(result()["cause"], "told to end by SIGTERM");
  for (const int lock : locks) ::close(lock);
}

TEST_F(RunDetached, RunsWhoseDirectoriesAreCalledTheSameAreTwo) {
  std::filesystem::create_directories(path("mine"));
  std::filesystem::create_directories(path("yours"));
  SternaProgram& mine = run({"--run-dir", "mine/long", "--set", "job.steps=1000000"});
  SternaProgram& yours = run({"--run-dir", "yours/long", "--set", "job.steps=1000000"});
  ASSERT_TRUE(trains(mine, "mine/long")) << mine.story();
  ASSERT_TRUE(trains(yours, "yours/long")) << yours.story();
  EXPECT_EQ(lines_of(output({"list"})).size(), 2U);
  EXPECT_THAT(output({"down", "yours/long"}), HasSubstr("nothing is left"));
  EXPECT_TRUE(yours.exit_code(kPatience));
  EXPECT_FALSE(mine.exit_code(Duration::zero())) << mine.story();
  EXPECT_THAT(output({"down", "--all"}), HasSubstr("nothing is left"));
  EXPECT_TRUE(mine.exit_code(kPatience));
}

TEST_F(RunDetached, ADirectoryThatAShellHasCompletedIsTheSame) {
  std::filesystem::create_directories(path("run"));
  SternaProgram& program =
      sterna({"up", "job.toml", "--data", digits(), "--run-dir", "run/", "--set",
              "job.steps=1000000", "--set", "checkpoint.resume=true"});
  ASSERT_EQ(program.exit_code(kPatience), 0) << program.story();
  EXPECT_THAT(program.err(), HasSubstr("run is up"));
  EXPECT_THAT(output({"list"}), HasSubstr("run  "));
  EXPECT_THAT(output({"down", "run"}), HasSubstr("nothing is left"));
}

TEST_F(RunDetached, OneThatCouldNotBeFoundAgainIsNotUp) {
  // Of a file's name in the state there is room for fewer bytes.
  const std::string name(250, 'x');
  SternaProgram& program = sterna(
      {"up", "job.toml", "--data", digits(), "--run-dir", name, "--set", "job.steps=1000000"});
  EXPECT_EQ(program.exit_code(kPatience), 1) << program.story();
  EXPECT_THAT(program.err(), HasSubstr("`sterna status` will not find this run"));
  EXPECT_FALSE(exists(name));
}

TEST_F(RunDetached, AHostThatSshCannotReachIsAnErrorAndElseTheExitCodeIsItsOwn) {
  write("ssh", "#!/bin/sh\necho ssh: no such host >&2\nexit ${SSH_ENDS:-255}\n");
  std::filesystem::permissions(path("ssh"), std::filesystem::perms::owner_all);
  SternaProgram& unreached = sterna({"list", "--via", "far"}, {"PATH=" + folder()});
  EXPECT_EQ(unreached.exit_code(kPatience), 1) << unreached.story();
  EXPECT_THAT(unreached.err(),
              AllOf(HasSubstr("no such host"), HasSubstr("no word from far; ssh says why")));
  SternaProgram& reached = sterna({"list", "--via", "far"}, {"PATH=" + folder(), "SSH_ENDS=2"});
  EXPECT_EQ(reached.exit_code(kPatience), 2) << reached.story();
  std::filesystem::remove(path("ssh"));
  SternaProgram& without = sterna({"list", "--via", "far"}, {"PATH=" + folder()});
  EXPECT_EQ(without.exit_code(kPatience), 1) << without.story();
  EXPECT_THAT(without.err(), HasSubstr("is it installed?"));
}

TEST_F(RunDetached, AWrongFileStartsNothing) {
  SternaProgram& program = sterna({"up", "job.toml", "--set", "job.steps=0"});
  EXPECT_EQ(program.exit_code(kPatience), 2) << program.story();
  EXPECT_THAT(program.err(), HasSubstr("job.steps"));
  EXPECT_FALSE(exists("runs"));
}

TEST_F(RunDetached, AnActorThatTakesTooMuchMemoryIsEndedWithThatCause) {
  SternaProgram& program =
      run({"--run-dir", "run", "--set", "job.steps=1000000", "--set",
           "actor.evaluator.memory=\"8MB\"", "--set", "actor.evaluator.restart=0"});
  EXPECT_EQ(program.exit_code(kPatience), 1) << program.story();
  EXPECT_THAT(program.err(),
              AllOf(HasSubstr("evaluator0#1 is dead"), HasSubstr("of memory, more "
                                                                 "than its limit of 8 MB")));
}

TEST_F(RunDetached, OneThatTakesTooMuchAgainAfterItCameAgainEndsTheRunWithBothCauses) {
  // While it starts it takes two thirds of that; 500 pictures at once take as much besides.
  SternaProgram& program =
      run({"--run-dir", "run", "--set", "job.steps=1000000", "--set", "evaluator.batch=500",
           "--set", "evaluator.examples=500", "--set", "actor.evaluator.memory=\"60MB\"", "--set",
           "actor.evaluator.restart=1", "--set", "actor.evaluator.backoff=20ms"});
  ASSERT_EQ(program.exit_code(kPatience), 1) << program.story();
  nlohmann::json got = result();
  EXPECT_THAT(got["cause"].get<std::string>(),
              AllOf(HasSubstr("evaluator0#2 is dead"), HasSubstr("more than its limit of 60 MB"),
                    HasSubstr("after 1 restart of it within 10m; first lost: it uses ")));
  ASSERT_EQ(got["actor_restarts"].size(), 1U) << got;
  EXPECT_THAT(got["actor_restarts"][0]["cause"].get<std::string>(),
              AllOf(HasSubstr("evaluator0#1 is dead"), HasSubstr("more than its limit of 60 MB")));
}

}  // namespace
}  // namespace sterna::test
