// Runs on emulated hosts, started as somebody would type it who has only these hosts, and all that
// a run may leave behind: processes here and there, socket folders, state files.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/cluster/cluster_hosts.h"

namespace sterna::test {

/// A process of a run: `sterna __process NAME RUN PARENT`, or the owner of one.
struct RunProcess {
  std::string host;  ///< "": the launching machine
  pid_t pid = 0;     ///< there
  std::string name;  ///< "worker0"; of a remote shell that starts one: "shell"; of ssh: "ssh"
  std::string run;   ///< 16 hexadecimal digits; of shells and ssh: ""
};

/// Who types: a state folder and a name on the hosts.
struct User {
  std::string name = "root";
};

/// One call of the program.
class Call {
 public:
  Call(const ClusterHosts& hosts, const User& user, std::vector<std::string> arguments);

  pid_t pid() const { return program_.pid(); }
  void interrupt() const { program_.interrupt(); }
  void kill() const { program_.kill(); }
  std::optional<int> exit_code(Duration patience) { return program_.exit_code(patience); }
  std::string out() const { return program_.out(); }
  std::string err() const { return program_.err(); }
  /// The live processes on this machine that come from it, itself not included: its ssh clients
  /// too, and whoever it left behind.
  std::vector<RunProcess> here() const;
  /// What it put into its folder for temporary files and did not remove.
  std::vector<std::string> temporary_files() const;
  std::string story() const;

 private:
  std::string mark_;
  std::string temporary_;
  Program program_;
};

/// The text of a cluster file, but for its actors and its job.
struct ClusterText {
  std::string name;
  std::vector<std::string> hosts;
  std::string head = {};  ///< "": the launching machine
  std::string user = "root";
  std::string more = {};  ///< of [cluster], and further tables
  std::string lease = "3s";
};

class ClusterRuns {
 public:
  /// Hosts that hold drawn digits.
  explicit ClusterRuns(int count, const std::vector<std::string>& options = {});

  const ClusterHosts& hosts() const { return hosts_; }
  /// Writes NAME.toml; its path.
  std::string file(const ClusterText& text, const std::string& actors_and_job) const;
  std::unique_ptr<Call> sterna(const std::vector<std::string>& arguments,
                               const User& user = {}) const;
  /// sterna ARGUMENTS --json, waited for: its last line; null where that is no JSON.
  nlohmann::json ask(std::vector<std::string> arguments, const User& user = {}) const;
  /// The step that a run says it is at; -1 where nobody answers.
  std::int64_t step_of(const std::string& id, const User& user = {}) const;
  /// All processes of all runs on all hosts.
  std::vector<RunProcess> there() const;
  /// Waits for a process of that name. To look for one takes long: before whom to kill is urgent.
  std::optional<RunProcess> wait_for(const std::string& name, Duration patience) const;
  /// What lies in the state folder of the launching machine: the files of runs.
  std::vector<std::string> state_files(const User& user = {}) const;
  void kill(const RunProcess& process) const;

 private:
  ClusterHosts hosts_;
};

/// Where the hosts have their data.
inline constexpr const char* kDigitsThere = "/var/tmp/digits";
/// A parameter server, two workers, a reader and an evaluator on four hosts, with steps of well
/// under a millisecond and no end.
extern const char* const kSmallJob;
/// The same, but that each step begins 10 ms later: for who compares no rates and leaves the
/// processors to others.
extern const std::string kUnhurriedJob;

/// A job of LeNet that proves something about hosts or links: in full as it is. Else of a small net
/// each of whose steps begins 50 ms later, so that it takes as long and leaves the processors to
/// others.
std::string small_unless_in_full(const std::string& job);

/// How often each proof is done: 1, or what STERNA_TIMES says.
int times();
/// Whether the proofs shall measure in full what a test only tries (STERNA_FIGURES).
bool in_full();
/// One measured figure, as a line of JSON for who reads the output.
void print_figure(const nlohmann::ordered_json& figure);

}  // namespace sterna::test
