// The agent of a process that starts no others: it lets in and dials whom the process above says,
// and speaks for its process to those above.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "runtime/actor/process.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna {

/// Ends the process that the agent speaks for: its exit code, and why (empty: as it should).
using EndOwnProcess = std::function<void(int code, const std::string& why)>;

/// Exit codes of the runtime's own processes.
constexpr int kExitFailed = 1;     ///< the actor failed
constexpr int kExitLostLease = 3;  ///< the process above is gone

/// The cause with which Links end a link that was silent, and what we say about it.
/// What ends with it begins again elsewhere, and nobody is at fault.
constexpr std::string_view kHostDrained = "its host is drained";
constexpr std::string_view kSilence = "silence";
std::string silence_text(Duration silence);

DownNotice notice_of(const ProcessDown& down);
Inspection inspect(const Links& links);
/// Says to the process above, whose agent is `above`, that a link has ended; not if it never was.
void report_link_end(Process& process, const Contact& peer, const std::string& cause, bool fault);
/// Has it say there, from now on, whom it does not reach for the time being.
void report_link_troubles(Process& process);

/// What every agent without children does. I lists Admit, Dial and Inspect.
template <class I>
class LeafAgent : public Actor<I> {
 public:
  explicit LeafAgent(ProcessId above) : above_(above) {}

  Result<void> on(Admit admit) {
    STERNA_TRY(from_above());
    this->process().links()->admit(admit.contact);
    return {};
  }
  Result<void> on(Dial dial) {
    STERNA_TRY(from_above());
    this->process().links()->dial(dial.contact);
    return {};
  }
  Result<Inspection> on(Inspect) {
    STERNA_TRY(from_above());
    return inspect(*this->process().links());
  }

  /// Has `peer` and this process brought together (Process::set_introducer).
  void introduce(ProcessId peer) { this->run(introduction(peer)); }

 protected:
  void stop_requested() override {}  // it goes with its process
  Result<void> from_above() const {
    if (this->sender().process == above_) return {};
    this->process().blame_sender("only the process above gives orders");
    return Error{Errc::permission, "only the process above gives orders"};
  }

 private:
  Task<void> introduction(ProcessId peer) {
    Result<void> done;
    for (int attempt = 0; attempt < kIntroductions; ++attempt) {
      done = co_await this->ask(agent_of<Agent>(above_), Connect{this->process().id(), peer},
                                kControlDeadline);
      // Where one of the two was stopped meanwhile, whoever is above it knows whether it still is.
      if (done || done.error().code != Errc::deadline) break;
    }
    if (!done) this->process().links()->unreachable(peer, done.error().message);
  }

  static constexpr int kIntroductions = 3;
  ProcessId above_;
};

/// In an actor's process; above it is its node.
class ControlActor final : public LeafAgent<Control> {
 public:
  /// `shut_connections`: of its process, to inject a fault.
  ControlActor(ProcessId node, EndOwnProcess end_process, std::function<void()> shut_connections)
      : LeafAgent(node),
        node_(agent_of<Node>(node)),
        end_process_(std::move(end_process)),
        shut_connections_(std::move(shut_connections)) {}

  using LeafAgent::on;
  void on(ProcessDown down);
  void on(ProcessRestarts restarts);
  void on(Stop);
  Result<void> on(Strike strike);

  /// Tells the node that `actor` is ready.
  void announce(Contact contact, AnyRef actor) { run(announcing(std::move(contact), actor)); }
  /// A link to another process than the node was lost.
  void lost_a_peer(ProcessId peer) { lost_.insert(peer); }
  /// The process's actor has ended with this cause: last words, then the end.
  void leave(std::string cause) { run(leaving(std::move(cause))); }

 private:
  Task<void> announcing(Contact contact, AnyRef actor);
  Task<void> leaving(std::string cause);

  ActorRef<Node> node_;
  EndOwnProcess end_process_;
  std::function<void()> shut_connections_;
  bool leaving_ = false;
  std::set<ProcessId> lost_;  ///< peers that do not come back, as far as is known
};

}  // namespace sterna
