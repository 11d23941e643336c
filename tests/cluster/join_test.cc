// Node agents that somebody else starts: two hosts join by hand a run whose head is the launching
// machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/cluster/cluster_job.h"

namespace sterna::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class Join : public testing::Test {
 protected:
  void SetUp() override {
    hosts_.emplace(2);
    STERNA_NEEDS_HOSTS(*hosts_);
    for (const std::string& host : hosts_->names()) {
      bring_program(*hosts_, host);
      bring_digits(*hosts_, host);
    }
  }

  /// Starts the run and brings each host its file.
  void start(int steps) {
    std::string cluster = "placer = \"join\"\n[[host]]\nname = \"head\"\ncpus = 2\naddress = \"" +
                          hosts_->launcher_address() + "\"\ndata = \"" + hosts_->launcher_folder() +
                          "/digits\"\n";
    for (const std::string& host : hosts_->names()) {
      cluster += "[[host]]\nname = \"" + host + "\"\ncpus = 3\naddress = \"" +
                 hosts_->address(host) + "\"\n";
    }
    std::ofstream(path("job.toml")) << job_by_resources(steps, cluster);
    run_ = std::make_unique<Program>(
        hosts_->launcher_folder(),
        std::vector<std::string>{std::getenv("STERNA_BINARY"), "run", path("job.toml"), "--run-dir",
                                 path("run")},
        with_variables(own_environment(), hosts_->launcher_environment()));
    for (const std::string& host : hosts_->names()) {
      ASSERT_TRUE(eventually(seconds(30), [&] { return !content_of(secret(host)).empty(); }))
          << run_->err();
      hosts_->must("put", {host, secret(host), kHostFolder});
      hosts_->exec(host, {"chmod", "600", kHostFolder + "/" + host});
    }
  }
  std::unique_ptr<Program> join(const std::string& host) {
    const std::string script = std::string(std::getenv("STERNA_SOURCE")) + "/tests/cluster/hosts";
    return std::make_unique<Program>(
        hosts_->launcher_folder() + "/" + host,
        std::vector<std::string>{script, "exec", hosts_->folder(), host, "env", "HOME=/root",
                                 kHostFolder + "/bundle/bin/sterna", "join",
                                 kHostFolder + "/" + host},
        own_environment());
  }
  void join_all() {
    for (const std::string& host : hosts_->names()) {
      std::filesystem::create_directories(hosts_->launcher_folder() + "/" + host);
      nodes_.push_back(join(host));
    }
  }
  bool trains() {
    return eventually(seconds(60), [&] {
      return content_of(path("run/metrics.jsonl")).find("\"step\"") != std::string::npos;
    });
  }
  std::string path(const std::string& name) const { return hosts_->launcher_folder() + "/" + name; }
  std::string secret(const std::string& host) const { return path("run/join/" + host); }
  bool nothing_left() {
    return eventually(seconds(16), [&] { return hosts_->survivors("__process|__own").empty(); });
  }
  static mode_t mode(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  }

  std::optional<ClusterHosts> hosts_;
  std::unique_ptr<Program> run_;
  std::vector<std::unique_ptr<Program>> nodes_;
};

TEST_F(Join, TrainsOnHostsThatSomebodyElseStarted) {
  start(5);
  EXPECT_EQ(mode(path("run/join")), 0700U);
  EXPECT_EQ(mode(secret("a")), 0600U);
  join_all();
  ASSERT_EQ(run_->exit_code(seconds(60)), 0) << run_->err();
  for (const auto& node : nodes_) EXPECT_EQ(node->exit_code(seconds(10)), 0) << node->err();
  EXPECT_FALSE(std::filesystem::exists(path("run/join"))) << "the secrets have no use any more";
  EXPECT_TRUE(nothing_left());
}

TEST_F(Join, RefusesAFileThatOthersCanRead) {
  start(5);
  hosts_->exec("a", {"chmod", "640", kHostFolder + "/a"});
  std::filesystem::create_directories(hosts_->launcher_folder() + "/a");
  const auto node = join("a");
  EXPECT_EQ(node->exit_code(seconds(10)), 2);
  EXPECT_THAT(node->err(), HasSubstr("chmod 600"));
}

TEST_F(Join, EndsPolitelyWhenItsSupervisorSaysSo) {
  start(kForEver);
  join_all();
  ASSERT_TRUE(trains()) << run_->err() << nodes_[0]->err();
  hosts_->exec("a", {"pkill", "-TERM", "-f", "sterna __process node-a"});
  EXPECT_EQ(nodes_[0]->exit_code(seconds(10)), 0) << nodes_[0]->err();
  EXPECT_EQ(run_->exit_code(seconds(20)), 1) << "without this host it cannot go on";
  EXPECT_TRUE(nothing_left());
}

TEST_F(Join, EndsWithItsLease) {
  start(kForEver);
  join_all();
  ASSERT_TRUE(trains()) << run_->err() << nodes_[0]->err();
  hosts_->cut("b");
  EXPECT_EQ(nodes_[1]->exit_code(seconds(12)), 3) << nodes_[1]->err();
  EXPECT_THAT(nodes_[1]->err(), HasSubstr("lease"));
  EXPECT_EQ(run_->exit_code(seconds(12)), 1);
  EXPECT_EQ(nodes_[0]->exit_code(seconds(12)), 0) << "the run has told it to end";
  EXPECT_TRUE(nothing_left());
}

TEST_F(Join, EndsWhenTheRunIsKilled) {
  start(kForEver);
  join_all();
  ASSERT_TRUE(trains()) << run_->err() << nodes_[0]->err();
  ::kill(run_->pid(), SIGKILL);
  for (const auto& node : nodes_) {
    EXPECT_EQ(node->exit_code(seconds(12)), 0) << "the coordinator outlives it to say so";
  }
  EXPECT_TRUE(nothing_left());
}

}  // namespace
}  // namespace sterna::test
