#include "launcher/past/run_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/as_nobody.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;

RunState state_named(const std::string& id, const std::string& name) {
  RunState state;
  state.id = id;
  state.name = name;
  state.run = 0xfedcba9876543210;
  state.schema_hash = 0xffffffffffffffff;
  state.began = id;
  state.network.tcp = true;
  state.coordinator.process = 1;
  state.coordinator.identity = {"coordinator", 1};
  state.coordinator.control_endpoint = "tcp://10.0.0.1:4000";
  state.operators = issue_operators();
  state.hosts = {{"a", "me@a", "~/work"}, {"b", "", ""}};
  return state;
}

class RunStatesTest : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::set<std::string> abandoned;  // ids
  RunStates states{folder.path() + "/state/sterna/runs",
                   [this](const RunState& state) { return abandoned.contains(state.id); }};
};

TEST_F(RunStatesTest, WhatIsWrittenIsReadAgain) {
  const RunState state = state_named("mnist-1", "mnist");
  ASSERT_TRUE(states.write(state).ok());
  const Result<RunState> found = states.find("mnist-1");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(state_text(*found), state_text(state));
}

TEST_F(RunStatesTest, ItsSecretsAreItsOwnersAlone) {
  ASSERT_TRUE(states.write(state_named("mnist-1", "mnist")).ok());
  struct stat status {};
  ASSERT_EQ(::stat((folder.path() + "/state/sterna/runs/mnist-1").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  ASSERT_EQ(::stat((folder.path() + "/state/sterna/runs").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  EXPECT_THAT(state_json_line(*states.find("")),
              testing::Not(HasSubstr(states.find("")->operators[0].credentials.secret_key)));
}

TEST_F(RunStatesTest, ARunIsFoundByItsIdItsNameOrTheirBeginning) {
  ASSERT_TRUE(states.write(state_named("mnist-1", "mnist")).ok());
  ASSERT_TRUE(states.write(state_named("mnist-2", "mnist")).ok());
  ASSERT_TRUE(states.write(state_named("other-1", "other")).ok());
  EXPECT_EQ(states.find("mnist-2")->id, "mnist-2");
  EXPECT_EQ(states.find("other")->id, "other-1");
  EXPECT_EQ(states.find("o")->id, "other-1");
  EXPECT_THAT(states.find("mnist").error().message, HasSubstr("say which run: mnist-1, mnist-2"));
  abandoned = {"mnist-1"};
  EXPECT_EQ(states.find("mnist")->id, "mnist-2") << "the only one that goes on";
  EXPECT_EQ(states.find("mnist-1")->id, "mnist-1");
  abandoned = {"mnist-1", "mnist-2"};
  EXPECT_THAT(states.find("mnist").error().message, HasSubstr("say which run: mnist-1, mnist-2"));
  ASSERT_TRUE(states.write(state_named("mnist-big-1", "mnist-big")).ok());
  EXPECT_THAT(states.find("mnist").error().message, HasSubstr("say which run: mnist-1, mnist-2"))
      << "and not the one that goes on, which only begins so";
  abandoned.clear();
  EXPECT_THAT(states.find("").error().message, HasSubstr("say which run"));
  EXPECT_EQ(states.find("none").error().code, Errc::not_found);
}

TEST_F(RunStatesTest, OfManyThatAreOverTheNewestAreNamedToWhoAsksForAnother) {
  for (const char* id : {"a-1", "a-2", "a-3", "a-4", "a-5"}) {
    RunState state = state_named(id, "a");
    state.ended = "precision@1 0.99";
    ASSERT_TRUE(states.write(state).ok());
  }
  ASSERT_TRUE(states.write(state_named("a-0", "a")).ok());
  EXPECT_EQ(states.find("l1").error().message,
            "no run is called \"l1\"; there are a-0, a-3, a-4, a-5 and 2 more (sterna list)");
  for (const char* id : {"a-0", "a-2", "a-3", "a-4", "a-5"}) states.remove(id);
  EXPECT_EQ(states.find("l1").error().message, "no run is called \"l1\"; there is only a-1");
}

TEST_F(RunStatesTest, ARunIsFoundByTheDirectoryThatItHasOnThisMachine) {
  RunState here = state_named("mnist-1", "mnist");
  here.run_directory = folder.path() + "/runs/mnist-1";
  RunState there = state_named("mnist-2", "mnist");
  there.run_directory = folder.path() + "/runs/mnist-2";
  there.head = "node1";
  for (const RunState& state : {here, there}) ASSERT_TRUE(states.write(state).ok());
  EXPECT_EQ(states.find(folder.path() + "/runs/mnist-1")->id, "mnist-1");
  EXPECT_EQ(states.find(folder.path() + "/runs/../runs/mnist-1/")->id, "mnist-1");
  const std::string elsewhere = folder.path() + "/runs/mnist-2";
  EXPECT_EQ(states.find(elsewhere).error().message, "there is no folder " + elsewhere);
  std::filesystem::create_directories(elsewhere);
  EXPECT_EQ(states.find(elsewhere).error().message, "no run goes on in " + elsewhere);
  std::filesystem::permissions(elsewhere, std::filesystem::perms::none);
  {
    const AsNobody nobody;
    const Error secret = states.find(elsewhere).error();
    EXPECT_EQ(secret.code, Errc::permission);
    EXPECT_EQ(secret.message, elsewhere + ": Permission denied");
  }
  std::filesystem::permissions(elsewhere, std::filesystem::perms::owner_all);
  const auto from_here = std::filesystem::relative(folder.path() + "/runs/mnist-1");
  EXPECT_EQ(states.find("./" + from_here.string())->id, "mnist-1");
}

TEST_F(RunStatesTest, TheOnlyOneThatGoesOnNeedsNoName) {
  RunState ended = state_named("mnist-1", "mnist");
  ended.ended = "precision@1 0.99";
  ASSERT_TRUE(states.write(ended).ok());
  ASSERT_TRUE(states.write(state_named("mnist-2", "mnist")).ok());
  EXPECT_EQ(states.find("")->id, "mnist-2");
  states.remove("mnist-2");
  EXPECT_EQ(states.find("")->id, "mnist-1");
}

TEST_F(RunStatesTest, OneThatNobodyKeepsIsInNobodysWay) {
  ASSERT_TRUE(states.write(state_named("mnist-1", "mnist")).ok());
  ASSERT_TRUE(states.write(state_named("mnist-2", "mnist")).ok());
  abandoned = {"mnist-1"};
  EXPECT_EQ(states.find("")->id, "mnist-2");
  EXPECT_EQ(states.find("mnist-1")->id, "mnist-1");
  abandoned = {"mnist-1", "mnist-2"};
  EXPECT_EQ(states.find("").error().message, "no run goes on; these are over: mnist-1, mnist-2");
  states.remove("mnist-2");
  EXPECT_EQ(states.find("")->id, "mnist-1");
}

TEST(RunState, IsAbandonedWhereItsKeeperIsGoneUnlessItHasEndedOrIsElsewhere) {
  RunState state = state_named("mnist-1", "mnist");
  EXPECT_FALSE(is_abandoned(state)) << "nobody said who keeps it";
  state.keeper = Keeper::this_process();
  EXPECT_FALSE(is_abandoned(state));
  state.keeper.started = "1";
  EXPECT_TRUE(is_abandoned(state)) << "its pid is another process's";
  state.keeper = Keeper::this_process();
  state.keeper.boot = "the one before";
  EXPECT_TRUE(is_abandoned(state));
  state.keeper.machine = "another";
  EXPECT_FALSE(is_abandoned(state));
  state.keeper = Keeper::this_process();
  state.keeper.pid = 0;
  EXPECT_TRUE(is_abandoned(state));
  state.ended = "precision@1 0.99";
  EXPECT_FALSE(is_abandoned(state));
}

TEST(RunState, IsAbandonedByAKeeperThatNobodyHasBuried) {
  RunState state = state_named("mnist-1", "mnist");
  const pid_t keeper = ::fork();
  if (keeper == 0) {
    ::pause();
    ::_exit(0);
  }
  state.keeper = Keeper::of(keeper);
  EXPECT_FALSE(is_abandoned(state));
  ::kill(keeper, SIGKILL);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(keeper), &ended, WEXITED | WNOWAIT);
  EXPECT_TRUE(is_abandoned(state));
  ::waitpid(keeper, nullptr, 0);
}

TEST(RunState, IsNotAbandonedWhileSomebodyStartsItsKeeperAgain) {
  RunState state = state_named("mnist-1", "mnist");
  state.keeper = Keeper::this_process();
  state.supervisor = Keeper::this_process();
  EXPECT_FALSE(comes_again(state)) << "it is kept";
  state.keeper.started = "1";
  EXPECT_TRUE(comes_again(state));
  EXPECT_FALSE(is_abandoned(state));
  state.supervisor.started = "1";
  EXPECT_FALSE(comes_again(state));
  EXPECT_TRUE(is_abandoned(state));
}

TEST_F(RunStatesTest, RunsWhoseDirectoriesAreCalledTheSameAreRememberedApart) {
  const auto begun = [&](const std::string& directory, std::uint64_t run) {
    RunState state = state_named("", "mnist");
    state.run_directory = directory;
    state.run = run;
    const Result<RunState> written = states.begin(state);
    EXPECT_TRUE(written.ok()) << written.error().message;
    return written ? written->id : "";
  };
  EXPECT_EQ(begun("/mine/runs/long", 1), "long");
  EXPECT_EQ(begun("/yours/runs/long", 0xabc), "long-0000000000000abc");
  EXPECT_EQ(states.all().size(), 2U);
  EXPECT_EQ(begun("/mine/runs/long", 2), "long") << "it goes on in its directory";
  EXPECT_EQ(begun("/yours/runs/long", 3), "long-0000000000000abc");
  EXPECT_EQ(states.all().size(), 2U);
  EXPECT_EQ(states.find("/yours/runs/long")->run, 3U);
  states.remove("long-0000000000000abc");
  EXPECT_EQ(states.find("long")->run, 2U);
  EXPECT_EQ(states.find("long-0000000000000002")->id, "long") << "as another machine may call it";
}

TEST_F(RunStatesTest, WhatIsNoPlainNameIsNoRuns) {
  const std::string outside = folder.path() + "/state/sterna/mine";
  ASSERT_TRUE(states.make_folder().ok());
  std::ofstream(outside) << "mine";
  for (const char* id : {"", ".", "..", "../mine", "a/b", "mnist.lock"}) {
    EXPECT_FALSE(is_run_id(id)) << id;
    EXPECT_FALSE(states.write(state_named(id, "mnist")).ok()) << id;
    EXPECT_EQ(parse_state(state_text(state_named(id, "mnist"))).error().code, Errc::malformed);
    states.remove(id);
  }
  EXPECT_TRUE(std::filesystem::exists(outside));
  EXPECT_TRUE(is_run_id("mnist-1.locked"));
  EXPECT_TRUE(states.all().empty());
}

TEST_F(RunStatesTest, AFileThatIsNoneIsPassedOver) {
  ASSERT_TRUE(states.write(state_named("mnist-1", "mnist")).ok());
  std::ofstream(folder.path() + "/state/sterna/runs/other") << "{\"format\":\"one\"}";
  std::ofstream(folder.path() + "/state/sterna/runs/broken") << "{\"format\":1,\"id\":7}";
  std::ofstream(folder.path() + "/state/sterna/runs/empty");
  std::ofstream(folder.path() + "/state/sterna/runs/copy") << state_text(state_named("x", "x"));
  EXPECT_EQ(states.all().size(), 1U);
}

}  // namespace
}  // namespace sterna::launcher
