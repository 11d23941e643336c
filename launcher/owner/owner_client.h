// OwnerClient: the launcher's side of a run that another process keeps (owner.h): starts that
// process on the head, places nodes on the hosts that only the launcher reaches, and hears how it
// goes, until it leaves the run to itself or the run is over.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "launcher/owner/owner.h"
#include "launcher/owner/owner_words.h"
#include "launcher/past/run_state.h"
#include "launcher/view/run_status.h"
#include "runtime/host/piped_process.h"
#include "runtime/host/real_machine.h"
#include "runtime/loop/signal_watch.h"
#include "runtime/remote/remote_placer.h"

namespace sterna::launcher {

struct OwnerClientOptions {
  ClusterFile file;
  OwnerOrder order;
  RemoteBundle nodes;  ///< what the nodes run
  RemoteBundle own;    ///< this program, for a head that is another machine
  std::function<void(std::string_view)> progress;
  std::function<void(const RunStatus&)> status;
};

/// What the owner told of the run, with what the launcher knows better: of a head that somebody has
/// taken only the run's id, its directory and how it is reached there are believed.
RunState as_ordered(RunState told, const ClusterFile& file, const OwnerOrder& order);

class OwnerClient {
 public:
  /// `machine` must outlive it.
  OwnerClient(RealMachine& machine, OwnerClientOptions options);
  ~OwnerClient();
  OwnerClient(const OwnerClient&) = delete;
  OwnerClient& operator=(const OwnerClient&) = delete;

  struct Over {
    int exit = 0;
    std::string last_words;
    std::string result_json;  ///< empty: there was no run
  };
  /// Starts the owner and waits until every actor runs. SIGINT and SIGTERM end the run; its end is
  /// the error then, with the exit code in over().
  Result<RunState> start();
  /// Leaves the run to itself. Fails if it has not let go within a few seconds.
  Result<void> detach();
  /// Until the run is over.
  Over wait();
  const std::optional<Over>& over() const { return over_; }

 private:
  Result<void> start_owner();
  Result<void> ship_to_head(RemoteSession::Options session);
  void send(const OwnerWord& word);
  void told(const OwnerWord& word);
  void place(const OwnerWord& word);
  void owner_ended(const ProcessExit& exit);
  void interrupted(const std::string& how = "");
  void owner_said(std::string_view bytes);

  RealMachine& machine_;
  OwnerClientOptions options_;
  RemotePlacer placer_;
  WordReader reader_;
  std::unique_ptr<PipedProcess> local_owner_;
  std::unique_ptr<RemoteSession> remote_owner_;
  std::map<std::int64_t, std::int64_t> placed_;  ///< the owner's id of a node → the placer's
  std::optional<RunState> state_;
  std::optional<Over> over_;
  bool running_ = false;
  bool detached_ = false;
  bool interrupted_ = false;
  std::string owner_errors_;
  SignalWatch interrupt_;
  SignalWatch terminate_;
};

}  // namespace sterna::launcher
