// HostedProcess: a coordinator, a node or an actor's process, from its Bootstrap to its exit code.
// The same in a process of its own (runtime/main.h) and in a simulation.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/actor/registry.h"
#include "runtime/cluster/connected_process.h"
#include "runtime/cluster/process_control.h"

namespace sterna {

class HostedProcess {
 public:
  /// `machine` and `registry` must outlive it.
  HostedProcess(Machine& machine, Bootstrap bootstrap, const Registry& registry);
  ~HostedProcess();
  HostedProcess(const HostedProcess&) = delete;
  HostedProcess& operator=(const HostedProcess&) = delete;

  /// Listens, starts its actor, dials the process above. Returns how it can be reached.
  Result<Contact> start();
  /// Once true, it wants to be destroyed.
  bool ended() const { return exit_code_.has_value(); }
  int exit_code() const { return exit_code_.value_or(0); }
  /// Why it ended; empty if as it should.
  const std::string& why() const { return why_; }
  /// Called once, when ended() becomes true.
  void set_on_end(std::function<void()> hook) { on_end_ = std::move(hook); }
  /// The process above is known to be gone (a signal said so).
  void lease_lost(const std::string& cause);
  /// Its supervisor wants it gone: a node first lets its actors go on elsewhere, once. Any other,
  /// and one that is told again, ends at once.
  void told_to_end();
  /// A fault on purpose, of those that a process brings upon itself.
  Result<void> suffer(const Strike& strike);
  Process& process() { return connected_->process(); }

 private:
  void end(int code, const std::string& why);
  EndOwnProcess end_own_process();
  void start_coordinator();
  void start_node();
  void make_neighbourhood();
  void start_actor();
  void on_link_end(std::function<void(const Contact&, const std::string&, bool)> hook);
  void dial_above();

  Machine& machine_;
  Bootstrap bootstrap_;
  const Registry& registry_;
  LocalId main_actor_;  ///< of an actor's process, once it is there
  std::unique_ptr<ConnectedProcess> connected_;
  std::function<void(const std::string& cause)> lease_lost_;
  std::function<void()> told_to_end_;
  std::function<void()> on_end_;
  std::optional<int> exit_code_;
  std::string why_;
};

}  // namespace sterna
