#include "tests/cluster/cluster_job.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/actors/thirty_steps.h"

namespace sterna::test {
namespace {

std::string program() {
  const char* path = std::getenv("STERNA_BINARY");
  if (path == nullptr) ADD_FAILURE() << "STERNA_BINARY names no program";
  return path == nullptr ? "" : path;
}

}  // namespace

std::string bundle_folder() {
  return std::filesystem::path(program()).parent_path().string() + "/bundle";
}

std::string job_by_resources(int steps, const std::string& cluster) {
  return "format = 1\n[cluster]\nname = \"by_resources\"\nlease = \"3s\"\n" + cluster + R"(
[[actor]]
role = "parameter_server"
count = 2
cpus = 1
[[actor]]
role = "worker"
count = 4
cpus = 1
[[actor]]
role = "input_reader"
count = 2
cpus = 0.5
[[actor]]
role = "evaluator"
cpus = 0.5
[job]
net = "lenet"
batch = 16
steps = )" +
         std::to_string(steps) +
         R"(
[data]
name = "digits"
dir = ")" +
         kHostFolder +
         R"(/digits"
[evaluator]
every = 0
)" + (steps == kForEver ? "[[inject.delay]]\nranks = [0, 1, 2, 3]\ndelay = \"100ms\"\n" : "");
}

void bring_program(const ClusterHosts& hosts, const std::string& host) {
  EXPECT_TRUE(hosts.exec(host, {"mkdir", "-p", kHostFolder}).ok());
  hosts.must("put", {host, bundle_folder(), kHostFolder});
}

void bring_digits(const ClusterHosts& hosts, const std::string& host) {
  const std::string digits = hosts.launcher_folder() + "/digits";
  if (!std::filesystem::exists(digits)) {
    Program draw(hosts.launcher_folder(),
                 {program(), "data", "make", "digits", "--out", digits, "--train",
                  std::to_string(kFewDigits.train), "--test", std::to_string(kFewDigits.test)},
                 own_environment());
    EXPECT_EQ(draw.exit_code(std::chrono::minutes(1)), 0) << draw.err();
  }
  EXPECT_TRUE(hosts.exec(host, {"mkdir", "-p", kHostFolder}).ok());
  hosts.must("put", {host, digits, kHostFolder});
}

void bring_text(const ClusterHosts& hosts, const std::string& host, const std::string& name,
                const std::string& text) {
  const std::string path = hosts.launcher_folder() + "/" + name;
  std::ofstream(path) << text;
  EXPECT_TRUE(hosts.exec(host, {"mkdir", "-p", kHostFolder}).ok());
  hosts.must("put", {host, path, kHostFolder});
}

std::string text_on(const ClusterHosts& hosts, const std::string& host, const std::string& path) {
  const Said said = hosts.exec(host, {"cat", path});
  return said.ok() ? said.out : "";
}

bool trains_on(const ClusterHosts& hosts, const std::string& host,
               const std::string& run_directory) {
  const std::string metrics = text_on(hosts, host, run_directory + "/metrics.jsonl");
  return metrics.find("\"step\"") != std::string::npos;
}

}  // namespace sterna::test
