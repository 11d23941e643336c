// RunVisitor: this program as an operator of a run that is going on: it dials the coordinator with
// the keys that were kept for it, looks, reads files, and may end the run. A coordinator that is
// lost may come again: what is remembered of the run says where.
#pragma once

#include <memory>
#include <string>

#include "launcher/past/run_state.h"
#include "runtime/cluster/cluster_messages.h"
#include "runtime/cluster/connected_process.h"
#include "runtime/host/real_machine.h"
#include "runtime/zmq/neighbourhood.h"

namespace sterna::launcher {

class RunVisitor {
 public:
  /// Fails (unavailable) if the coordinator does not answer within `patience`: the run is over, or
  /// there is no way to it; overloaded where as many commands as may look at it do. `machine` must
  /// outlive it.
  static Result<std::unique_ptr<RunVisitor>> visit(RealMachine& machine, const RunState& state,
                                                   Duration patience);
  ~RunVisitor();
  RunVisitor(const RunVisitor&) = delete;
  RunVisitor& operator=(const RunVisitor&) = delete;

  Result<Overview> look();
  /// What this process of the run has counted of its connections.
  Result<Inspection> inspect(ProcessId process);
  Result<FilePiece> read_file(const ReadFile& question);
  /// Permission: the run allows nobody to.
  Result<void> inject(const InjectFault& fault);
  /// Waits until all actors have stopped.
  Result<Stopped> end_run(const std::string& cause, Duration patience);
  /// Waits until the actors of that host are on others.
  Result<Moved> drain(const std::string& host, Duration within);
  Result<Moved> move(const std::string& actor, const std::string& host, Duration within);
  Result<void> add_host(const std::string& host, Duration within);
  /// Waits until the coordinator is gone; false if it is still there at the deadline.
  bool wait_for_end(Duration patience);
  /// Ctrl-C: the other functions stop waiting, and fail (cancelled) or return false.
  void interrupt() { interrupted_ = true; }
  bool interrupted() const { return interrupted_; }
  /// Runs the loop for so long, or until interrupted or the run's end; false if it has ended.
  bool pause(Duration duration);

 private:
  RunVisitor(RealMachine& machine, RunState state, OperatorKeys keys, int lock)
      : machine_(machine), state_(std::move(state)), keys_(std::move(keys)), lock_(lock) {}
  Result<void> connect(Duration patience);
  Result<void> dial();
  bool connected() const;
  bool look_where_it_is();
  template <class T>
  Result<T> wait(Future<T> future);
  template <class M>
  Result<ReplyTo<M>> ask(const M& message, Duration deadline);
  template <class M>
  Result<ReplyTo<M>> ask_again(const M& message, Duration deadline);

  RealMachine& machine_;
  RunState state_;
  OperatorKeys keys_;
  int lock_;  ///< of the operator's identity: each has one user at a time
  std::unique_ptr<NearDirectory> sockets_;  ///< null: they are tcp's
  std::unique_ptr<ConnectedProcess> connected_;
  bool ended_ = false;
  bool interrupted_ = false;
};

}  // namespace sterna::launcher
