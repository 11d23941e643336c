// CoordinatorActor: the agent of the coordinator's process. It issues process ids, incarnations and
// keys, knows who is in the run (the directory), brings processes together, and tells everyone who
// died. The launcher holds its lease: when the launcher is gone, it ends the run.
//
// Should it be lost itself, its next incarnation goes on: what follows from what it knows (an
// answer, an order, news of a death) leaves only once its owner, the launcher, has kept that.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/actor/byte_window.h"
#include "runtime/cluster/process_control.h"
#include "runtime/host/machine.h"

namespace sterna {

class CoordinatorActor final : public Actor<Coordinator> {
 public:
  CoordinatorActor(const Bootstrap& self, Machine& machine, EndOwnProcess end_process);

  // From nodes (for themselves or for their processes) and from the launcher.
  Task<Result<Found>> on(Find find);
  Task<Result<void>> on(Connect connect);
  Task<Result<void>> on(LinkReport report);
  void on(LinkTrouble trouble);
  void on(LinkPace pace);

  // From nodes.
  Task<Result<void>> on(Ready ready);
  Task<Result<void>> on(ProcessDown down);
  void on(StatusReport report);
  Result<void> on(Renew);

  // From the launcher.
  Task<Result<Bootstrap>> on(AddNode add);
  Task<Result<Started>> on(StartActor start);
  Task<Result<Stopped>> on(Shutdown shutdown);
  Task<Result<void>> on(Publish publish);
  Task<Result<PeerContact>> on(AdmitExtra admit);
  Task<Result<Inspection>> on(Inspect question);
  void on(Stop);
  Result<void> on(Report report);
  void on(AllowFaults);
  void on(EndsSoon);

  // From who looks at the run from outside, and from the launcher.
  Result<Overview> on(Look look);
  Task<Result<Stopped>> on(EndRun end);
  Task<Result<Moved>> on(Drain drain);
  Task<Result<Moved>> on(Move move);
  Task<Result<void>> on(AddHost add);
  Task<Result<FilePiece>> on(ReadFile question);
  Task<Result<void>> on(InjectFault fault);

  /// Its own endpoints are known: nodes are told them. Where one before it was lost, it goes on
  /// now.
  void set_contact(const Contact& contact) {
    contact_ = contact;
    go_on();
  }
  void link_ended(const Contact& peer, const std::string& cause, bool fault);
  /// The launcher is gone, so everything goes.
  void lease_lost(const std::string& cause);

 private:
  using State = MemberState;
  /// As often an actor is lost on one host; then another is tried, where there is one.
  static constexpr std::uint32_t kMostOnOneHost = 2;
  struct Member {
    ProcessKind kind = ProcessKind::ACTOR;
    ProcessId process;
    PeerIdentity identity;
    ProcessId node;  ///< of an actor
    std::string host;
    /// Of a node: how the processes of its host live.
    NetworkOptions network;
    std::string log_directory;
    std::vector<std::string> environment;
    State state = State::STARTING;
    Contact contact;         ///< once ready
    AnyRef actor;            ///< once ready
    bool condemned = false;  ///< its node has been told to end it
    bool at_fault = false;   ///< ... because it broke the rules, and would again
    std::string cause;       ///< of its end, or for which it was condemned
    bool done = false;       ///< its end was wanted
    ProcessDown down;        ///< as it was told
    Time died;
    Time leased;           ///< of a node: when it was last granted its lease, or may have been
    ProcessStatus status;  ///< the last that its node told
  };
  /// What an actor that may be started again is started from.
  struct Origin {
    struct Restart {
      Time at;
      std::string cause;
    };
    StartActor start;              ///< where it is now, and where else it may be
    std::uint32_t lost_here = 0;   ///< how often on the host where it is now
    std::deque<Restart> restarts;  ///< that count against the budget, oldest first
    bool under_way = false;        ///< an incarnation is to come, and is not ready yet
    bool again = false;            ///< that one was lost, too, and another is to come
    ProcessId ordered_away;        ///< the incarnation that an operator has moved
    ProcessId kept_by;             ///< the node that has its memory (KeptMemory)
  };

  void stop_requested() override {}
  Result<void> from_launcher() const;
  Result<void> from_visitor() const;
  ProcessStatus status_of(const Member& member) const;
  Result<void> from_node() const;
  /// Through which its process is reached.
  static ProcessId node_of(const Member& member);
  Member* find(ProcessId process);
  Member* find_live(ProcessId process);
  Member* named(const std::string& name);
  /// Whether nobody of its name has come after it.
  bool is_newest(const Member& member) const;
  Result<Bootstrap> issue(ProcessKind kind, const std::string& name, const std::string& host);
  void forget_oldest_dead();
  Task<Member*> ready_member(std::string name, Time deadline);
  /// The same of this incarnation, whatever comes after it; null once it is forgotten.
  Task<Member*> settled(ProcessId process, Time deadline);
  /// Until the last incarnation of this name is surely gone: at the end of its node's lease, where
  /// that one may only be out of reach.
  Task<void> surely_gone(std::string name);
  /// Of one that an incarnation before us was asked to start, once it is there or has ended; null:
  /// it was never started.
  Task<std::optional<Result<Started>>> started_before(std::string name, Time deadline);
  /// Starts the next incarnation of an actor on its host.
  Task<Result<Started>> begin(StartActor start);
  /// From what one that may come again is started from now on.
  void take_in(const StartActor& start);
  /// The order to its node, once there is room for it; not any more if it has died meanwhile.
  Task<Result<Spawned>> order_start(ActorRef<Node> node, std::string host, Bootstrap issued);
  Error end_misfit(ProcessId process, const std::string& type);
  Task<Result<void>> order_admit(ProcessId who, Contact contact);
  Task<Result<void>> order_dial(ProcessId who, Contact contact);
  Task<Result<void>> introduce(ProcessId lower, ProcessId higher);
  Task<Stopped> stop_nodes(Duration grace);
  Task<void> ending(std::string cause);
  Task<void> left_alone(std::string why);
  std::size_t apart_from(ProcessId process) const;
  bool is_over(const std::pair<ProcessId, ProcessId>& pair, const Member& from, const Member& to,
               Duration lasted);
  bool is_alone(ProcessId process) const;
  Task<void> condemn(ProcessId process, std::string cause, bool at_once);
  /// Has its node end a process, whatever becomes of links meanwhile; false: it was not there.
  Task<bool> order_end(ProcessId process, std::string cause, bool at_once);
  Task<void> suspect(ProcessId reporter, ProcessId peer, std::string cause);
  void mark_dead(Member& member, ProcessDown down);
  /// Whether a member that has died so is started again; then that has begun. Else, where it was
  /// once, `down` says how often.
  bool starts_again(const Member& member, bool was_ready, ProcessDown& down);
  /// To all nodes, and to the launcher.
  template <class M>
  void tell_all(const M& message);
  Task<void> tell_of_death(ProcessDown down, std::optional<std::string> again_at);

  // What the owner keeps (coordinator_again.cc).
  /// Sends what was noted on its way; returns the number of the last of it.
  std::uint64_t journal();
  /// Whether all up to this number is.
  bool is_kept(std::uint64_t number) const { return unkept_.empty() || *unkept_.begin() > number; }
  /// Until all that was noted so far is kept.
  Task<void> journaled();
  void note(std::string key, Bytes value);
  void note_member(const Member& member);
  void note_forgotten(ProcessId process);
  void note_start(const StartActor& start);
  void note_origin(const std::string& name);
  Task<void> noting(Note note);
  /// What the incarnation before has left.
  void take_over();
  Result<void> recover(const JournalEntry& entry);
  void recover_member(MemberNote note);
  void go_on();
  Task<void> resuming(ProcessId node, bool dials);
  Task<void> resumed(ProcessId node, Time deadline);
  Task<void> restarting_on(std::string name);
  Task<void> end_unknown(ProcessId process);
  Task<void> starting_on(ProcessId process);
  Task<void> condemning_on(ProcessId process);
  /// Of the deaths that not everybody may have heard of.
  template <class I>
  void tell_deaths_again(ActorRef<I> to);
  /// How many are there, or are to come.
  std::size_t actors_at(const std::string& host) const;
  /// The host that is alive and to be preferred among those where else it may be; null: none.
  ActorPlace* place_elsewhere(Origin& origin);
  /// It is started there next; where it was it may be again.
  static void take_place(StartActor& start, ActorPlace& place);
  static void arrange(StartActor& start, const std::vector<std::string>& hosts);
  /// The node that has its memory, if it lives.
  const Member* keeper_of(const Origin& origin) const;
  /// What another node keeps for an actor comes to this one, where it is started next. An error, if
  /// it is lost, or finds no place there, and the actor cannot do without.
  Task<Result<void>> bring_kept(std::string name, ProcessId node);
  Task<Result<void>> copy_kept(std::string name, ProcessId keeper, ProcessId node);
  /// Whether it cannot do without.
  static bool needs_kept(const Origin& origin);
  /// Where it is started next: elsewhere, if its host is gone or has lost it too often.
  void choose_place(Origin& origin);
  Member* live_node(const std::string& host);
  /// Whether an actor, other than this one, is gone for good.
  bool somebody_is_lost(ProcessId but) const;
  /// Whether it would be started again, were it lost now.
  bool may_come_again(const Member& member) const;
  Task<void> restarting(std::string name);
  void empty_drained();
  /// Whether an actor that is started again may be on another host than a drained one.
  bool has_a_place(Origin& origin);
  std::size_t living_actors_at(const std::string& host) const;
  /// Whether its node keeps memory for somebody who is to come elsewhere.
  bool keeps_for_others(const std::string& host) const;
  /// The node of a host where nobody is any more: by the launcher, or by itself.
  Task<void> end_drained(ProcessId node);
  /// Once an actor is ready on another host than this one: "NAME to HOST".
  Task<Result<std::string>> moved_from(std::string host, std::string name, Time deadline);
  /// Once it is ready on this one.
  Task<Result<std::string>> moved_to(std::string host, std::string name, Time deadline);
  /// Whether an incarnation of this name is to come.
  bool comes_again(const std::string& name) const;
  std::string why_not(const std::string& name) const;

  Bootstrap self_;
  Machine& machine_;
  EndOwnProcess end_process_;
  Contact contact_;
  std::map<ProcessId, Member> members_;
  std::map<std::string, ProcessId> names_;   ///< the latest of each name
  std::map<std::string, Origin> origins_;    ///< of the actors that may be started again
  std::map<std::string, AnyRef> published_;  ///< actors of the launcher's own
  std::map<std::string, std::uint64_t> incarnations_;
  /// Nodes that have not heard of this incarnation yet, or not again; and when the last of them
  /// had.
  std::set<ProcessId> resuming_;
  std::optional<Time> resumed_at_;
  std::vector<JournalEntry> unsaid_;  ///< what the owner is to keep, and has not been asked to yet
  std::uint64_t noted_ = 0;
  std::set<std::uint64_t> unkept_;  ///< of these, what the owner has not said that it keeps
  Condition kept_more_;
  /// Orders to start that are under way, by host; of a host they stay.
  std::map<std::string, ByteWindow> orders_;
  std::set<std::pair<ProcessId, ProcessId>> introducing_;
  std::set<std::pair<ProcessId, ProcessId>> apart_;  // who do not reach each other, the lower first
  /// Of pairs that do again the moment since which that is known from the end that was dialled.
  std::map<std::pair<ProcessId, ProcessId>, Time> over_since_;
  std::uint64_t next_process_ = kFirstIssuedProcess;
  std::set<std::string> drained_;    ///< hosts that are given no more actors
  std::set<std::string> strangers_;  ///< told of in the log: peers that are no part of the run
  Condition changed_;                ///< somebody is ready or dead, or an introduction has ended
  Bytes report_;                     ///< the launcher's
  std::optional<Stopped> stopped_;   ///< all actors have
  bool bringing_ = false;            ///< what a node keeps for an actor comes to another one
  bool faults_allowed_ = false;      ///< to visitors
  bool ends_soon_ = false;
  bool stopping_ = false;
  bool ending_ = false;
};

}  // namespace sterna
