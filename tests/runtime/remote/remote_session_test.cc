// The conversation with a host, with this host's own shell at the other end instead of ssh's.
#include "runtime/remote/remote_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "runtime/remote/bundle.h"
#include "runtime/remote/remote_script.h"
#include "tests/temporary_folder.h"

namespace sterna::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

/// A program that says which bundle it is and what it was told.
constexpr const char* kProgram =
    "#!/bin/sh\n"
    "[ \"$1\" = __bundle-hash ] && echo HASH && exit 0\n"
    "read line; echo \"ran $1 $2 $line\"\n";

class RemoteSessionTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder / "bundle/bin");
    std::ofstream(folder / "bundle/bin/prog") << kProgram;
    fs::permissions(folder / "bundle/bin/prog", fs::perms::owner_all);
    const std::string pack =
        "tar -C " + (folder / "bundle").string() + " -czf " + archive().string() + " .";
    ASSERT_EQ(std::system(pack.c_str()), 0);
    options.host = "b";
    options.through_shell = false;
    options.work = (folder / "work").string();
    options.bundle = {"HASH", "prog", archive().string()};
    options.patience = seconds(20);
  }
  void TearDown() override { session.reset(); }
  fs::path archive() const { return folder / "archive.tar.gz"; }
  fs::path part() const { return folder / "work/bundles/HASH.part"; }

  /// Opens the session and waits until the bundle is there or the session has ended.
  void open() {
    RemoteSession::Events events;
    events.ready = [this](const RemoteFacts& what) { facts = what; };
    events.shipping = [this](std::uint64_t done, std::uint64_t total) {
      if (!first_shipped) first_shipped = done;
      shipped = done;
      size = total;
    };
    events.line = [this](std::string_view line) { lines.emplace_back(line); };
    events.ended = [this](const ProcessExit& exit) { end = exit; };
    auto opened = RemoteSession::open(loop, options, std::move(events));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    session = std::move(opened).value();
    loop.run_until([this] { return facts || end; }, loop.now() + seconds(30));
  }
  void wait_for_end() {
    loop.run_until([this] { return end.has_value(); }, loop.now() + seconds(30));
    ASSERT_TRUE(end.has_value());
  }
  void expect_run() {
    ASSERT_TRUE(facts.has_value()) << (end ? end->words : "");
    session->run({"one", "two"});
    const std::string_view input = "three\n";
    const auto buffer = std::make_shared<Buffer>(input.size());
    input.copy(reinterpret_cast<char*>(buffer->data()), input.size());
    session->write({buffer, buffer->bytes()});
    wait_for_end();
    EXPECT_THAT(lines, testing::ElementsAre("ran one two three"));
  }

  TemporaryFolder temporary;
  fs::path folder = temporary.path();
  UvLoop loop;
  RemoteSession::Options options;
  std::unique_ptr<RemoteSession> session;
  std::optional<RemoteFacts> facts;
  std::optional<ProcessExit> end;
  std::optional<std::uint64_t> first_shipped;
  std::uint64_t shipped = 0;
  std::uint64_t size = 0;
  std::vector<std::string> lines;
};

TEST_F(RemoteSessionTest, AHostWithoutTheBundleGetsItAndRunsIt) {
  open();
  EXPECT_EQ(shipped, fs::file_size(archive()));
  EXPECT_EQ(size, shipped);
  expect_run();
  EXPECT_FALSE(fs::exists(part()));
}

TEST_F(RemoteSessionTest, AHostThatHasItIsUsedAsItIs) {
  open();
  session->kill();
  wait_for_end();
  facts.reset();
  end.reset();
  shipped = 0;
  open();
  EXPECT_TRUE(facts.has_value() && facts->has_bundle);
  EXPECT_EQ(shipped, 0U);
  expect_run();
}

TEST_F(RemoteSessionTest, WhatWasShippedBeforeIsNotShippedAgain) {
  fs::create_directories(part().parent_path());
  std::ifstream whole(archive(), std::ios::binary);
  std::string beginning(fs::file_size(archive()) - 10, '\0');
  whole.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  std::ofstream(part(), std::ios::binary) << beginning;
  open();
  EXPECT_EQ(facts->part_bytes, beginning.size());
  EXPECT_EQ(shipped, fs::file_size(archive()));
  expect_run();
}

TEST_F(RemoteSessionTest, ADamagedBeginningIsFoundOutAndThrownAway) {
  fs::create_directories(part().parent_path());
  std::ofstream(part(), std::ios::binary) << "damaged";
  open();
  wait_for_end();
  EXPECT_THAT(end->words, HasSubstr("b: the bundle arrived damaged"));
  EXPECT_FALSE(fs::exists(part()));
  end.reset();
  open();
  expect_run();
}

TEST_F(RemoteSessionTest, WhatTheLoaderSaysOfAProgramThatDoesNotRunThereIsTold) {
  const std::string words = "prog: error while loading shared libraries: libx.so.1: no such file";
  std::ofstream(folder / "bundle/bin/prog") << "#!/bin/sh\necho '" << words << "' >&2\nexit 127\n";
  const std::string pack =
      "tar -C " + (folder / "bundle").string() + " -czf " + archive().string() + " .";
  ASSERT_EQ(std::system(pack.c_str()), 0);
  open();
  wait_for_end();
  EXPECT_EQ(end->words, "b: the bundle arrived damaged or does not run here: " + words);
  for (const auto& entry : fs::directory_iterator(folder / "work/bundles")) {
    EXPECT_EQ(entry.path().extension(), ".lock") << entry.path();
  }
}

TEST_F(RemoteSessionTest, ANewBundleMakesTheOldestGoButNotOneThatRuns) {
  const fs::path bundles = folder / "work/bundles";
  const auto now = fs::file_time_type::clock::now();
  for (int age = 1; age <= kBundlesKept + 2; ++age) {
    const fs::path bundle = bundles / ("old" + std::to_string(age));
    fs::create_directories(bundle / "bin");
    fs::last_write_time(bundle, now - std::chrono::hours(age));
  }
  const std::string oldest = "old" + std::to_string(kBundlesKept + 2);
  const std::string sleeper = (bundles / oldest / "bin/sleep").string();
  fs::copy_file(fs::canonical("/bin/sleep"), sleeper);
  fs::last_write_time(bundles / oldest, now - std::chrono::hours(kBundlesKept + 2));
  pid_t pid = 0;
  char* argv[] = {const_cast<char*>(sleeper.c_str()), const_cast<char*>("60"), nullptr};
  ASSERT_EQ(::posix_spawn(&pid, sleeper.c_str(), nullptr, nullptr, argv, environ), 0);
  open();
  expect_run();
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(bundles)) left.insert(entry.path().filename());
  std::set<std::string> expected = {"HASH", oldest};
  for (int age = 1; age < kBundlesKept; ++age) expected.insert("old" + std::to_string(age));
  EXPECT_EQ(left, expected);
}

TEST_F(RemoteSessionTest, AProgramThatSaysAnotherHashIsNotRun) {
  options.bundle.hash = "OTHER";
  open();
  wait_for_end();
  EXPECT_FALSE(facts.has_value());
  EXPECT_THAT(end->words, HasSubstr("damaged or does not run here"));
}

TEST_F(RemoteSessionTest, ALoginShellThatPrintsIsHeardOut) {
  options.command = {"/bin/sh", "-c", "echo Welcome to b; printf 'no line end'; exec \"$@\"", "sh"};
  open();
  expect_run();
}

TEST_F(RemoteSessionTest, ALoginShellThatOnlyPrintsIsNamed) {
  options.command = {"/bin/sh", "-c", "echo This account is closed", "sh"};
  open();
  wait_for_end();
  EXPECT_THAT(end->words, AllOf(HasSubstr("b: its login shell says"), HasSubstr("closed")));
}

TEST_F(RemoteSessionTest, SilenceIsGivenUp) {
  options.command = {"/bin/sh", "-c", "cat", "sh"};
  options.patience = std::chrono::milliseconds(100);
  open();
  wait_for_end();
  EXPECT_THAT(end->words, HasSubstr("b did not answer within 0.1 s"));
}

TEST_F(RemoteSessionTest, AFolderThatCannotBeWrittenIsNamed) {
  std::ofstream(folder / "file") << "in the way";
  options.work = (folder / "file").string();
  open();
  wait_for_end();
  EXPECT_THAT(end->words, AllOf(HasSubstr("b: cannot write"), HasSubstr(options.work)));
}

TEST_F(RemoteSessionTest, AWorkFolderThatAShellWouldMisreadIsRefused) {
  options.work = "/tmp/$(id)";
  const auto opened = RemoteSession::open(loop, options, {});
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Errc::invalid_argument);
}

TEST(ExplainConnection, SaysWhatSshMeansAndWhatToDo) {
  const std::vector<std::string> ssh = {"ssh", "--", "node2"};
  const ProcessExit exit{255};
  const auto explained = [&](std::string_view errors) {
    return explain_connection("b", ssh, errors, exit);
  };
  EXPECT_THAT(explained("Host key verification failed.\n"),
              AllOf(HasSubstr("not known"), HasSubstr("ssh node2")));
  EXPECT_THAT(explained("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key "
                        "verification failed.\n"),
              AllOf(HasSubstr("has changed"), HasSubstr("ssh-keygen -R node2")));
  EXPECT_THAT(explained("me@node2: Permission denied (publickey).\n"), HasSubstr("ssh-copy-id"));
  EXPECT_THAT(explained("hello\r\nme@jump: Permission denied (password).\r\nConnection closed by "
                        "UNKNOWN port 65535\r\n"),
              HasSubstr("refuses the key (me@jump: Permission denied (password).)"));
  EXPECT_THAT(explained("ssh: Could not resolve hostname node2: Name or service not known\n"),
              HasSubstr("nobody knows the name node2"));
  EXPECT_THAT(explained("ssh: connect to host node2 port 22: Connection refused\n"),
              HasSubstr("does not get there"));
  EXPECT_EQ(explained("cannot start ssh: no such file or directory"),
            "b: cannot start ssh: no such file or directory; install ssh on this machine "
            "(openssh-client), or put it on PATH");
  EXPECT_THAT(explained(""), HasSubstr("b: ssh exited with code 255"));
}

}  // namespace
}  // namespace sterna::test
