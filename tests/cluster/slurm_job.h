// A Slurm of three nodes and the job that its tests run there.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/cluster/cluster_job.h"

namespace sterna::test {

using std::chrono::seconds;

/// Processes of any run, by their command lines.
inline constexpr const char* kOurs = "__process|__own";

class SlurmJobTest : public testing::TestWithParam<const char*> {
 protected:
  void start_hosts(const std::string& proctrack) {
    hosts_.emplace(3, proctrack, std::vector<std::string>{"--cpus", "4"});
    STERNA_NEEDS_HOSTS(*hosts_);
    for (const std::string& host : hosts().names()) bring_digits(hosts(), host);
    bring_program(hosts(), "a");
  }
  SlurmHosts& hosts() { return *hosts_; }

  /// Submits a script that runs the job, with `more` behind its command; returns the job's id.
  std::string submit(int steps, const std::vector<std::string>& options = {},
                     const std::string& more = "") {
    bring_text(hosts(), "a", "job.toml", job_by_resources(steps, "placer = \"slurm\"\n"));
    hosts().exec("a", {"rm", "-rf", kRun});
    std::vector<std::string> command = {"sbatch",
                                        "--parsable",
                                        "-N3",
                                        "--ntasks-per-node=1",
                                        "--cpus-per-task=3",
                                        "--chdir=/",
                                        "--output=" + kHostFolder + "/out"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(),
                   {"--wrap", "exec " + kHostFolder + "/bundle/bin/sterna run " + kHostFolder +
                                  "/job.toml --run-dir " + kRun + more});
    const Said said = hosts().slurm(command);
    EXPECT_TRUE(said.ok()) << said.story();
    return lines_of(said.out).at(0);
  }
  /// The same, and waits until it trains: it would for ever.
  std::string start_for_ever(const std::vector<std::string>& options = {},
                             const std::string& more = "") {
    const std::string job = submit(kForEver, options, more);
    EXPECT_TRUE(eventually(seconds(90), [&] { return trains_on(hosts(), "a", kRun); })) << story();
    EXPECT_GE(survivors(), 13U);
    return job;
  }
  bool forgotten(const std::string& job) {
    return hosts().slurm({"squeue", "-h", "-j", job}).out.empty();
  }
  std::size_t survivors() { return hosts().survivors(kOurs).size(); }
  bool nothing_left() {
    return eventually(seconds(16), [&] { return survivors() == 0; });
  }
  nlohmann::json result() {
    return nlohmann::json::parse(text_on(hosts(), "a", kRun + "/result.json"), nullptr, false);
  }
  /// What result.json says; nothing where the run left none.
  std::optional<int> exit_of_run() {
    const nlohmann::json said = result();
    if (!said.is_object()) return std::nullopt;
    return said.value("exit", -1);
  }
  std::string story() { return text_on(hosts(), "a", kHostFolder + "/out"); }

  static inline const std::string kRun = kHostFolder + "/run";

 private:
  std::optional<SlurmHosts> hosts_;
};

}  // namespace sterna::test
