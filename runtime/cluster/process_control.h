// The agent of a process that starts no others: it lets in and dials whom the process above says,
// and speaks for its process to those above.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "runtime/actor/ask_above.h"
#include "runtime/actor/process.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna {

/// Ends the process that the agent speaks for: its exit code, and why (empty: as it should).
using EndOwnProcess = std::function<void(int code, const std::string& why)>;
/// Brings a fault upon the process, to see what the run does about it.
using SufferFault = std::function<Result<void>(const Strike& strike)>;

/// Exit codes of the runtime's own processes.
constexpr int kExitFailed = 1;  ///< the actor failed
/// The process above is gone. None that an actor ends with by itself, and so would be started again
/// for: not small, no sysexits (64 to 78), sanitizer's (77, 99) or shell's (126 and above).
constexpr int kExitLostLease = 117;

/// What ends with it begins again elsewhere, and nobody is at fault.
constexpr std::string_view kHostDrained = "its host is drained";
constexpr std::string_view kOrderedAway = "it was told to move";
/// Of an incarnation that is to come: who had it started was lost, or the link over which.
constexpr std::string_view kStartUnknown = "whether it was started is not known any more";
/// A node that is told to stop has nothing left to do.
constexpr Duration kNodeEnds = std::chrono::seconds(1);
/// A node's name, before its host's.
constexpr std::string_view kNodePrefix = "node-";
inline std::string node_name(const std::string& host) { return std::string(kNodePrefix) + host; }
/// Whether the run's own processes are called so, or may be: an actor of that name would take the
/// place of their sockets and logs.
bool is_reserved_name(std::string_view name);
/// The cause with which Links end a link that was silent, and what we say about it.
constexpr std::string_view kSilence = "silence";
std::string silence_text(Duration silence);

/// Whether a node was lost with the ssh that had started it: that ends so where the connection is
/// lost, or a signal has ended what it started. (It also does where it connects to nobody.)
inline bool is_lost_with_ssh(const ProcessDown& down) {
  constexpr int kSshFailed = 255;
  return down.exit_code == kSshFailed && down.identity.name.starts_with(kNodePrefix);
}

/// Whether an end is no doing of the actor's own, and need not happen again: one that fails says
/// why and ends with an exit code, and what it could not work with is still there. Who ends because
/// its node does not answer has not failed.
inline bool is_loss(const ProcessDown& down) {
  return down.signal != 0 || down.exit_code < 0 || down.exit_code == kExitLostLease;
}

/// Whether the same question may be answered later, by who lives as far as is known: it came too
/// late or found no room. Any other error would be said again. (Of one who is gone, `actor_down`,
/// each asker knows for himself whether another follows.)
inline bool may_yet_be_answered(Errc code) {
  return code == Errc::deadline || code == Errc::overloaded;
}
/// Before it is asked again.
constexpr Duration kAskAgain = std::chrono::milliseconds(100);

DownNotice notice_of(const ProcessDown& down);
Inspection inspect(const Links& links);
/// Says to the process above, whose agent is `above`, that a link has ended; not if it never was.
void report_link_end(Process& process, const Contact& peer, const std::string& cause, bool fault);
/// Has it say there, from now on, whom it does not reach for the time being, and which of its links
/// are slow.
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
  void introduce(ProcessId peer) {
    // What is for the one above waits until it is there, or comes again.
    if (peer != above_) this->run(introduction(peer));
  }

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
      Task<Result<void>> asking =
          ask_above(this->process(), this->id().local, agent_of<Agent>(above_),
                    Connect{this->process().id(), peer}, kControlDeadline);
      done = co_await asking;
      // Where one of the two was stopped meanwhile, whoever is above it knows whether it still is.
      if (done || !may_yet_be_answered(done.error().code)) break;
    }
    if (!done) this->process().links()->unreachable(peer, done.error().message);
  }

  static constexpr int kIntroductions = 3;
  ProcessId above_;
};

/// In an actor's process; above it is its node.
class ControlActor final : public LeafAgent<Control> {
 public:
  ControlActor(ProcessId node, EndOwnProcess end_process, SufferFault suffer)
      : LeafAgent(node),
        node_(agent_of<Node>(node)),
        end_process_(std::move(end_process)),
        suffer_(std::move(suffer)) {}

  using LeafAgent::on;
  void on(ProcessDown down);
  void on(ProcessRestarts restarts);
  void on(Stop);
  Result<void> on(Strike strike);

  /// Tells the node that `actor` is ready.
  void announce(Contact contact, AnyRef actor) { run(announcing(std::move(contact), actor)); }
  /// A link to another process than the node was lost.
  void lost_a_peer(ProcessId peer) { lost_.try_emplace(peer, false); }
  /// The process's actor has ended with this cause: last words, then the end.
  void leave(std::string cause) { run(leaving(std::move(cause))); }

 private:
  Task<void> announcing(Contact contact, AnyRef actor);
  Task<void> leaving(std::string cause);

  ActorRef<Node> node_;
  EndOwnProcess end_process_;
  SufferFault suffer_;
  bool leaving_ = false;
  std::map<ProcessId, bool> lost_;  ///< peers that do not come back; whether they are known dead
};

}  // namespace sterna
