// What this user's machine remembers of a run, so that a later command finds it: where its
// coordinator listens, the keys of those who may look at it and end it, and the hosts to ask when
// it does not answer.
//
// One file per run, $XDG_STATE_HOME/sterna/runs/ID (else ~/.local/state/...), mode 0600 in a 0700
// folder: it holds secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"
#include "runtime/base/result.h"
#include "runtime/host/bootstrap.h"

namespace sterna::launcher {

/// Of runs that are over, so many are remembered.
inline constexpr std::size_t kEndedKept = 20;

/// One who looks at the run; each of several at once needs an identity of its own.
struct OperatorKeys {
  std::uint64_t process = 0;
  PeerIdentity identity;
  Credentials credentials;
};

/// The process that keeps a run, told apart from all others.
struct Keeper {
  std::string machine;  ///< its name
  std::string boot;     ///< drawn when the machine was started
  std::int64_t pid = 0;
  std::string started;  ///< in the kernel's ticks
  static Keeper this_process();
  static Keeper of(std::int64_t pid);
  /// False also where it is another machine's, and cannot be seen from here, and where there is
  /// none.
  bool is_gone() const;
  /// It is a process of this machine, and goes on.
  bool is_here() const;
  /// It is another machine's.
  bool is_elsewhere() const;
};

struct StateHost {
  std::string name;
  std::string ssh;  ///< empty: this machine
  std::string work;
};

struct RunState {
  std::string id;    ///< the run directory's name, or more (RunStates::begin())
  std::string name;  ///< cluster.name
  std::uint64_t run = 0;
  std::string file;           ///< the cluster file's absolute path
  std::string run_directory;  ///< on the head
  std::string head;           ///< a host's name, or empty: this machine
  std::string placer;
  std::string slurm_job;  ///< of a run that Slurm keeps; else empty
  Keeper keeper;
  /// What starts the keeper again if it dies (launcher/owner/supervisor.h); else empty.
  Keeper supervisor;
  std::string resume;       ///< the command that goes on from its newest checkpoint; empty: none
  std::string checkpoints;  ///< where those lie, on the head
  bool detached = false;
  std::string began;  ///< UTC
  std::uint64_t schema_hash = 0;
  NetworkOptions network;  ///< the coordinator's
  Contact coordinator;
  std::vector<OperatorKeys> operators;
  std::vector<StateHost> hosts;
  std::string ended;  ///< of a detached run that is over: its last words
  int exit = 0;       ///< of a detached run that is over: its exit code
};

/// Whether a run can be remembered by it: a plain name, and not that of a lock.
bool is_run_id(std::string_view word);

/// Who kept the run is gone without a word of how it ended: it was killed, or its machine was
/// started anew.
bool is_abandoned(const RunState& state);
/// The same, and it is about to be started again.
bool comes_again(const RunState& state);
/// The command that goes on with a run that is over or abandoned, where this machine sees a whole
/// checkpoint of it; else "".
std::string resume_of(const RunState& state);

/// As it is written, secrets included.
std::string state_text(const RunState& state);
Result<RunState> parse_state(std::string_view text);

/// What of it is no secret, on one line.
std::string state_json_line(const RunState& state);

class RunStates {
 public:
  /// `folder` is .../sterna/runs; it is made when something is written.
  explicit RunStates(std::string folder,
                     std::function<bool(const RunState&)> abandoned = is_abandoned)
      : folder_(std::move(folder)), abandoned_(std::move(abandoned)) {}
  /// $XDG_STATE_HOME/sterna/runs; not_found where neither it nor HOME is set.
  static Result<RunStates> of_user();

  /// For this user alone.
  Result<void> make_folder() const;
  Result<void> write(const RunState& state) const;
  /// The same for the first time; returns it with its id, which is what its directory is called.
  /// Where another directory's run is remembered by that, its number comes behind it.
  Result<RunState> begin(RunState state) const;
  void remove(const std::string& id) const;
  /// Of one operator's identity: who uses it holds the lock.
  std::string lock_path(const std::string& id, const std::string& identity) const;
  /// Of the cluster file with that absolute path: who starts a run of it holds the lock.
  std::string start_lock_path(const std::string& file) const;
  /// All that can be read, oldest first.
  std::vector<RunState> all() const;
  /// The one run that is meant: by its id, also with its number behind it, as another machine may
  /// call it; by the path of its directory on this machine, by its name where only one has it, or
  /// only one that goes on, by the beginning of either; with an empty word the only one that goes
  /// on, or else the only one there is. Else an error that lists them.
  Result<RunState> find(const std::string& word) const;

 private:
  void forget_oldest() const;
  std::string folder_;
  std::function<bool(const RunState&)> abandoned_;
};

/// How a host of a run's file is remembered; none without ssh that is another machine: it cannot be
/// asked, but for what its queue says.
std::optional<StateHost> state_host(const ClusterFile& file, const HostSection& host);
/// All of them that are no spare ones.
std::vector<StateHost> state_hosts(const ClusterFile& file);

/// kOperators identities, each with keys of its own.
std::vector<OperatorKeys> issue_operators();
std::vector<Contact> contacts_of(const std::vector<OperatorKeys>& operators);

/// The other host that keeps the run, and that ssh reaches; null: there is none.
const StateHost* remote_head(const RunState& state);

/// Of a run that is given as its directory, or by what this machine remembers of it; else `run`.
/// Fails (not_found) where it is another host's, and not to be seen from here.
Result<std::string> run_directory_of(const std::string& run);

}  // namespace sterna::launcher
