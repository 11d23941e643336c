#include "runtime/cluster/cluster.h"

#include <algorithm>
#include <cassert>
#include <csignal>
#include <string_view>

#include "runtime/cluster/connected_process.h"
#include "runtime/cluster/launcher_actor.h"
#include "runtime/cluster/process_control.h"

namespace sterna {

namespace {
/// After a stop, how long the coordinator and the nodes may take to end before they are killed.
constexpr Duration kEndTakes = std::chrono::seconds(2);
/// After SIGKILL.
constexpr Duration kKillTakes = std::chrono::seconds(2);
/// After a death that is another's consequence (an actor's, with its node), that other one's: when
/// a cable is cut, the actors' connections fail before the node has been silent for long enough.
constexpr Duration kCauseFollows = std::chrono::seconds(2);
constexpr std::size_t kMostDeaths = 16;
constexpr std::string_view kNodePrefix = "node-";
}  // namespace

std::string describe(const ProcessDown& down) {
  // Of a process that ended by itself and sent no word, its log says why.
  const ProcessExit exit{down.exit_code, down.signal, false};
  const bool wordless = down.cause == exit.text() && down.signal != SIGKILL;
  return down.identity.text() + (down.wanted ? " has ended: " : " is dead: ") +
         (wordless ? down.full_cause() : down.cause);
}

Cluster::Cluster(Machine& machine, const Registry& registry, ClusterOptions options,
                 Spawner* placer)
    : machine_(machine),
      registry_(registry),
      placer_(placer == nullptr ? machine.spawner() : *placer),
      options_(std::move(options)) {}

Cluster::~Cluster() {
  interrupts_ = 0;
  stop(Duration::zero());
}

Process& Cluster::process() {
  assert(connected_ != nullptr);
  return connected_->process();
}

bool Cluster::run_until(const std::function<bool()>& done, Time deadline) {
  return machine_.loop().run_until(done, deadline);
}

void Cluster::progress(std::string_view what) const {
  if (events_.progress) events_.progress(what);
}

Error Cluster::why_waiting_ended() const {
  if (failure_) return {Errc::actor_down, describe(*failure_)};
  return {Errc::cancelled, "interrupted"};
}

void Cluster::is_down(const ProcessDown& reported) {
  ProcessDown down = reported;
  const bool node = nodes_.contains(down.identity.name);
  // Its exit and the coordinator's word may both come.
  if (node && !dead_nodes_.insert(down.process).second) return;
  const bool drained = node && down.cause == kHostDrained;
  if (drained) drained_hosts_.push_back(down.identity.name.substr(kNodePrefix.size()));
  down.wanted = down.wanted || stopping_ || drained;
  const bool worse = !failure_ || (failure_->consequence && !down.consequence);
  if (node && !down.wanted) node_deaths_.push_back(down);
  const bool may_be_made_good = node && actors_move_ && !failure_;
  if (!down.wanted && worse && !may_be_made_good) failure_ = down;
  if (failure_ && failure_->consequence) {
    // With which host it died.
    const auto cause = std::ranges::find_if(node_deaths_, [&](const ProcessDown& one) {
      return one.identity.name == std::string(kNodePrefix) + failure_->host;
    });
    if (cause != node_deaths_.end()) failure_ = *cause;
  }
  if (!down.wanted && deaths_.size() < kMostDeaths) deaths_.push_back(down);
  if (events_.down) events_.down(down);
}

// ---- starting ----

Bootstrap Cluster::blank() const {
  Bootstrap b;
  b.run = run_;
  b.run_name = options_.run_name;
  b.network = options_.network;
  b.host = options_.head;
  b.lease = options_.lease;
  b.heartbeat = options_.heartbeat;
  b.silence = options_.silence;
  b.link_patience = options_.link_patience;
  b.grace = options_.grace;
  b.log_directory = options_.log_directory;
  return b;
}

Result<Bootstrap> Cluster::bootstrap_of_launcher() {
  run_ = options_.run != 0 ? options_.run : machine_.random().next() | 1;
  if (!options_.network.tcp && options_.network.directory.empty()) {
    STERNA_ASSIGN(options_.network.directory, machine_.make_socket_directory());
    made_directory_ = true;
  }
  if (options_.hosts.empty()) options_.hosts.push_back({options_.head});
  for (HostOptions& host : options_.hosts) {
    // Who says nothing of its network is this host.
    if (host.network.tcp || !host.network.directory.empty()) continue;
    host.network = options_.network;
    if (host.log_directory.empty()) host.log_directory = options_.log_directory;
  }
  Bootstrap self = blank();
  self.kind = ProcessKind::LAUNCHER;
  self.process = kLauncherProcess;
  self.identity = {"launcher", 1};
  STERNA_ASSIGN(self.credentials, machine_.keys().issue());
  return self;
}

Result<void> Cluster::start() {
  STERNA_ASSIGN(const Bootstrap self, bootstrap_of_launcher());
  STERNA_ASSIGN(connected_, ConnectedProcess::make(machine_, self, schema_hash()));
  LauncherActor::Hooks hooks{[this](const ProcessDown& down) { is_down(down); },
                             [this](const StatusReport& report) {
                               if (events_.status) events_.status(report);
                             },
                             [this](const std::string& cause) {
                               if (events_.end_wanted) events_.end_wanted(cause);
                             },
                             [this](const ProcessRestarts& restarts) {
                               places_[restarts.down.identity.name] = restarts.host;
                               if (events_.restarts) events_.restarts(restarts);
                             },
                             [this](const LinkTrouble& trouble) {
                               if (events_.link_trouble) events_.link_trouble(trouble);
                             },
                             [this](const FaultInjected& fault) {
                               if (events_.fault_injected) events_.fault_injected(fault);
                             }};
  const auto agent = process().spawn<LauncherActor>(machine_, process(), placer_, options_.silence,
                                                    std::move(hooks));
  assert(agent.id.local == kAgent);
  agent_ = static_cast<LauncherActor*>(process().find(agent.id.local));
  process().set_on_link_end([this, poster = process().poster(kAgent)](
                                const Contact& peer, const std::string& cause, bool fault) {
    poster.post([this, peer, cause, fault] { agent_->link_ended(peer, cause, fault); });
  });
  report_link_troubles(process());
  process().set_introducer([this, poster = process().poster(kAgent)](ProcessId peer) {
    poster.post([this, peer] { agent_->introduce(peer); });
  });

  STERNA_TRY(start_coordinator(connected_->contact()));
  return start_nodes();
}

Result<void> Cluster::start_coordinator(const Contact& launcher) {
  Bootstrap coordinator = blank();
  coordinator.kind = ProcessKind::COORDINATOR;
  coordinator.process = kCoordinatorProcess;
  coordinator.identity = {"coordinator", 1};
  coordinator.admit = {launcher};
  coordinator.operators = options_.operators;
  STERNA_ASSIGN(coordinator.credentials, machine_.keys().issue());
  const auto contact = std::make_shared<std::optional<Contact>>();
  Result<std::int64_t> pid =
      agent_->children().spawn(coordinator, [contact](const Contact& told) { *contact = told; });
  if (!pid) return std::move(pid).error().in("the coordinator cannot start");
  run_until([&] { return contact->has_value() || failure_ || interrupted(); },
            loop().now() + options_.start_deadline);
  if (failure_ || interrupted()) return why_waiting_ended();
  if (!*contact) return Error{Errc::deadline, "the coordinator was not ready in time"};
  process().set_agent(AnyRef(agent_of<Agent>(kCoordinatorProcess)));
  connected_->links().set_tree_peer(kCoordinatorProcess);
  connected_->links().dial(**contact);
  coordinator_ = **contact;
  progress("coordinator is ready");
  return {};
}

/// All side by side; the first that cannot is the answer.
Result<void> Cluster::start_nodes() {
  const auto coordinator = agent_of<Coordinator>(kCoordinatorProcess);
  std::vector<Future<Bootstrap>> issued;
  for (const HostOptions& host : options_.hosts) {
    issued.push_back(process().ask(
        coordinator, AddNode{host.name, host.network, host.log_directory, host.environment},
        options_.start_deadline));
  }
  std::vector<std::string> names;
  std::vector<Future<Found>> answers;
  for (Future<Bootstrap>& each : issued) {
    STERNA_ASSIGN(const Bootstrap node, wait(std::move(each)));
    Result<std::int64_t> pid = agent_->children().spawn(node);
    if (!pid) return std::move(pid).error().in(node.identity.name + " cannot start");
    names.push_back(node.identity.name);
    nodes_[node.identity.name] = node.process;
    answers.push_back(process().ask(coordinator, Find{node.identity.name, options_.start_deadline},
                                    options_.start_deadline + kControlDeadline));
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    Result<Found> found = wait(std::move(answers[i]));
    if (!found) return std::move(found).error();
    progress(names[i] + " is ready");
  }
  return {};
}

Result<std::vector<Started>> Cluster::start_actors(const std::vector<ActorSpec>& specs) {
  const auto coordinator = agent_of<Coordinator>(kCoordinatorProcess);
  std::vector<Future<Started>> answers;
  answers.reserve(specs.size());
  for (const ActorSpec& spec : specs) {
    if (spec.restart.times > 0) {
      process().tell(coordinator, AllowRestarts{spec.name, spec.restart});
      for (const ActorPlace& place : spec.elsewhere) {
        process().tell(coordinator, AllowMove{spec.name, place.host, place.args,
                                              place.compute_threads, place.environment});
        actors_move_ = true;
      }
    }
    places_[spec.name] = spec.host;
    answers.push_back(
        process().ask(coordinator,
                      StartActor{spec.name, spec.type, spec.args, spec.host, spec.compute_threads,
                                 options_.start_deadline, spec.environment, spec.memory_limit,
                                 spec.args_are_json},
                      options_.start_deadline + kControlDeadline));
  }
  std::vector<Started> started;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    STERNA_ASSIGN(Started one, wait(std::move(answers[i])));
    progress(specs[i].name + " is ready");
    started.push_back(one);
  }
  return started;
}

// ---- looking ----

Result<void> Cluster::publish(const std::string& name, const AnyRef& actor) {
  return wait(process().ask(agent_of<Coordinator>(kCoordinatorProcess), Publish{name, actor},
                            2 * kControlDeadline));
}

void Cluster::allow_faults() {
  process().tell(agent_of<Coordinator>(kCoordinatorProcess), AllowFaults{});
}

Future<void> Cluster::inject(InjectFault fault) {
  return process().ask(agent_of<Coordinator>(kCoordinatorProcess), std::move(fault),
                       2 * kControlDeadline);
}

void Cluster::report(Bytes text) {
  if (connected_ == nullptr || !connected_->links().connected(kCoordinatorProcess)) return;
  process().tell(agent_of<Coordinator>(kCoordinatorProcess), Report{std::move(text)});
}

std::optional<ProcessId> Cluster::process_of(const std::string& node) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Cluster::lost_hosts() const {
  std::vector<std::string> hosts;
  for (const ProcessDown& down : node_deaths_)
    hosts.push_back(down.identity.name.substr(kNodePrefix.size()));
  return hosts;
}

std::string Cluster::host_of(const std::string& actor) const {
  const auto found = places_.find(actor);
  return found == places_.end() ? "" : found->second;
}

Result<FilePiece> Cluster::read_file(const ReadFile& question) {
  if (!connected_->links().connected(kCoordinatorProcess)) {
    return Error{Errc::unavailable, "the coordinator is gone"};  // an ask would wait for it
  }
  // Also of a run that has failed or was interrupted, when logs are wanted most.
  const unsigned interrupts = interrupts_;
  Future<FilePiece> piece =
      process().ask(agent_of<Coordinator>(kCoordinatorProcess), question, 2 * kControlDeadline);
  run_until([&] { return piece.ready() || interrupts_ > interrupts; }, kNever);
  if (!piece.ready()) return Error{Errc::cancelled, "interrupted"};
  return piece.take();
}

Result<Inspection> Cluster::inspect(ProcessId of) {
  if (of == process().id()) return sterna::inspect(connected_->links());
  return wait(
      process().ask(agent_of<Coordinator>(kCoordinatorProcess), Inspect{of}, 2 * kControlDeadline));
}

Result<Contact> Cluster::admit_extra(const std::string& name, const Contact& extra) {
  STERNA_ASSIGN(PeerContact admitted,
                wait(process().ask(agent_of<Coordinator>(kCoordinatorProcess),
                                   AdmitExtra{name, extra}, 2 * kControlDeadline)));
  return admitted.contact;
}

// ---- stopping ----

StopReport Cluster::stop(Duration grace) {
  StopReport report;
  if (stopping_) return report;
  if (failure_ && failure_->consequence) {
    run_until([&] { return !failure_->consequence || interrupted(); },
              loop().now() + options_.silence + kCauseFollows);
  }
  stopping_ = true;
  if (agent_ != nullptr) {
    Children& children = agent_->children();
    children.for_each(
        [&](ProcessId child, const Bootstrap&, std::int64_t, bool) { children.want_end(child); });
    const auto coordinator = agent_of<Coordinator>(kCoordinatorProcess);
    if (connected_->links().connected(kCoordinatorProcess)) {
      const auto shutdown = [&](Duration patience) {
        return process().ask(coordinator, Shutdown{patience}, patience + 2 * kControlDeadline);
      };
      const unsigned interrupts = interrupts_;
      Future<Stopped> answer = shutdown(grace);
      const auto over = [&] { return answer.ready() || !children.contains(kCoordinatorProcess); };
      run_until([&] { return over() || interrupts_ > interrupts; }, kNever);
      if (!over()) answer = shutdown(Duration::zero());
      run_until(over, kNever);
      if (answer.ready()) {
        if (const Result<Stopped> stopped = answer.take(); stopped.ok()) {
          report.stopped = stopped->stopped;
          report.killed = stopped->killed;
        }
      }
      process().tell(coordinator, Stop{});
    } else {
      children.kill_all();  // it only starts, or is dead
    }
    run_until([&] { return children.empty(); }, loop().now() + kEndTakes);
    children.kill_all();
    run_until([&] { return children.empty(); }, loop().now() + kKillTakes);
  }
  report.survivors = static_cast<std::uint32_t>(run_ == 0 ? 0 : machine_.sweep(run_));
  agent_ = nullptr;
  connected_.reset();
  if (made_directory_) machine_.remove_socket_directory(options_.network.directory);
  return report;
}

}  // namespace sterna
