#include "tests/cluster/cluster_hosts.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace sterna::test {

namespace {

/// The script's exit code where a machine cannot have emulated hosts.
constexpr int kCannot = 77;

std::string source_folder() {
  const char* path = std::getenv("STERNA_SOURCE");
  if (path == nullptr) ADD_FAILURE() << "STERNA_SOURCE names no folder";
  return path == nullptr ? "" : path;
}

std::string without_line_end(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

std::string Said::story() const {
  return "exit code " + std::to_string(code) + "\nstandard output:\n" + out + "standard error:\n" +
         err;
}

ClusterHosts::ClusterHosts(int count, const std::vector<std::string>& options)
    : ClusterHosts("hosts", count, options) {}

ClusterHosts::ClusterHosts(const std::string& maker, int count,
                           const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {std::to_string(count), "--for", std::to_string(::getpid())};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const Said made = call_script(maker, "up", arguments);
  if (made.code == kCannot) missing_ = without_line_end(made.err);
  if (made.code == kCannot) return;
  EXPECT_TRUE(made.ok()) << made.story();
  for (const std::string& line : lines_of(must("list", {}))) {
    std::istringstream words(line);
    words >> names_.emplace_back() >> addresses_.emplace_back();
  }
}

ClusterHosts::~ClusterHosts() { must("down", {}); }

std::string ClusterHosts::address(const std::string& host) const {
  const auto found = std::find(names_.begin(), names_.end(), host);
  if (found != names_.end()) return addresses_[found - names_.begin()];
  ADD_FAILURE() << "there is no host " << host;
  return "";
}

std::string ClusterHosts::launcher_address() const {
  const std::string& first = addresses_.at(0);
  return first.substr(0, first.rfind('.')) + ".254";
}

Environment ClusterHosts::launcher_environment() const {
  const char* path = std::getenv("PATH");
  return {"PATH=" + folder() + "/bin:" + (path == nullptr ? "" : path), "HOME=" + launcher_folder(),
          "XDG_STATE_HOME=" + launcher_folder() + "/state"};
}

Said ClusterHosts::finish(const std::vector<std::string>& command,
                          const Environment& environment) const {
  // The output may not lie in `folder_`: `down` removes it while it speaks.
  const TemporaryFolder folder;
  Program program(folder.path(), command, environment);
  const auto code = program.exit_code(std::chrono::minutes(1));
  Said said = {code.value_or(-1), program.out(), program.err()};
  EXPECT_TRUE(code) << "it does not end: " << command.at(1) << "\n" << said.story();
  return said;
}

Said ClusterHosts::call(const std::string& command,
                        const std::vector<std::string>& arguments) const {
  return call_script("hosts", command, arguments);
}

Said ClusterHosts::call_script(const std::string& script, const std::string& command,
                               const std::vector<std::string>& arguments) const {
  std::vector<std::string> all = {source_folder() + "/tests/cluster/" + script, command, folder()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return finish(all, own_environment());
}

std::string ClusterHosts::must(const std::string& command,
                               const std::vector<std::string>& arguments) const {
  const Said said = call(command, arguments);
  EXPECT_TRUE(said.ok()) << "hosts " << command << ": " << said.story();
  return said.out;
}

Said ClusterHosts::exec(const std::string& host, const std::vector<std::string>& command) const {
  std::vector<std::string> arguments = {host};
  arguments.insert(arguments.end(), command.begin(), command.end());
  return call("exec", arguments);
}

std::vector<std::string> ClusterHosts::ssh_command(const std::string& host,
                                                   const std::string& command) const {
  return {folder() + "/bin/ssh", "-oBatchMode=yes", "-oConnectTimeout=2", host, command};
}

Said ClusterHosts::ssh(const std::string& host, const std::string& command) const {
  return finish(ssh_command(host, command), own_environment());
}

std::unique_ptr<Program> ClusterHosts::start_ssh(const std::string& host,
                                                 const std::string& command) const {
  return std::make_unique<Program>(launcher_folder(), ssh_command(host, command),
                                   own_environment());
}

std::vector<Survivor> ClusterHosts::survivors(const std::string& regex) const {
  std::vector<Survivor> found;
  const std::vector<std::string> lines = lines_of(must("survivors", {regex}));
  for (std::size_t i = 1; i < lines.size(); ++i) {  // the first counts them
    Survivor& survivor = found.emplace_back();
    std::istringstream(lines[i]) >> survivor.host >> survivor.pid;
    survivor.line = lines[i];
  }
  return found;
}

NetworkBytes ClusterHosts::network_bytes(const std::string& host) const {
  NetworkBytes bytes;
  for (const std::string& line : lines_of(must("bytes", {host}))) {
    std::string counter;
    std::uint64_t value = 0;
    std::istringstream(line) >> counter >> value;
    if (counter == "rx_bytes") bytes.received = value;
    if (counter == "tx_bytes") bytes.sent = value;
  }
  return bytes;
}

SlurmHosts::SlurmHosts(int count, const std::string& proctrack,
                       const std::vector<std::string>& options)
    : ClusterHosts("slurm", count, [&] {
        std::vector<std::string> all = {"--proctrack", proctrack};
        all.insert(all.end(), options.begin(), options.end());
        return all;
      }()) {}

Said SlurmHosts::slurm(std::vector<std::string> command) const {
  command[0] = folder() + "/bin/" + command[0];
  return finish(command, with_variables(own_environment(), launcher_environment()));
}

}  // namespace sterna::test
