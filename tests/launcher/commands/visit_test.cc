// What is said of runs that are over, or not there: status, watch, list, logs, down; and of one
// that cannot be kept: up.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "runtime/zmq/socket_directory.h"
#include "tests/launcher/cluster_file/cluster_file_fixture.h"
#include "tests/launcher/commands/command_fixture.h"
#include "tests/launcher/past/fake_actor.h"
#include "tests/launcher/past/fake_keeper.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kLocalJob = std::string(smallest) + "[data]\nname = \"digits\"\n";

using StatusCommand = CommandTest;
using HostCommands = CommandTest;
using ListCommand = CommandTest;
using LogsCommand = CommandTest;
using DirectoryCommands = CommandTest;
using EventsCommand = CommandTest;
using DownCommand = CommandTest;
using UpCommand = CommandTest;

TEST_F(StatusCommand, SaysHowARunHasEndedAndExitsAsItDid) {
  ended("mnist-1", 3);
  const Said said = sterna({"status"});
  EXPECT_EQ(said.exit, 3);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err, "mnist-1 has ended: it was mnist-1\n");
  EXPECT_EQ(sterna({"watch", "mnist-1"}).err, said.err);
}

TEST_F(StatusCommand, IsALineOfJsonWhereAProgramReads) {
  ended("mnist-1", 3);
  const Said said = sterna({"status", "--json"});
  EXPECT_EQ(said.exit, 0);
  EXPECT_THAT(said.out, StartsWith("{\"format\":1,\"id\":\"mnist-1\""));
  EXPECT_EQ(said.err, "");
}

TEST_F(StatusCommand, OfNobodyKnownIsBadInput) {
  const Said said = sterna({"status"});
  EXPECT_EQ(said.exit, 2);
  EXPECT_EQ(said.err, "no run is known here; `sterna up FILE` starts one\n");
}

TEST_F(StatusCommand, OfADirectoryWithoutAResultSaysThatTheRunHasEndedWithoutAWord) {
  const std::string run = folder.path() + "/mnist-1";
  std::filesystem::create_directories(run);
  EXPECT_EQ(sterna({"status", run.c_str()}).err, "no run goes on in " + run + "\n");
  write("mnist-1/resolved.toml", "format = 1\n");
  const Said said = sterna({"status", run.c_str()});
  EXPECT_EQ(said.exit, 1);
  EXPECT_EQ(said.err, run + " has ended without a word: it was killed, or its disk was full\n");
  const Said told = sterna({"status", "--json", run.c_str()});
  EXPECT_EQ(told.exit, 0);
  EXPECT_THAT(told.out, HasSubstr("\"phase\":\"abandoned\"}\n"));
  EXPECT_EQ(told.err, "");
}

TEST_F(HostCommands, FailInALineOfARunThatHasEndedHoweverItDid) {
  ended("mnist-1", 0);
  ended("mnist-2", 75);
  const std::string forgotten = folder.path() + "/forgotten";
  std::filesystem::create_directories(forgotten);
  write("forgotten/resolved.toml", "format = 1\n");
  const std::vector<std::vector<const char*>> commands = {
      {"drain", "RUN", "a"},
      {"move", "RUN", "worker0", "a"},
      {"add", "RUN", "b"},
      {"add", "RUN", "b", "--json"},
  };
  for (const std::string& run : {std::string("mnist-1"), std::string("mnist-2"), forgotten}) {
    for (std::vector<const char*> words : commands) {
      words[1] = run.c_str();
      const Said said = sterna(words);
      EXPECT_EQ(said.exit, 1) << words[0];
      EXPECT_EQ(said.out, "");
      EXPECT_EQ(said.err, run + " has ended (`sterna status` says how), and so `sterna " +
                              words[0] + "` has done nothing\n");
    }
  }
}

TEST_F(ListCommand, HasALineForEachRun) {
  EXPECT_EQ(sterna({"list"}).err, "no run is known here\n");
  ended("a-1", 0);
  ended("b-1", 1);
  const Said said = sterna({"list"});
  EXPECT_EQ(said.exit, 0);
  EXPECT_EQ(said.out, "a-1  1 host   ended: it was a-1\nb-1  1 host   ended: it was b-1\n");
  EXPECT_THAT(sterna({"list", "--json"}).out, HasSubstr("\"exit\":1,\"phase\":\"ended\"}\n"));
}

TEST_F(ListCommand, HasAsManyOfThoseThatAreOverAsItsHelpSays) {
  for (std::size_t i = 0; i < kEndedKept + 2; ++i) ended(fmt::format("a-{:02}", i), 0);
  const std::string out = sterna({"list"}).out;
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(out, '\n')), kEndedKept);
  EXPECT_THAT(out, StartsWith("a-02  1 host   ended: "));
  EXPECT_THAT(sterna({"list", "--help"}).out, HasSubstr(fmt::format("the last {}", kEndedKept)));
}

TEST_F(ListCommand, HasOneLineForARunThatEndedWithSeveral) {
  RunState state = ended("a-1", 1);
  state.ended = "the run failed at step 3\nworker0: it\twas \x1B[1mthat";
  ASSERT_TRUE(RunStates::of_user()->write(state).ok());
  EXPECT_EQ(sterna({"list"}).out,
            "a-1  1 host   ended: the run failed at step 3; worker0: it was ?[1mthat\n");
}

TEST_F(StatusCommand, OfAJobThatFailedAtOnceSaysWhatItSaidLast) {
  write("squeue", "#!/bin/sh\necho 'FAILED|NonZeroExitCode|0:00|n1'\n");
  std::filesystem::permissions(folder / "squeue", std::filesystem::perms::owner_all);
  RunState state = ended("a-1", 0);
  state.ended.clear();
  state.placer = "slurm";
  state.slurm_job = "17";
  ASSERT_TRUE(RunStates::of_user()->write(state).ok());
  write("a-1.out", "a first line\n/nowhere: there is no such data\n");
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", (folder.path() + ":" + path).c_str(), 1);
  const Said said = sterna({"status", "a-1"});
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(said.exit, 1);
  EXPECT_THAT(said.out + said.err, HasSubstr("job 17 is over: failed after 0:00; it said last: "
                                             "/nowhere: there is no such data"));
}

TEST_F(LogsCommand, ReadsTheDirectoryOfARunThatIsOver) {
  const RunState state = ended("mnist-1", 0);
  std::filesystem::create_directories(state.run_directory + "/logs");
  write("mnist-1/logs/worker0.log", "2026-01-01T00:00:00Z hello\n");
  write("mnist-1/logs/server0.log", "2026-01-01T00:00:00Z there\n");
  EXPECT_EQ(sterna({"logs"}).out,
            "server0      2026-01-01T00:00:00Z there\nworker0      2026-01-01T00:00:00Z hello\n");
  EXPECT_EQ(sterna({"logs", "worker0"}).out, "2026-01-01T00:00:00Z hello\n")
      << "of the only run there is, a process may be named alone";
  EXPECT_EQ(sterna({"logs", "--since", "1h"}).out, "") << "that was long ago";
  const Said nobody = sterna({"logs", "mnist-1", "worker7"});
  EXPECT_EQ(nobody.exit, 2);
  EXPECT_THAT(nobody.err, HasSubstr("has no log of worker7"));
}

TEST_F(LogsCommand, HasLastWordsThatHaveNoEnd) {
  const RunState state = ended("mnist-1", 0);
  std::filesystem::create_directories(state.run_directory + "/logs");
  write("mnist-1/logs/server0.log", "terminate called");
  write("mnist-1/logs/worker0.log", "2026-01-01T00:00:00Z hello\n2026-01-01T00:00:01Z and go");
  EXPECT_EQ(sterna({"logs"}).out,
            "server0      terminate called\nworker0      2026-01-01T00:00:00Z hello\n"
            "worker0      2026-01-01T00:00:01Z and go\n");
  EXPECT_EQ(sterna({"logs", "server0"}).out, "terminate called\n");
}

TEST_F(LogsCommand, ReadsLongLogsAPieceAtATimeAndNoPipe) {
  const RunState state = ended("mnist-1", 0);
  std::filesystem::create_directories(state.run_directory + "/logs");
  ASSERT_EQ(::mkfifo((state.run_directory + "/logs/pipe.log").c_str(), 0600), 0);
  write("mnist-1/logs/a.log", std::string(3 << 20, 'x') + "\nnext\n");
  const std::string out = sterna({"logs"}).out;
  EXPECT_LT(out.size(), 70'000U) << "a line without an end is cut";
  EXPECT_TRUE(out.ends_with("x\na            next\n"));
}

TEST_F(EventsCommand, SayWhichLineIsNone) {
  const std::string run = folder / "run";
  std::filesystem::create_directories(run);
  write("run/events.jsonl",
        "{\"time\":1e17,\"kind\":\"began\",\"step\":0}\n{\"time\":5,\"what\":\"ours\"}\n");
  const Said said = sterna({"events", run.c_str()});
  EXPECT_EQ(said.exit, 2);
  EXPECT_EQ(said.err, run + "/events.jsonl:2: is no event of this program\n");
}

TEST_F(LogsCommand, WantsToKnowHowLongAgo) {
  const Said said = sterna({"logs", "--since", "yesterday"});
  EXPECT_EQ(said.exit, 2);
  EXPECT_EQ(said.err, "--since yesterday: say how long ago, as in 30s, 10m or 2h\n");
}

TEST_F(DirectoryCommands, SayWhichHostHasTheDirectory) {
  RunState state = ended("mnist-1", 0);
  state.head = "a";
  state.hosts = {{"a", "me@node1", "~/.cache/sterna"}};
  state.run_directory = "/nowhere/runs/mnist-1";
  ASSERT_TRUE(RunStates::of_user()->write(state).ok());
  for (const char* command : {"trace", "events", "checkpoints"}) {
    const Said said = sterna({command, "mnist-1"});
    EXPECT_EQ(said.exit, 2) << command;
    EXPECT_THAT(said.err, HasSubstr("mnist-1 is kept by a, ")) << command;
    EXPECT_THAT(said.err, HasSubstr("scp -r me@node1:/nowhere/runs/mnist-1 .\n")) << command;
  }
}

TEST_F(DownCommand, LeavesWhatHasEndedAlone) {
  EXPECT_EQ(sterna({"down"}).err, "no run goes on\n");
  ended("mnist-1", 1);
  const Said said = sterna({"down", "mnist-1"});
  EXPECT_EQ(said.exit, 0);
  EXPECT_EQ(said.err, "mnist-1 has ended already: it was mnist-1\n");
  EXPECT_EQ(sterna({"down", "--all"}).err, "no run goes on\n");
  EXPECT_EQ(sterna({"down", "other"}).exit, 2);
}

TEST_F(DownCommand, ForgetsWithoutANameWhatNobodyKeeps) {
  for (const char* id : {"mnist-1", "mnist-2"}) {
    RunState state = ended(id, 0);
    state.ended.clear();
    state.keeper = Keeper::this_process();
    state.keeper.started = "1";  // another process's
    ASSERT_TRUE(RunStates::of_user()->write(state).ok());
  }
  EXPECT_THAT(sterna({"list"}).out, HasSubstr("mnist-1  1 host   whoever kept it is gone"));
  const Said said = sterna({"down"});
  EXPECT_EQ(said.exit, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("mnist-1: nobody answered; nothing is left on 1 host\n"));
  EXPECT_THAT(said.out, HasSubstr("mnist-2: nobody answered; nothing is left on 1 host\n"));
  EXPECT_THAT(sterna({"list"}).out, HasSubstr("mnist-1  1 host   ended: ended by sterna down\n"));
}

TEST_F(DownCommand, RemovesTheSocketsOfARunWhoseKeeperWasKilled) {
  const std::string sockets = make_socket_directory("").value();
  RunState state = ended("mnist-1", 0);
  state.ended.clear();
  state.network.directory = sockets;
  state.keeper = Keeper::this_process();
  state.keeper.started = "1";  // another process's
  ASSERT_TRUE(RunStates::of_user()->write(state).ok());
  EXPECT_EQ(sterna({"down", "mnist-1"}).exit, 0);
  EXPECT_FALSE(std::filesystem::exists(sockets));
}

TEST_F(DownCommand, TellsWhoKeepsARunThatDoesNotAnswerToEnd) {
  FakeKeeper keeper;
  RunState state = ended("mnist-1", 0);
  state.ended.clear();
  state.detached = false;
  state.keeper = keeper.keeper();
  ASSERT_TRUE(RunStates::of_user()->write(state).ok());
  const Said said = sterna({"down", "mnist-1"});
  EXPECT_EQ(keeper.signal_of_end(), SIGTERM);
  EXPECT_EQ(said.exit, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("nothing is left on 1 host\n"));
  EXPECT_EQ(sterna({"list"}).err, "no run is known here\n");
}

/// Of whom as many commands look at it as may.
class DownOfABusyRun : public CommandTest {
 protected:
  ~DownOfABusyRun() override {
    for (const int lock : locks_) ::close(lock);
  }
  void write_busy(RunState state) {
    state.ended.clear();
    state.detached = false;
    state.operators = issue_operators();
    const Result<RunStates> states = RunStates::of_user();
    ASSERT_TRUE(states->write(state).ok());
    for (const OperatorKeys& keys : state.operators) {
      locks_.push_back(::open(states->lock_path(state.id, keys.identity.name).c_str(),
                              O_RDWR | O_CREAT | O_CLOEXEC, 0600));
      ASSERT_EQ(::flock(locks_.back(), LOCK_EX | LOCK_NB), 0);
    }
  }

 private:
  std::vector<int> locks_;
};

TEST_F(DownOfABusyRun, TellsWhoKeepsItToEnd) {
  FakeKeeper keeper;
  RunState state = ended("mnist-1", 0);
  state.keeper = keeper.keeper();
  write_busy(state);
  const Said said = sterna({"down", "mnist-1"});
  EXPECT_EQ(keeper.signal_of_end(), SIGTERM);
  EXPECT_EQ(said.exit, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("nothing is left on 1 host\n"));
}

TEST_F(DownOfABusyRun, EndsNothingWhereItCannotTellWhoKeepsIt) {
  RunState state = ended("mnist-1", 0);
  state.run = 0x5eed000000000000 + static_cast<std::uint64_t>(::getpid());
  FakeActor node("node-localhost", state.run);
  state.keeper.machine = "another";
  write_busy(state);
  const Said said = sterna({"down", "mnist-1"});
  EXPECT_EQ(said.exit, 1);
  EXPECT_EQ(said.out, "mnist-1: it goes on\n");
  EXPECT_THAT(said.err, HasSubstr("commands look at mnist-1 already: end one of them first\n"));
  EXPECT_EQ(node.signal_of_end(), 0);
  EXPECT_THAT(sterna({"list"}).out, HasSubstr("mnist-1"));
}

TEST_F(DownCommand, DoesNotSayThatNothingIsLeftOfARunThatAnotherMachineKeeps) {
  RunState state = ended("mnist-1", 0);
  state.ended.clear();
  state.keeper.machine = "another";
  ASSERT_TRUE(RunStates::of_user()->write(state).ok());
  const Said said = sterna({"down", "mnist-1"});
  EXPECT_EQ(said.exit, 1);
  EXPECT_THAT(said.out, testing::Not(HasSubstr("nothing is left")));
  EXPECT_THAT(said.err, HasSubstr("mnist-1 is kept by a process of another"));
}

TEST_F(DownCommand, ElsewhereSaysFromWhereTheHostsWereAskedThatCouldNotBe) {
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", (folder.path() + ":" + path).c_str(), 1);
  write("ssh", "");
  std::filesystem::permissions(folder / "ssh", std::filesystem::perms::owner_all);
  const auto down = [&](const std::string& script, std::vector<const char*> more) {
    write("ssh", "#!/bin/sh\n" + script);
    more.insert(more.begin(), {"down", "mnist-1", "--via", "a"});
    return sterna(more);
  };
  const std::string not_asked =
      "mnist-1: nobody answered; not every host could be asked whether something is left\n";
  const std::string fails = "echo 'b: its host key is not known here' >&2\nexit 1\n";
  const Said said = down("echo '" + not_asked + "'\n" + fails, {});
  const Said json = down("echo '{\"errors\":[\"b: it did not answer\"]}'\n" + fails, {"--json"});
  const Said left = down("echo 'mnist-1: nobody answered; 1 processes are left'\nexit 1\n", {});
  const Said none = down("echo 'sterna: there is no sterna here' >&2\nexit 1\n", {});
  const Said done = down("exit 0\n", {});
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(said.exit, 1);
  EXPECT_THAT(said.out, StartsWith(not_asked));
  const std::string advice =
      "asked from a; where ssh reaches them from this machine: sterna down mnist-1\n";
  EXPECT_THAT(said.err, HasSubstr(advice));
  EXPECT_THAT(json.err, HasSubstr(advice));
  EXPECT_EQ(left.exit, 1);
  EXPECT_EQ(left.err, "");
  EXPECT_EQ(none.err, "");
  EXPECT_EQ(done.exit, 0);
  EXPECT_EQ(done.err, "");
}

TEST_F(DownCommand, ByItsFileEndsOnlyWhatIsNamedInFull) {
  const std::string file = write("job.toml", kLocalJob);
  const std::uint64_t run = 0x5eed000000000000 + static_cast<std::uint64_t>(::getpid());
  const std::string hex = fmt::format("{:016x}", run);
  FakeActor node("node-localhost", run);
  for (const char* word : {"5eed", "mnist"}) {
    const Said said = sterna({"down", word, "--file", file.c_str()});
    EXPECT_EQ(said.exit, 2) << said.out;
    EXPECT_THAT(said.err, HasSubstr(hex + " (" + node.id() + ", on localhost)"));
    EXPECT_EQ(node.signal_of_end(), 0) << word;
  }
  const Said said = sterna({"down", node.id().c_str(), "--file", file.c_str()});
  EXPECT_EQ(said.exit, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr(node.id() + ": nobody answered; 1 processes killed"));
  EXPECT_EQ(node.signal_of_end(), SIGKILL);
}

TEST_F(UpCommand, StartsNothingThatCouldNotBeFoundAgain) {
  const std::string file = write("job.toml", kLocalJob);
  const std::string run = folder / "run";
  ::setenv("XDG_STATE_HOME", "/proc", 1);
  const Said said = sterna({"up", file.c_str(), "--run-dir", run.c_str()});
  EXPECT_EQ(said.exit, 2);
  EXPECT_THAT(said.err, HasSubstr("/proc/sterna/runs"));
  EXPECT_EQ(std::ranges::count(said.err, '\n'), 1);
  EXPECT_FALSE(std::filesystem::exists(run));
}

TEST_F(UpCommand, WhatTheJobOfAQueueWouldRefuseIsRefusedAtOnce) {
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", (folder.path() + ":" + path).c_str(), 1);
  write("sbatch", "#!/bin/sh\necho 17\n");
  std::filesystem::permissions(folder / "sbatch", std::filesystem::perms::owner_all);
  const std::string file = write("job.toml", kLocalJob);
  const std::string run = folder / "run";
  std::filesystem::create_directory(run);
  write("run/metrics.jsonl", "{\"kind\":\"run\",\"run\":\"run\",\"time\":60.5}\n");
  write("run/result.json", "{\"exit\":0,\"steps\":10}");
  const auto up = [&](const std::string& directory, const char* every) {
    return sterna({"up", file.c_str(), "--run-dir", directory.c_str(), "--set",
                   "cluster.placer=slurm", "--set", every});
  };
  const Said finished = up(run, "checkpoint.every_steps=5");
  const Said taken = up(run, "checkpoint.every_steps=0");
  const Said unnamed = up(folder / "x.lock", "checkpoint.every_steps=5");
  const Said fresh = up(folder / "fresh/", "checkpoint.every_steps=5");
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(finished.exit, 2);
  EXPECT_THAT(finished.err, HasSubstr("there is a run that has ended, and no checkpoint"));
  EXPECT_EQ(taken.exit, 2);
  EXPECT_THAT(taken.err, HasSubstr("has a run already; give another --run-dir"));
  EXPECT_FALSE(std::filesystem::exists(run + ".sbatch"));
  EXPECT_EQ(unnamed.exit, 2);
  EXPECT_EQ(fresh.exit, 0) << fresh.err;
  EXPECT_THAT(fresh.err, StartsWith("fresh is submitted as Slurm's job 17"));
}

}  // namespace
}  // namespace sterna::launcher
