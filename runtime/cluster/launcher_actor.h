// LauncherActor: the agent of the launcher's process. It owns the coordinator's and the nodes'
// processes, and hears of all others from the coordinator.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

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
    std::function<void(const LinkPace&)> link_pace = {};            ///< likewise
    std::function<void(const FaultInjected&)> fault_injected = {};  ///< likewise
    std::function<void(Note)> note = {};                            ///< likewise
    /// What the coordinator is to be told of a host whose node is wanted; an error: why there will
    /// be none. Empty: nobody wants any.
    std::function<Result<AddNode>(const std::string& host)> node_wanted = {};
    std::function<void(const std::string& host, ProcessId node)> node_came = {};  ///< with that
  };
  LauncherActor(Machine& machine, Process& process, Spawner& placer, Duration silence, Hooks hooks);

  using LeafAgent::on;
  void on(ProcessDown down);
  void on(ProcessRestarts restarts);
  void on(StatusReport report);
  void on(RunEnds order);
  void on(LinkTrouble trouble);
  void on(LinkPace pace);
  void on(FaultInjected fault);
  Result<void> on(Note note);
  Task<Result<void>> on(StartNode start);

  void link_ended(const Contact& peer, const std::string& cause, bool fault);
  /// The coordinator and the nodes.
  Children& children() { return children_; }
  /// Calls it so much later.
  void after(Duration pause, std::function<void()> work) { run(waiting(pause, std::move(work))); }

 private:
  void child_ended(const ProcessDown& ended);
  Task<void> waiting(Duration pause, std::function<void()> work);
  Task<void> bringing(AddNode add, Duration within);
  Task<Result<void>> bring(AddNode add, Duration within);
  /// A coordinator tells again what the one before may have told.
  bool is_news(ProcessId dead);

  Duration silence_;
  Hooks hooks_;
  Children children_;
  std::set<ProcessId> dead_;      ///< whose ends are known
  std::deque<ProcessId> deaths_;  ///< the same, in their order
  std::set<std::set<ProcessId>> apart_;
  struct SlowLink {
    LinkPace pace;  ///< as it was told
    Time told;
  };
  std::map<std::pair<ProcessId, ProcessId>, SlowLink> slow_;  ///< by who sends, and to whom
  /// Hosts whose nodes are on their way, and what has come of it.
  std::map<std::string, std::shared_ptr<std::optional<Result<void>>>> bringing_;
  Condition brought_;
  std::set<ProcessId>
      coming_;  ///< nodes of hosts that are being added: no loss if they do not come
};

}  // namespace sterna
