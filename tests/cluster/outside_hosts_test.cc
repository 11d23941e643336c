// A program of somebody else, built against what was installed while our own trees were hidden, and
// run on four hosts by our launcher.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/cluster/cluster_runs.h"

namespace sterna::test {
namespace {

using std::chrono::minutes;
using testing::HasSubstr;

constexpr int kGreeters = 4;

/// Installs Sterna and builds tests/outside under `into`.
void build_outside(const std::string& into) {
  const std::string source = std::getenv("STERNA_SOURCE");
  const std::string build = std::filesystem::path(std::getenv("STERNA_BINARY")).parent_path();
  Program script(into,
                 {"/bin/bash", source + "/tests/outside/build_outside.sh", source, build, into},
                 own_environment());
  ASSERT_EQ(script.exit_code(minutes(4)), 0) << script.out() << script.err();
}

std::string greeters(const std::string& program) {
  return fmt::format(R"(
[program]
path = "{}"
[[actor]]
type = "greeter"
name = "greeter"
count = {}
hosts = ["a", "b", "c", "d"]
args = {{greeting = "hello from outside", count = {}}}
)",
                     program, kGreeters, kGreeters);
}

/// The logs of all greeters, which lie on the head.
std::string logs_of(const ClusterHosts& hosts, const std::string& head, const std::string& folder) {
  const std::string script = "cat " + folder + "/logs/greeter*.log";
  if (!head.empty()) return hosts.exec(head, {"/bin/sh", "-c", script}).out;
  std::string logs;
  for (int index = 0; index < kGreeters; ++index) {
    logs += content_of(fmt::format("{}/logs/greeter{}.log", folder, index));
  }
  return logs;
}

TEST(OutsideProgram, RunsOnFourHosts) {
  const ClusterRuns runs(4);
  STERNA_NEEDS_HOSTS(runs.hosts());
  const TemporaryFolder into;
  ASSERT_NO_FATAL_FAILURE(build_outside(into.path()));
  const std::string actors = greeters(into.path() + "/build/greeters");
  for (const std::string head : {"", "c"}) {
    const std::string name = head.empty() ? "from_here" : "from_c";
    const std::string file = runs.file({name, {"a", "b", "c", "d"}, head}, actors);
    const std::string folder = head.empty() ? into.path() + "/run" : "/var/tmp/run";
    const auto run = runs.sterna({"run", file, "--run-dir", folder});
    ASSERT_EQ(run->exit_code(minutes(2)), 0) << run->story();
    const std::string place = head.empty() ? folder : head + ":" + folder;
    EXPECT_THAT(run->out(), HasSubstr("all 4 actors have stopped; everything is in " + place));
    const std::string logs = logs_of(runs.hosts(), head, folder);
    int answers = 0;
    for (const std::string& line : lines_of(logs)) {
      answers += line.ends_with("answered: hello from outside");
    }
    EXPECT_EQ(answers, kGreeters * kGreeters) << logs;
  }
}

}  // namespace
}  // namespace sterna::test
