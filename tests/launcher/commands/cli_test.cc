// The program as a user meets it: the real binary, its output and its exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Outcome {
  int exit = -1;
  std::string out;
  std::string err;
};

class CliTest : public testing::Test {
 protected:
  /// Runs `sterna ARGUMENTS` in a shell, in the test's folder.
  Outcome sterna(const std::string& arguments) {
    const char* binary = std::getenv("STERNA_BINARY");
    if (!binary) {
      ADD_FAILURE() << "STERNA_BINARY is not set";
      return {};
    }
    const std::string errors = folder_.path() + "/stderr";
    const std::string command = "cd " + folder_.path() + " && " + binary + " " + arguments +
                                " 2> " + errors + " < /dev/null";
    std::FILE* pipe = popen(command.c_str(), "r");
    Outcome outcome;
    std::array<char, 4096> chunk;
    while (const std::size_t got = fread(chunk.data(), 1, chunk.size(), pipe)) {
      outcome.out.append(chunk.data(), got);
    }
    const int status = pclose(pipe);
    outcome.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    std::ifstream file(errors);
    outcome.err.assign(std::istreambuf_iterator<char>(file), {});
    return outcome;
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() + "/" + name) << text;
  }
  void expect_one_line(const std::string& arguments, int exit, const std::string& line) {
    const Outcome outcome = sterna(arguments);
    EXPECT_EQ(outcome.exit, exit) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(outcome.err, line + "\n") << arguments;
  }

  TemporaryFolder folder_;
};

TEST_F(CliTest, HelpIsAsNarrowAsTheTerminal) {
  setenv("COLUMNS", "60", 1);
  for (const char* asked : {"--help", "run --help", "help run", "help keys", "help metrics"}) {
    std::istringstream lines(sterna(asked).out);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(line.size() <= 60 || line.starts_with("  sterna ")) << asked << ": " << line;
    }
  }
  unsetenv("COLUMNS");
}

TEST_F(CliTest, HelpShowsExamplesAndCommands) {
  const Outcome outcome = sterna("--help");
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_EQ(outcome.err, "");
  for (const char* part : {"Examples:", "run", "check", "data", "bench", "test", "Exit codes"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
  EXPECT_THAT(sterna("run --help").out, HasSubstr("--run-dir DIR"));
  EXPECT_EQ(sterna("help data make").out, sterna("data make --help").out);
}

TEST_F(CliTest, VersionNamesTheBuildAndTheLibraries) {
  const Outcome outcome = sterna("--version");
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_THAT(outcome.out, StartsWith("sterna 0."));
  for (const char* part : {"\nbuild ", "\nlibzmq 4", "\ncapnproto ", "\nlibuv ", "\noneDNN "}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
  EXPECT_EQ(outcome.out.find("unknown"), std::string::npos);
}

TEST_F(CliTest, UnknownWordsAreOneLineWithTheNearest) {
  expect_one_line("rnu x.toml", 2, "sterna: unknown command \"rnu\"; did you mean \"run\"?");
  expect_one_line("train x.toml", 2, "sterna: unknown command \"train\"; did you mean \"run\"?");
  expect_one_line("evaluate", 2, "sterna: unknown command \"evaluate\"; did you mean \"eval\"?");
  expect_one_line("x.toml", 2, "sterna: unknown command \"x.toml\"; did you mean \"run x.toml\"?");
  expect_one_line("run x.toml --jsn", 2,
                  "sterna run: unknown option \"--jsn\"; did you mean \"--json\"?");
  expect_one_line("run a.toml b.toml", 2,
                  "sterna run: unexpected argument \"b.toml\"; see sterna run --help");
  expect_one_line("data mke digits", 2,
                  "sterna data: unknown command \"mke\"; did you mean \"make\"?");
  expect_one_line("help rnu", 2, "sterna: unknown command \"rnu\"; did you mean \"run\"?");
}

TEST_F(CliTest, WhatIsMissingOrWrongIsOneLine) {
  expect_one_line("run", 2, "sterna run: FILE is required; see sterna run --help");
  expect_one_line(
      "data", 2,
      "sterna data: say which: make, fetch, split, build, convert, show; see sterna data --help");
  EXPECT_THAT(sterna("data make digits --out x --train 0").err, HasSubstr("--train"));
  EXPECT_EQ(sterna("data make digits --out x --train 0").exit, 2);
  EXPECT_EQ(sterna("").exit, 2);
}

TEST_F(CliTest, WhatIsEmptyIsNeitherAValueNorTheDefault) {
  for (const std::string arguments :
       {"down \"$NOT_SET\"", "data show \"\"", "check job.toml --set \"\""}) {
    const Outcome outcome = sterna(arguments);
    EXPECT_EQ(outcome.exit, 2) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr("it is empty")) << arguments;
  }
}

TEST_F(CliTest, AMissingFileIsOneLine) {
  expect_one_line("run nope.toml", 2, "nope.toml: there is no such file");
  expect_one_line("check nope.toml", 2, "nope.toml: there is no such file");
}

TEST_F(CliTest, ASyntaxErrorIsOneLineWithItsPlace) {
  write("x.toml", "format = 1\n[job\n");
  const Outcome outcome = sterna("run x.toml");
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_THAT(outcome.err, StartsWith("x.toml:2: not valid TOML: "));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
}

TEST_F(CliTest, CheckReadsOverridesAndSaysWhatTheFileDescribes) {
  const std::string file = std::string(std::getenv("STERNA_SOURCE")) + "/configs/smallest.toml";
  const Outcome outcome = sterna("check " + file + " --set actor.worker.count=3 --set job.steps=9");
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("3 workers with 3 ranks"));
  EXPECT_THAT(outcome.out, HasSubstr("9 steps of lenet"));
  EXPECT_THAT(outcome.out, HasSubstr("worker2 (rank 2)"));
  const Outcome json = sterna("check " + file + " --json");
  EXPECT_THAT(json.out, StartsWith("{\"format\":1,"));
  EXPECT_EQ(std::count(json.out.begin(), json.out.end(), '\n'), 1);
  expect_one_line("check " + file + " --set job.stps=9", 2,
                  "--set job.stps=9: unknown key \"job.stps\"; did you mean \"job.steps\"?");
}

TEST_F(CliTest, DigitsAreDrawnIntoAFolderButNotOverFilesOfOthers) {
  const Outcome outcome = sterna("data make digits --out d --train 50 --test 10");
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, HasSubstr("50 digits to train on and 10 to test on"));
  write("not_a_folder", "x");
  const Outcome refused = sterna("data make digits --out not_a_folder");
  EXPECT_NE(refused.exit, 0);
  EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
}

TEST_F(CliTest, ADataSetIsSplitIntoShardsThatCanBeUsed) {
  ASSERT_EQ(sterna("data make digits --out d --train 50 --test 10").exit, 0);
  const Outcome outcome = sterna("data split d --shards 3 --into parts");
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("parts: 3 shards of d; "));
  EXPECT_EQ(sterna("data split d --into parts").exit, 2);
  expect_one_line(
      "data split parts/shard-1-of-3 --shards 2 --into x", 2,
      "parts/shard-1-of-3 holds shard 1 of 3, but the whole training set is wanted; put "
      "that there, or name another folder (host.data, data.dir or --data)");
}

TEST_F(CliTest, AMirrorThatCannotBeReachedIsOneLine) {
  // Port 1 of this machine: nothing listens there.
  const Outcome outcome = sterna("data fetch mnist --dir d --mirror http://127.0.0.1:1/");
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("127.0.0.1:1"));
}

TEST_F(CliTest, LogsAreReadFromTheDirectoryOfARunThatNobodyRemembers) {
  std::filesystem::create_directories(folder_.path() + "/runs/one/logs");
  write("runs/one/logs/worker0.log", "2026-11-21T07:01:55.000Z it is done\n");
  write("runs/one/logs/server0.log", "2026-11-21T07:01:54.000Z so is it\n");
  EXPECT_EQ(sterna("logs runs/one").out,
            "server0      2026-11-21T07:01:54.000Z so is it\n"
            "worker0      2026-11-21T07:01:55.000Z it is done\n");
  EXPECT_EQ(sterna("logs runs/one worker0").out, "2026-11-21T07:01:55.000Z it is done\n");
  expect_one_line("status runs/one", 2, "no run goes on in runs/one");
  expect_one_line("status runs/two", 2, "there is no folder runs/two");
  write("runs/one/result.json",
        "{\"exit\":75,\"steps\":102,\"cause\":\"told to end\",\"resume\":\"sterna run x\"}\n");
  expect_one_line("status runs/one", 75,
                  "runs/one has ended at step 102: told to end\nit goes on from its newest "
                  "checkpoint with\nsterna run x");
  std::filesystem::rename(folder_.path() + "/runs/one", folder_.path() + "/one");
  EXPECT_EQ(sterna("status one").exit, 75);
}

TEST_F(CliTest, WhatCannotBePrintedIsNotDone) {
  for (const std::string arguments : {"help keys", "--version", "--help", "list --help"}) {
    expect_one_line(arguments + " >&-", 1, "cannot write to standard output: it is closed");
    expect_one_line(arguments + " > /dev/full", 1,
                    "cannot write to standard output: No space left on device");
  }
}

TEST_F(CliTest, HelpKeysListsEveryKey) {
  EXPECT_THAT(sterna("help keys").out, HasSubstr("gradient.codec"));
  EXPECT_THAT(sterna("help keys --markdown").out, HasSubstr("| `gradient.codec` | text |"));
  EXPECT_THAT(sterna("help keys job").out,
              AllOf(HasSubstr("job.steps"), Not(HasSubstr("gradient.codec"))));
  EXPECT_EQ(sterna("help keys jobs").exit, 2);
}

}  // namespace
}  // namespace sterna::launcher
