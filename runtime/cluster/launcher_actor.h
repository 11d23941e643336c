// LauncherActor: the agent of the launcher's process. It owns the coordinator's and the nodes'
// processes, and hears of all others from the coordinator.
#pragma once

#include <map>

#include "runtime/cluster/children.h"
#include "runtime/cluster/process_control.h"
#include "runtime/host/machine.h"

namespace sterna {

class LauncherActor final : public LeafAgent<LauncherControl> {
 public:
  struct Hooks {
    std::function<void(const ProcessDown&)> down;
    std::function<void(const StatusReport&)> status;
    std::function<void(const std::string& cause)> end_wanted;
    std::function<void(const ProcessRestarts&)> restarts = {};      ///< may be empty
    std::function<void(const LinkTrouble&)> link_trouble = {};      ///< likewise
    std::function<void(const FaultInjected&)> fault_injected = {};  ///< likewise
  };
  LauncherActor(Machine& machine, Process& process, Spawner& placer, Duration silence, Hooks hooks);

  using LeafAgent::on;
  void on(ProcessDown down);
  void on(ProcessRestarts restarts);
  void on(StatusReport report);
  void on(RunEnds order);
  void on(LinkTrouble trouble);
  void on(FaultInjected fault);

  void link_ended(const Contact& peer, const std::string& cause, bool fault);
  /// The coordinator and the nodes.
  Children& children() { return children_; }

 private:
  void child_ended(const ProcessDown& ended);

  Duration silence_;
  Hooks hooks_;
  Children children_;
};

}  // namespace sterna
