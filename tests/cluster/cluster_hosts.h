// ClusterHosts: the emulated hosts of `tests/cluster/hosts` for one test, and what it does to them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/end_to_end/program.h"
#include "tests/temporary_folder.h"

namespace sterna::test {

/// What a command said, once it has ended.
struct Said {
  int code = 0;  ///< as the shell shows it
  std::string out;
  std::string err;
  bool ok() const { return code == 0; }
  /// All of it, for the message of a failed test.
  std::string story() const;
};

/// A process that a host still has.
struct Survivor {
  std::string host;
  pid_t pid = 0;  ///< there
  std::string line;
};

/// What the kernel counted on a host's network card since the host was made.
struct NetworkBytes {
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
};

class ClusterHosts {
 public:
  /// Makes `count` hosts: a, b, c, … Whatever happens to this process, they end with it. `options`:
  /// further ones of `hosts up`.
  explicit ClusterHosts(int count, const std::vector<std::string>& options = {});
  ClusterHosts(const ClusterHosts&) = delete;
  ClusterHosts& operator=(const ClusterHosts&) = delete;
  ~ClusterHosts();

  /// Why this machine has no emulated hosts; "" where it has.
  const std::string& missing() const { return missing_; }

  const std::vector<std::string>& names() const { return names_; }
  std::string address(const std::string& host) const;
  /// Of the machine that launches, as the hosts reach it.
  std::string launcher_address() const;
  /// What belongs to these hosts on the launching machine; gone with them.
  const std::string& folder() const { return folder_.path(); }
  /// For the launcher's own files.
  std::string launcher_folder() const { return folder() + "/home"; }
  /// With this a launcher finds the hosts by name, and writes only into its folder.
  Environment launcher_environment() const;

  /// One call of the script: "ps", {"a"}. Fails the test where it takes longer than a minute.
  Said call(const std::string& command, const std::vector<std::string>& arguments) const;
  /// The same, and fails the test if it fails.
  std::string must(const std::string& command, const std::vector<std::string>& arguments) const;
  /// As root of the host, in its namespaces.
  Said exec(const std::string& host, const std::vector<std::string>& command) const;
  /// Over ssh, as a launcher would, but for a terminal.
  Said ssh(const std::string& host, const std::string& command) const;
  /// The same, without waiting for its end.
  std::unique_ptr<Program> start_ssh(const std::string& host, const std::string& command) const;

  /// The processes of all hosts whose arguments match the regular expression, without init and
  /// sshd.
  std::vector<Survivor> survivors(const std::string& regex) const;
  NetworkBytes network_bytes(const std::string& host) const;

  void cut(const std::string& host) const { must("cut", {host}); }
  /// Only what comes to it ("in"), or what leaves it ("out").
  void cut(const std::string& host, const std::string& way) const { must("cut", {host, way}); }
  void mend(const std::string& host) const { must("mend", {host}); }
  void kill(const std::string& host) const { must("kill", {host}); }
  void revive(const std::string& host) const { must("revive", {host}); }
  /// Both directions; "100mbit", or "none".
  void shape(const std::string& host, const std::string& rate) const {
    must("shape", {host, rate});
  }

 protected:
  /// `maker`: the script that makes them, beside `hosts`.
  ClusterHosts(const std::string& maker, int count, const std::vector<std::string>& options);
  Said finish(const std::vector<std::string>& command, const Environment& environment) const;

 private:
  std::vector<std::string> ssh_command(const std::string& host, const std::string& command) const;

  Said call_script(const std::string& script, const std::string& command,
                   const std::vector<std::string>& arguments) const;

  TemporaryFolder folder_;
  std::string missing_;
  std::vector<std::string> names_;
  std::vector<std::string> addresses_;
};

/// Hosts that are the nodes of a Slurm, its controller on the first: `tests/cluster/slurm`.
class SlurmHosts : public ClusterHosts {
 public:
  /// `proctrack`: how it knows a job's processes, "pgid" or "linuxproc".
  SlurmHosts(int count, const std::string& proctrack, const std::vector<std::string>& options = {});
  /// One of Slurm's commands, on the launching machine: {"sbatch", …}.
  Said slurm(std::vector<std::string> command) const;
};

/// Skips the test, with the reason, where this machine cannot have them.
#define STERNA_NEEDS_HOSTS(hosts) \
  if (!(hosts).missing().empty()) GTEST_SKIP() << (hosts).missing()

}  // namespace sterna::test
