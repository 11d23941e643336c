// Cluster: a run, as the program that starts it sees it. Starts the coordinator, a node per host
// and actors in processes of their own; finds, asks and watches them; stops them all and leaves
// nothing behind, whichever way it ends.
//
//   Cluster cluster(machine, registry, {});
//   if (auto started = cluster.start(); !started) ...
//   auto counter = cluster.spawn<Counter>("counter-0", "counter", CounterArgs{40});
//   auto total = cluster.ask(*counter, Add{2}, 1s);
//
// Plain code between turns of the loop: its calls run the loop until they are answered. Every one
// has a deadline, and ends early when it is interrupted. What asks the run itself (all but ask()
// and read_file()) ends early also when the run has failed; an actor may answer even then.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/actor/process.h"
#include "runtime/actor/registry.h"
#include "runtime/cluster/cluster_messages.h"
#include "runtime/cluster/succession.h"
#include "runtime/host/machine.h"
#include "runtime/message/field_checks.h"
#include "runtime/message/packed_message.h"

namespace sterna {

class ConnectedProcess;
class LauncherActor;

/// A host of the run, and how its processes live there.
struct HostOptions {
  std::string name = "localhost";
  NetworkOptions network = {};
  std::string log_directory = {};             ///< on that host; "~/" is the home there
  std::vector<std::string> environment = {};  ///< "NAME=value", for its actors
  bool spare = false;                         ///< none of the run's until it is added
};

/// Times that are above a year are a year; start() refuses those that no run can work with.
struct ClusterOptions {
  std::string run_name = "run";
  std::uint64_t run = 0;  ///< the run's id; 0: one is drawn
  /// Empty: this one, with the network and the logs of the launcher and the coordinator.
  std::vector<HostOptions> hosts = {};
  std::string head = "localhost";  ///< where the launcher and the coordinator run
  NetworkOptions network;          ///< an empty directory: one is made, and removed at the end
  Duration lease = std::chrono::seconds(10);
  /// How often the coordinator is started again; `times` 0: never.
  RestartBudget coordinator_restarts = {.times = 5};
  /// Of the program that the other processes are, if it is another one; 0: this one's registry's.
  std::uint64_t schema_hash = 0;
  std::vector<Contact> operators = {};  ///< who may look at the run and end it
  Duration heartbeat = std::chrono::milliseconds(500);
  Duration silence = std::chrono::seconds(5);
  /// How long a connection that was lost is dialled again before somebody is given up; 0: not at
  /// all.
  Duration link_patience = std::chrono::seconds(30);
  std::uint64_t slow_link = 0;  ///< LinkOptions::slow_below of all
  Duration grace = std::chrono::seconds(5);
  /// How long the coordinator, a node or an actor may take until it is ready.
  Duration start_deadline = std::chrono::seconds(10);
  std::string log_directory;  ///< one "<name>.log" per process; empty: all to standard error
};

struct ActorSpec {
  std::string name;
  std::string type;
  Bytes args;                         ///< pack()ed
  std::string host = {};              ///< empty: the first
  std::uint32_t compute_threads = 1;  ///< of its executor
  std::vector<std::string> environment = {};
  std::uint64_t memory_limit = 0;  ///< resident bytes; 0: none
  bool args_are_json = false;      ///< args is an object of keys and values
  RestartBudget restart = {};
  std::uint64_t interface_id = 0;  ///< that it must have, else it is ended again; 0: any
  /// Where it is started again once its host is lost, or has lost it twice; the best first. Of
  /// more than 64 the first.
  std::vector<ActorPlace> elsewhere = {};
  /// What is kept for it (KeptMemory) comes along as long as its host lives. Whether it cannot do
  /// without: then it is not started elsewhere once its host is lost.
  bool needs_kept = false;
};

/// How a run ended.
struct StopReport {
  std::uint32_t stopped = 0;    ///< actors' processes that ended, or were not yet connected
  std::uint32_t killed = 0;     ///< actors' processes that SIGKILL ended, mostly after the grace
  std::uint32_t survivors = 0;  ///< processes still found afterwards, and killed then: a defect
};

class Cluster {
 public:
  /// `machine` and `registry` must outlive it.
  /// `placer` starts the nodes and the coordinator; null: all on this machine.
  Cluster(Machine& machine, const Registry& registry, ClusterOptions options,
          Spawner* placer = nullptr);
  /// Stops without grace what still runs.
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// What happened, as it happens, on the loop thread.
  struct Events {
    std::function<void(std::string_view what)> progress = {};  ///< "coordinator ready", ...
    std::function<void(const ProcessDown&)> down = {};
    /// An actor is lost, and does not come again: whether the run goes on without it. Else its
    /// cause may say why not. Where this is set no node's death is the run's by itself.
    std::function<bool(ProcessDown&)> goes_on_without = {};
    std::function<void(const StatusReport&)> status = {};           ///< once a second and node
    std::function<void(const std::string& cause)> end_wanted = {};  ///< by an operator
    /// In place of `down`: it comes again, and on which host.
    std::function<void(const ProcessRestarts&)> restarts = {};
    /// Two do not reach each other and dial; and each lost connection that is back, with how long
    /// that took.
    std::function<void(const LinkTrouble&)> link_trouble = {};
    /// What one sends to another goes slower than ClusterOptions::slow_link; or does no more.
    std::function<void(const LinkPace&)> link_pace = {};
    std::function<void(const FaultInjected&)> fault_injected = {};
    /// The coordinator is there again, and where operators dial it now.
    std::function<void(const Contact&)> coordinator = {};
    std::function<void(const std::string& host)> host_added = {};  ///< by an operator
  };
  void set_events(Events events) { events_ = std::move(events); }

  /// Starts the coordinator and the nodes, once. After an error: stop(), or destroy it. Before it,
  /// and after stop(), what asks the run is answered with unavailable.
  Result<void> start();
  /// Starts actors, all at once as far as they find room on the way (64 MiB), and waits until all
  /// are ready. The first failure is the answer, and the run's, but not_found for a host that the
  /// run does not have: then none has been started.
  Result<std::vector<Started>> start_actors(const std::vector<ActorSpec>& specs);
  /// One actor of a type in the registry, with an interface of I; one with another is ended again.
  /// That it did not start is this caller's error, and no failure of the run. Also actor_down: it
  /// has started, and ended already.
  template <class I, Message Args>
  Result<ActorRef<I>> spawn(const std::string& name, const std::string& type, const Args& args) {
    STERNA_ASSIGN(
        const Started started,
        start_alone(
            {.name = name, .type = type, .args = pack(args), .interface_id = I::type_id()}));
    return started.actor.as<I>();
  }
  /// Waits up to `patience` (a year at most) for the named actor to be ready.
  template <class I>
  Result<ActorRef<I>> find(const std::string& name, Duration patience) {
    patience = std::min(patience, kMostTime);
    STERNA_ASSIGN(Found found, ask_coordinator(Find{name, patience}, patience + kControlDeadline));
    return found.actor.as<I>().in(name);
  }
  /// Asks an actor and waits. That the run has failed does not end it: the actor's answer, or its
  /// own death, says more to who asked. Interrupted, it does.
  template <class I, class M>
  Result<ReplyTo<M>> ask(ActorRef<I> to, M message, Duration deadline) {
    STERNA_TRY(is_there());
    auto future = process().ask(to, std::move(message), deadline);
    run_until([&] { return future.ready() || interrupted(); }, kNever);
    if (!future.ready()) return Error{Errc::cancelled, "interrupted"};
    return future.take();
  }
  /// Gives an actor of this process a name that the run's actors can find, which is like theirs.
  /// Before they start.
  Result<void> publish(const std::string& name, const AnyRef& actor);
  /// Where an operator dials; after start().
  const Contact& coordinator() const { return coordinator_; }
  /// Those who look at the run may inject faults into it.
  void allow_faults();
  /// Answered once the actor suffers it; InjectFault says what may be wrong.
  Future<void> inject(InjectFault fault);
  /// The run shall end soon: nodes that are told to end, too, do not move what they have meanwhile.
  void ends_soon();
  /// What those who look at the run are shown of it.
  void report(Bytes text);
  /// The process id of a node, "node-HOST"; none before start().
  std::optional<ProcessId> process_of(const std::string& node) const;
  /// A piece of a file of the run's folder on the host of a process; also when the run has failed
  /// or was interrupted, and then until it is interrupted again.
  Result<FilePiece> read_file(const ReadFile& question);
  /// What a process has counted about its peers.
  Result<Inspection> inspect(ProcessId process);
  /// Lets a peer that is no part of the run dial the named process; returns where.
  Result<Contact> admit_extra(const std::string& name, const Contact& extra);

  /// Runs the loop; true if `done` came before the deadline.
  bool run_until(const std::function<bool()>& done, Time deadline);
  /// From a signal watcher on the loop: what waits ends as cancelled, and a stop() that waits for
  /// its grace goes on without.
  void interrupt() { ++interrupts_; }
  bool interrupted() const { return interrupts_ > 0; }
  /// The first death that nobody wanted and that no restart makes good, consequences of other
  /// deaths last.
  const std::optional<ProcessDown>& failure() const { return failure_; }
  /// All such deaths, as they were heard of; the first sixteen.
  const std::vector<ProcessDown>& deaths() const { return deaths_; }
  /// A loss that was to be made good is none that can be: it is the run's failure.
  void give_up(const ProcessDown& down) { is_down(down); }
  /// Hosts whose node is gone, though nobody wanted that.
  std::vector<std::string> lost_hosts() const;
  /// Hosts that somebody had emptied.
  const std::vector<std::string>& drained_hosts() const { return drained_hosts_; }
  /// Hosts that are the run's since somebody added them.
  const std::vector<std::string>& added_hosts() const { return added_hosts_; }
  /// Where an actor was started last; empty: nowhere.
  std::string host_of(const std::string& actor) const;

  /// Asks every actor to stop, kills after `grace` (a year at most) what is left, and makes sure of
  /// it. Once. After a failure that follows from another one it first waits a little for that other
  /// one: who loses a peer may be seen to die before the peer.
  StopReport stop(Duration grace);

  /// The launcher's own; between start() and stop() only.
  Process& process();
  Loop& loop() { return machine_.loop(); }
  std::uint64_t run() const { return run_; }
  /// What the run's processes must agree on.
  std::uint64_t schema_hash() const {
    return options_.schema_hash != 0 ? options_.schema_hash : registry_.schema_hash();
  }
  const ClusterOptions& options() const { return options_; }

 private:
  /// unavailable before start() and after stop().
  Result<void> is_there() const;
  Result<Bootstrap> bootstrap_of_launcher();
  Result<void> start_coordinator();
  Result<void> spawn_coordinator();
  void coordinator_listens(const Contact& contact);
  bool coordinator_comes_again(ProcessDown& down);
  void start_coordinator_again(ProcessDown down);
  void wait_for_coordinator(Duration patience);
  Result<void> start_nodes();
  Result<void> start_nodes_of(const std::vector<const HostOptions*>& hosts);
  /// By the coordinator that there is now.
  bool is_ready(const std::string& node);
  void node_is_ready(const std::string& node);
  StartActor order_of(const ActorSpec& spec) const;
  Future<Started> start_actor(StartActor start);
  Result<Started> start_alone(const ActorSpec& spec);
  Result<void> check_host(const ActorSpec& spec) const;
  Result<std::vector<Started>> start_all(const std::vector<ActorSpec>& specs);
  Result<std::vector<Started>> start_at_once(const std::vector<ActorSpec>& specs);
  Result<AddNode> node_wanted(const std::string& host) const;
  void node_came(const std::string& host, ProcessId node);
  template <class T>
  Result<T> wait(Future<T> future) {
    run_until([&] { return future.ready() || failure_ || interrupted(); }, kNever);
    if (future.ready()) return future.take();
    return why_waiting_ended();
  }
  /// The same of the coordinator, or the one that follows it.
  template <class M>
  Result<ReplyTo<M>> ask_coordinator(M message, Duration deadline) {
    STERNA_TRY(is_there());
    while (true) {
      const std::uint64_t losses = process().agent_losses();
      Result<ReplyTo<M>> result =
          wait(process().ask(agent_of<Coordinator>(kCoordinatorProcess), M(message), deadline));
      if (result || !asked_again(result.error(), losses)) return result;
    }
  }
  Error why_waiting_ended() const;
  /// Whether what was asked failed for want of the coordinator alone, and the next one can be
  /// asked; `before`: its losses when it was.
  bool asked_again(const Error& error, std::uint64_t before);
  Bootstrap blank() const;
  void progress(std::string_view what) const;
  void is_down(const ProcessDown& down);

  Machine& machine_;
  const Registry& registry_;
  Spawner& placer_;
  ClusterOptions options_;
  Events events_;
  std::uint64_t run_ = 0;
  bool made_directory_ = false;
  Contact coordinator_;
  std::optional<Succession> succession_;
  bool settled_ = false;          ///< all that was started runs
  std::set<std::string> starts_;  ///< the names of those that are being started
  /// By name, of those whose caller hears what becomes of their start: a death that came meanwhile.
  std::map<std::string, std::optional<ProcessDown>> told_of_starts_;
  bool comes_again_ = false;  ///< the coordinator, and is not there yet
  bool followed_ = true;      ///< it may come again
  std::uint64_t coordinators_lost_ = 0;
  /// Nodes that are not ready yet, and how many coordinators had been lost when they were issued.
  std::map<ProcessId, std::uint64_t> starting_;
  bool faults_allowed_ = false;  ///< to those who look at the run
  Bytes report_;
  std::map<std::string, ProcessId> nodes_;
  std::map<std::string, std::string> places_;  ///< hosts by actor
  std::set<ProcessId> dead_nodes_;
  std::vector<std::string> drained_hosts_;
  std::vector<std::string> added_hosts_;
  std::vector<ProcessDown> node_deaths_;  ///< that nobody wanted
  bool actors_move_ = false;  ///< some may: then a node's death is none of the run's by itself
  std::unique_ptr<ConnectedProcess> connected_;
  LauncherActor* agent_ = nullptr;  ///< owned by the process
  std::optional<ProcessDown> failure_;
  std::vector<ProcessDown> deaths_;
  unsigned interrupts_ = 0;
  bool stopping_ = false;
};

/// One line for a person: "worker-0#1 is dead: killed by SIGKILL".
std::string describe(const ProcessDown& down);

}  // namespace sterna
