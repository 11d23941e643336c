// Nodes on other hosts, which are shells of this one here.
#include "runtime/remote/remote_placer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/runtime/remote/local_spawner.h"
#include "tests/temporary_folder.h"

namespace sterna {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using testing::HasSubstr;

class Placing : public testing::Test {
 protected:
  Placing() {
    std::signal(SIGPIPE, SIG_IGN);  // as RealMachine does: a node may end before it was told
    node.kind = ProcessKind::NODE;
    node.identity = {"node-b", 1};
    node.host = "b";
    options.hosts["b"] = {{}, false, (folder / "work").string()};
    options.bundle = {"HASH", "prog", (folder / "archive.tar.gz").string()};
    options.patience = seconds(20);
    // The host has the bundle already.
    const fs::path bin = folder / "work/bundles/HASH/bin";
    fs::create_directories(bin);
    std::ofstream(bin / "prog") << "#!/bin/sh\necho \"$*\" > " << (folder / "called").string()
                                << "\necho 'STERNA ending: enough'\nexit 3\n";
    fs::permissions(bin / "prog", fs::perms::owner_all);
  }
  Result<void> prepare() {
    placer.emplace(loop, local, options);
    return placer->prepare([] { return false; });
  }
  Result<std::int64_t> spawn() {
    Spawner::Callbacks callbacks;
    callbacks.on_exit = [this](const ProcessExit& how) { exit = how; };
    return placer->spawn(node, std::move(callbacks));
  }

  TemporaryFolder folder;
  UvLoop loop;
  LocalSpawner local;
  RemotePlacerOptions options;
  Bootstrap node;
  std::optional<ProcessExit> exit;
  std::optional<RemotePlacer> placer;
};

TEST_F(Placing, ANodeStartsOnItsHostAndItsEndIsToldInItsWords) {
  const Result<void> prepared = prepare();
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  const Result<std::int64_t> id = spawn();
  ASSERT_TRUE(id.ok()) << id.error().message;
  EXPECT_EQ(placer->resident_bytes(*id), 0U);
  ASSERT_TRUE(loop.run_until([this] { return exit.has_value(); }, loop.now() + seconds(20)));
  EXPECT_EQ(exit->text(), "the node agent of b ended: enough");
  std::ifstream called(folder / "called");
  std::string arguments;
  std::getline(called, arguments);
  EXPECT_EQ(arguments, "__process node-b 0000000000000000 0");
  // Whoever is started there once more has a connection of its own.
  exit.reset();
  const Result<std::int64_t> next = spawn();
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_NE(*next, *id);
  ASSERT_TRUE(loop.run_until([this] { return exit.has_value(); }, loop.now() + seconds(20)));
  EXPECT_EQ(exit->text(), "the node agent of b ended: enough");
}

TEST_F(Placing, OfAHostThatComesLaterNothingIsAskedBefore) {
  options.hosts.at("b").later = true;
  options.hosts["c"] = {{"/bin/sh", "-c", "echo no such host >&2; exit 255", "sh"}, false, "/tmp"};
  options.hosts.at("c").later = true;
  ASSERT_TRUE(prepare().ok());
  EXPECT_TRUE(spawn().ok());  // on b
  ASSERT_TRUE(loop.run_until([this] { return exit.has_value(); }, loop.now() + seconds(20)));
  EXPECT_EQ(exit->text(), "the node agent of b ended: enough");
}

TEST_F(Placing, WhatBelongsHereIsStartedHere) {
  options.hosts.clear();
  ASSERT_TRUE(prepare().ok());
  EXPECT_EQ(*spawn(), 100);
  EXPECT_EQ(local.started.size(), 1U);
  placer->kill(100);
  EXPECT_EQ(local.killed.size(), 1U);
  EXPECT_EQ(placer->resident_bytes(100), 4096U);
}

TEST_F(Placing, OneHostThatCannotIsTheErrorOfAll) {
  options.hosts["c"] = {{"/bin/sh", "-c", "echo no such host >&2; exit 255", "sh"}, false, "/tmp"};
  const Result<void> prepared = prepare();
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.error().message, "c: no such host");
}

TEST_F(Placing, WhoGoesOnWithoutSomeHostsLearnsOfAllThatCannotOnceTheOthersHaveTheBundle) {
  options.hosts["c"] = {{"/bin/sh", "-c", "echo no such host >&2; exit 255", "sh"}, false, "/tmp"};
  options.hosts["d"] = {{"no-such-command-here"}, false, "/tmp"};
  placer.emplace(loop, local, options);
  const auto failed = placer->prepare_each([] { return false; });
  EXPECT_THAT(failed, testing::ElementsAre(
                          testing::Pair("c", "c: no such host"),
                          testing::Pair("d", HasSubstr("d: cannot start no-such-command-here"))));
  EXPECT_TRUE(spawn().ok());  // on b
  EXPECT_TRUE(loop.run_until([this] { return exit.has_value(); }, loop.now() + seconds(20)));
}

TEST_F(Placing, AnInterruptEndsTheWaitForEach) {
  options.hosts = {{"c", {{"/bin/sh", "-c", "cat", "sh"}, false, "/tmp"}}};
  placer.emplace(loop, local, options);
  EXPECT_TRUE(placer->prepare_each([] { return true; }).empty());
}

TEST_F(Placing, ACommandThatDoesNotExistIsTheErrorOfItsHost) {
  options.hosts = {{"c", {{"no-such-command-here"}, false, "/tmp"}}};
  const Result<void> prepared = prepare();
  ASSERT_FALSE(prepared.ok());
  EXPECT_THAT(prepared.error().message, HasSubstr("c: cannot start no-such-command-here"));
}

TEST_F(Placing, AnInterruptEndsTheWait) {
  options.hosts = {{"c", {{"/bin/sh", "-c", "cat", "sh"}, false, "/tmp"}}};
  placer.emplace(loop, local, options);
  EXPECT_EQ(placer->prepare([] { return true; }).error().code, Errc::cancelled);
}

TEST(SshCommand, AsksNothingAndGivesUpBeforeWeDo) {
  const std::vector<std::string> command = ssh_command("me@b", seconds(30));
  EXPECT_EQ(command.front(), "ssh");
  EXPECT_EQ(command.back(), "me@b");
  EXPECT_EQ(command[command.size() - 2], "--");  // whatever the name begins with
  EXPECT_THAT(command, testing::Contains("BatchMode=yes"));
  EXPECT_THAT(command, testing::Contains("ConnectTimeout=20"));
  EXPECT_THAT(ssh_command("b", Duration(1)), testing::Contains("ConnectTimeout=1"));
}

}  // namespace
}  // namespace sterna
