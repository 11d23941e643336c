// NodeActor: the agent of a node's process. It starts, watches and ends the actor processes of one
// host, passes their questions up and the coordinator's orders down, and lives on a lease: where
// the coordinator does not come again within it, it loses all its processes and then itself.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "runtime/cluster/children.h"
#include "runtime/cluster/process_control.h"
#include "runtime/host/machine.h"
#include "runtime/loop/lease.h"

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
  void on(LinkPace pace);
  Task<Result<void>> on(Ready ready);
  Result<void> on(Leaving leaving);

  // From the coordinator.
  Result<Spawned> on(StartProcess start);
  Task<Result<void>> on(Admit admit);
  Task<Result<void>> on(Dial dial);
  void on(ProcessDown down);
  void on(ProcessRestarts restarts);
  Result<Ending> on(EndProcess end);
  Result<Sought> on(SeekProcess question);
  Task<Result<Stopped>> on(StopAll stop);
  Task<Result<Inspection>> on(Inspect inspect);
  void on(Stop);
  Result<FilePiece> on(ReadFile question);
  Result<KeptPiece> on(ReadKept question);
  Result<void> on(WriteKept piece);
  void on(ForgetKept forget);
  Task<Result<void>> on(Strike strike);
  Result<void> on(Resume resume);

  /// Its process listens: says so to the coordinator.
  void announce(Contact contact);
  void link_ended(const Contact& peer, const std::string& cause, bool fault);
  /// The coordinator is gone, so everything here goes.
  void lease_lost(const std::string& cause) { end_all_here(cause, self_.grace); }
  /// Somebody wants this host back: what is here goes on on others, if it can. Who cannot wait for
  /// that says so again.
  void told_to_end();

 private:
  void started() override;
  void stop_requested() override {}
  Result<void> from_coordinator() const;
  Result<void> from_child() const;
  Task<void> announcing(Contact contact);
  /// Of the coordinator, or the one that follows it.
  template <class M>
  Task<Result<ReplyTo<M>>> ask_coordinator(M message, Duration deadline);
  /// Somebody whom processes of this host look for.
  struct Quest {
    Time until;        ///< the most patient of them waits so long
    Time asked_until;  ///< and the coordinator, who answers then at the latest
    std::optional<Result<Found>> outcome;
    Condition changed;
  };
  /// Asks for that one on behalf of all of them.
  Task<void> seeking(std::string name, std::shared_ptr<Quest> quest);
  /// Until one of them has heard it.
  template <class M>
  Task<void> telling(M message);
  Task<void> dialling_again();
  Task<void> reporting();
  Task<void> watching_memory();
  Task<void> thawing(ProcessId process, Duration after);
  Task<void> ordering(Strike strike);
  /// To all of its processes that have a link.
  template <class M>
  void tell_children(const M& message);
  Task<void> end_all(Duration grace);
  Task<void> renewing();
  Task<void> renewing_once();
  void end_all_here(const std::string& cause, Duration grace);
  Task<void> ending(std::string cause, Duration grace);
  Task<void> leaving();
  Task<void> all_gone(Time deadline);
  void child_ended(const ProcessDown& down);
  void forget_troubles(ProcessId gone);
  StatusReport status();

  Bootstrap self_;
  Machine& machine_;
  EndOwnProcess end_process_;
  ActorRef<Coordinator> coordinator_;
  Children children_;
  Lease lease_;
  Condition changed_;  ///< a child has ended
  /// What its processes last said of themselves, also of those whose link has ended since.
  std::map<ProcessId, LinkStatistics> last_heard_;
  std::set<ProcessId> begun_;                             ///< whom it has started, the last of them
  std::map<std::string, std::shared_ptr<Quest>> quests_;  ///< by the name of who is looked for
  /// Whom of the run its processes do not reach, as the coordinator is to know: from whom, to whom.
  std::map<std::pair<ProcessId, ProcessId>, LinkTrouble> troubles_;
  std::size_t untold_ = 0;  ///< that no coordinator has heard yet
  bool alone_ = false;      ///< without a coordinator
  bool leaving_ = false;    ///< told to end
  bool stopping_ = false;
  std::optional<std::size_t> to_end_;      ///< processes of actors, when all were first told to end
  std::size_t killed_ = 0;                 ///< of those, whoever did it
  std::set<ProcessId> nothing_to_finish_;  ///< who is killed at once, and counts as stopped
  bool ending_ = false;
};

}  // namespace sterna
