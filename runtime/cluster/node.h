// NodeActor: the agent of a node's process. It starts, watches and ends the actor processes of one
// host, passes their questions up and the coordinator's orders down, and lives on a lease: with its
// link to the coordinator it loses all its processes and then itself.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/cluster/children.h"
#include "runtime/cluster/lease.h"
#include "runtime/cluster/process_control.h"
#include "runtime/host/machine.h"

namespace sterna {

class NodeActor final : public Actor<Node> {
 public:
  /// `self` is the node's own bootstrap; machine and process outlive the actor.
  NodeActor(const Bootstrap& self, Machine& machine, Process& process, EndOwnProcess end_process);

  // From its processes, passed up.
  Task<Result<Found>> on(Find find);
  Task<Result<void>> on(Connect connect);
  void on(LinkReport report);
  void on(LinkTrouble trouble);
  Task<Result<void>> on(Ready ready);
  Result<void> on(Leaving leaving);

  // From the coordinator.
  Result<Spawned> on(StartProcess start);
  Task<Result<void>> on(Admit admit);
  Task<Result<void>> on(Dial dial);
  void on(ProcessDown down);
  void on(ProcessRestarts restarts);
  void on(EndProcess end);
  Task<Result<Stopped>> on(StopAll stop);
  Task<Result<Inspection>> on(Inspect inspect);
  void on(Stop);
  void on(Renew);
  Result<FilePiece> on(ReadFile question);
  Result<void> on(Strike strike);

  /// Its process listens: says so to the coordinator.
  void announce(Contact contact);
  void link_ended(const Contact& peer, const std::string& cause, bool fault);
  /// The coordinator is gone, so everything here goes.
  void lease_lost(const std::string& cause);

 private:
  void started() override;
  void stop_requested() override {}
  Result<void> from_coordinator() const;
  Result<void> from_child() const;
  Task<void> announcing(Contact contact);
  Task<void> reporting();
  Task<void> watching_memory();
  Task<void> thawing(ProcessId process, Duration after);
  Task<void> cutting(Strike strike);
  /// To all of its processes that have a link.
  template <class M>
  void tell_children(const M& message);
  Task<std::size_t> end_all(Duration grace);
  Task<void> ending(std::string cause);
  Task<void> all_gone(Time deadline);
  void child_ended(const ProcessDown& down);
  StatusReport status() const;

  Bootstrap self_;
  Machine& machine_;
  EndOwnProcess end_process_;
  ActorRef<Coordinator> coordinator_;
  Children children_;
  Lease lease_;
  Condition changed_;  ///< a child has ended
  bool stopping_ = false;
  bool ending_ = false;
};

}  // namespace sterna
