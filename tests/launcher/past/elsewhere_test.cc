// Asking "elsewhere" without ssh: an empty destination is this machine's shell.
#include "launcher/past/elsewhere.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

RunState run_with_head(const std::string& head) {
  RunState state;
  state.head = head;
  state.hosts = {{"a", "", ""}, {"b", "me@b", "/scratch/me"}};
  return state;
}

TEST(HeadElsewhere, IsTheHostThatSshReaches) {
  const auto head = head_elsewhere(run_with_head("b"));
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->ssh, "me@b");
  EXPECT_EQ(head->work, "/scratch/me");
}

TEST(HeadElsewhere, IsNoneWhereTheHeadIsThisMachine) {
  EXPECT_FALSE(head_elsewhere(run_with_head("a")).has_value());
  EXPECT_FALSE(head_elsewhere(run_with_head("")).has_value());
}

class AskVia : public testing::Test {
 protected:
  AskVia() { ::setenv("HOME", folder_.path().c_str(), 1); }
  /// A program that says `words` and what it was given.
  void install(const std::string& bundle, const std::string& words) const {
    const fs::path bin = folder_ / ("work/bundles/" + bundle + "/bin");
    fs::create_directories(bin);
    std::ofstream(bin / "sterna") << "#!/bin/sh\necho " << words << " $#: \"$@\"\n";
    fs::permissions(bin / "sterna", fs::perms::owner_all);
  }
  Result<std::string> ask(const std::vector<std::string>& arguments) {
    return ask_via(machine_, {.ssh = "", .work = "~/work"}, arguments, 10s);
  }
  TemporaryFolder folder_;
  RealMachine machine_{[](std::string_view) {}};
};

TEST_F(AskVia, GivesTheArgumentsToTheSternaThere) {
  install("one", "it got");
  const Result<std::string> answer = ask({"status", "mnist-1", "--json"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(*answer, "it got 3: status mnist-1 --json\n");
}

TEST_F(AskVia, AsksTheNewestOfSeveral) {
  install("old", "old");
  install("new", "new");
  fs::last_write_time(folder_ / "work/bundles/old/bin/sterna",
                      fs::file_time_type::clock::now() - 1h);
  EXPECT_EQ(ask({"version"}).value(), "new 1: version\n");
}

TEST_F(AskVia, HearsNothingOfWhatALoginShellPrintsBefore) {
  install("one", "it got");
  std::ofstream(folder_ / "ssh") << "#!/bin/sh\nprintf 'Welcome {\\nhost$ '\nexec /bin/sh -s\n";
  fs::permissions(folder_ / "ssh", fs::perms::owner_all);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", (folder_.path() + ":" + path).c_str(), 1);
  const Result<std::string> answer =
      ask_via(machine_, {.ssh = "a", .work = "~/work"}, {"status"}, 10s);
  install("one", ">/dev/null");
  const Result<std::string> nothing =
      ask_via(machine_, {.ssh = "a", .work = "~/work"}, {"status"}, 10s);
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(*answer, "it got 1: status\n");
  EXPECT_FALSE(nothing.ok());
}

TEST_F(AskVia, SendsNoWordThatAShellWouldRead) {
  for (const char* word : {"a;b", "$(id)", "a b", "`id`", "x'y"}) {
    const Result<std::string> answer = ask({"status", word});
    ASSERT_FALSE(answer.ok()) << word;
    EXPECT_EQ(answer.error().code, Errc::invalid_argument) << word;
  }
}

TEST_F(AskVia, CtrlCIsHeardAgainOnceSshHasEnded) {
  // Says how it was started: whether it would end by Ctrl-C.
  std::ofstream(folder_ / "ssh")
      << "#!/bin/sh\n"
         "ignored=$(sed -n 's/^SigIgn:.*\\(.\\)$/\\1/p' /proc/self/status)\n"
         "case $ignored in 0 | 1 | 4 | 5 | 8 | 9 | c | d) exit 3 ;; esac\n"
         "exit 4\n";
  fs::permissions(folder_ / "ssh", fs::perms::owner_all);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", (folder_.path() + ":" + path).c_str(), 1);
  const auto before = std::signal(SIGINT, SIG_DFL);
  const Result<int> exit = exit_via({.ssh = "a"}, {"status"});
  const auto after = std::signal(SIGINT, before);
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(exit.value(), 3) << "ssh hears it";
  EXPECT_EQ(after, SIG_DFL);
}

TEST_F(AskVia, IsAnErrorWhereThereIsNoSterna) {
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", "/usr/bin:/bin", 1);
  const Result<std::string> answer = ask({"status"});
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Errc::unavailable);
  EXPECT_NE(answer.error().message.find("there is no sterna here"), std::string::npos)
      << answer.error().message;
}

}  // namespace
}  // namespace sterna::launcher
