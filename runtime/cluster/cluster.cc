#include "runtime/cluster/cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <csignal>
#include <string_view>
#include <utility>

#include "runtime/base/misuse.h"
#include "runtime/cluster/connected_process.h"
#include "runtime/cluster/launcher_actor.h"
#include "runtime/cluster/process_control.h"

namespace sterna {

namespace {
/// After a stop, how long the coordinator and the nodes may take to end before they are killed.
constexpr Duration kEndTakes = std::chrono::seconds(2);
/// A coordinator that is on its way when the run is stopped; then it is stopped without.
constexpr Duration kComesAgainWithin = std::chrono::seconds(3);
/// After SIGKILL.
constexpr Duration kKillTakes = std::chrono::seconds(2);
/// After a death that is another's consequence (an actor's, with its node), that other one's: when
/// a cable is cut, the actors' connections fail before the node has been silent for long enough.
constexpr Duration kCauseFollows = std::chrono::seconds(2);
constexpr std::size_t kMostDeaths = 16;

AddNode node_of(const HostOptions& host) {
  return {host.name, host.network, host.log_directory, host.environment};
}

/// For ever is as long as a message can say.
RestartBudget as_sent(RestartBudget budget) {
  budget.within = std::min(budget.within, kMostTime);
  budget.backoff = std::min(budget.backoff, kMostTime);
  return budget;
}

ClusterOptions as_sent(ClusterOptions options) {
  for (Duration* each : {&options.lease, &options.heartbeat, &options.silence,
                         &options.link_patience, &options.grace, &options.start_deadline}) {
    *each = std::min(*each, kMostTime);
  }
  options.coordinator_restarts = as_sent(options.coordinator_restarts);
  return options;
}

std::string hosts_text(const ClusterOptions& options) {
  std::vector<std::string_view> names;
  for (const HostOptions& host : options.hosts) names.emplace_back(host.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

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
      options_(as_sent(std::move(options))) {}

Cluster::~Cluster() {
  interrupts_ = 0;
  stop(Duration::zero());
}

Process& Cluster::process() {
  if (connected_ == nullptr)
    misuse("process() of a Cluster that is not between start() and stop()");
  return connected_->process();
}

Result<void> Cluster::is_there() const {
  if (connected_ != nullptr && agent_ != nullptr) return {};
  if (connected_ != nullptr && failure_) return Error{Errc::unavailable, failure_->cause};
  return Error{Errc::unavailable, stopping_ ? "the run has been stopped"
                                            : "the run has not been started: call start() first"};
}

bool Cluster::run_until(const std::function<bool()>& done, Time deadline) {
  return machine_.loop().run_until(done, deadline);
}

void Cluster::progress(std::string_view what) const {
  if (events_.progress) events_.progress(what);
}

bool Cluster::asked_again(const Error& error, std::uint64_t before) {
  return error.code == Errc::actor_down && !failure_ && succession_ &&
         process().agent_losses() != before;
}

Error Cluster::why_waiting_ended() const {
  if (failure_) return {Errc::actor_down, describe(*failure_)};
  return {Errc::cancelled, "interrupted"};
}

void Cluster::is_down(const ProcessDown& reported) {
  ProcessDown down = reported;
  if (down.process == kCoordinatorProcess && coordinator_comes_again(down)) return;
  const bool node = nodes_.contains(down.identity.name);
  // It knew only a coordinator that was lost: another one takes its place.
  const auto starting = starting_.find(down.process);
  if (starting != starting_.end() && starting->second != coordinators_lost_) return;
  // Its exit and the coordinator's word may both come.
  if (node && !dead_nodes_.insert(down.process).second) return;
  const bool drained = node && down.cause == kHostDrained;
  const bool newest = node && nodes_.at(down.identity.name) == down.process;
  if (drained && newest) drained_hosts_.push_back(down.identity.name.substr(kNodePrefix.size()));
  down.wanted = down.wanted || stopping_ || drained;
  if (newest && !down.wanted) node_deaths_.push_back(down);
  const auto told = told_of_starts_.find(down.identity.name);
  if (told != told_of_starts_.end() && !down.wanted) {
    told->second = down;
    return;
  }
  const bool runs = settled_ || (!node && !starts_.contains(down.identity.name));
  const bool may_do_without = events_.goes_on_without && runs && !failure_ && !down.wanted;
  if (may_do_without && !node && events_.goes_on_without(down)) return;
  const bool worse = !failure_ || (failure_->consequence && !down.consequence);
  const bool may_be_made_good = node && !failure_ && (actors_move_ || may_do_without);
  if (!down.wanted && worse && !may_be_made_good) failure_ = down;
  if (failure_ && failure_->consequence) {
    // With which host it died.
    const auto cause = std::ranges::find_if(node_deaths_, [&](const ProcessDown& one) {
      return one.identity.name == node_name(failure_->host);
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
  b.slow_link = options_.slow_link;
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
  // All processes are told the same, and would refuse to read what they cannot live with.
  if (const Result<Bootstrap> told = unpack<Bootstrap>(pack(self).view()); !told) {
    return Error{Errc::invalid_argument, "ClusterOptions: " + told.error().message};
  }
  return self;
}

Result<void> Cluster::start() {
  if (stopping_) return Error{Errc::unavailable, "the run has been stopped"};
  if (connected_ != nullptr) return Error{Errc::already_exists, "the run has been started"};
  STERNA_ASSIGN(const Bootstrap self, bootstrap_of_launcher());
  STERNA_ASSIGN(connected_, ConnectedProcess::make(machine_, self, schema_hash()));
  LauncherActor::Hooks hooks{
      [this](const ProcessDown& down) { is_down(down); },
      [this](const StatusReport& report) {
        if (events_.status) events_.status(report);
      },
      [this](const std::string& cause) {
        if (events_.end_wanted) events_.end_wanted(cause);
      },
      [this](const ProcessRestarts& restarts) {
        if (starting_.contains(restarts.down.process)) return;  // a node that never was
        places_[restarts.down.identity.name] = restarts.host;
        if (events_.restarts) events_.restarts(restarts);
      },
      [this](const LinkTrouble& trouble) {
        if (events_.link_trouble) events_.link_trouble(trouble);
      },
      [this](const LinkPace& pace) {
        if (events_.link_pace) events_.link_pace(pace);
      },
      [this](const FaultInjected& fault) {
        if (events_.fault_injected) events_.fault_injected(fault);
      },
      [this](Note note) { succession_->note(std::move(note)); },
      [this](const std::string& host) { return node_wanted(host); },
      [this](const std::string& host, ProcessId node) { node_came(host, node); }};
  const auto agent = process().spawn<LauncherActor>(machine_, process(), placer_, options_.silence,
                                                    std::move(hooks));
  assert(agent.id.local == kAgent);
  agent_ = static_cast<LauncherActor*>(process().find(agent.id.local));
  process().set_on_death([this](LocalId dead, const std::string& cause) {
    // Whoever else has failed in this process does a part of the run's work: nobody else would.
    if (dead != kAgent && cause.empty()) return;
    if (dead == kAgent) agent_ = nullptr;
    if (failure_) return;
    failure_.emplace();
    failure_->process = kLauncherProcess;
    failure_->identity = {"launcher", 1};
    failure_->cause = cause;
  });
  process().set_on_link_end([this, poster = process().poster(kAgent)](
                                const Contact& peer, const std::string& cause, bool fault) {
    poster.post([this, peer, cause, fault] { agent_->link_ended(peer, cause, fault); });
  });
  report_link_troubles(process());
  process().set_introducer([this, poster = process().poster(kAgent)](ProcessId peer) {
    poster.post([this, peer] { agent_->introduce(peer); });
  });

  STERNA_TRY(start_coordinator());
  STERNA_TRY(start_nodes());
  if (faults_allowed_) allow_faults();
  settled_ = true;
  return {};
}

Result<void> Cluster::start_coordinator() {
  succession_.emplace(machine_.keys(), options_.coordinator_restarts, options_.lease);
  process().set_agent(AnyRef(agent_of<Agent>(kCoordinatorProcess)));
  connected_->links().set_tree_peer(kCoordinatorProcess);
  STERNA_TRY(spawn_coordinator());
  run_until([&] { return !coordinator_.identity.name.empty() || failure_ || interrupted(); },
            loop().now() + options_.start_deadline);
  if (failure_ || interrupted()) return why_waiting_ended();
  if (coordinator_.identity.name.empty()) {
    return Error{Errc::deadline, "the coordinator was not ready in time"};
  }
  progress("coordinator is ready");
  return {};
}

/// The next incarnation of it.
Result<void> Cluster::spawn_coordinator() {
  Bootstrap coordinator = blank();
  coordinator.kind = ProcessKind::COORDINATOR;
  coordinator.process = kCoordinatorProcess;
  coordinator.admit = {connected_->contact()};
  coordinator.operators = options_.operators;
  STERNA_TRY(succession_->equip(coordinator));
  Result<std::int64_t> pid = agent_->children().spawn(
      coordinator, [this](const Contact& contact) { coordinator_listens(contact); });
  if (!pid) return std::move(pid).error().in("the coordinator cannot start");
  return {};
}

void Cluster::coordinator_listens(const Contact& contact) {
  coordinator_ = contact;
  connected_->links().dial(contact);
  if (!std::exchange(comes_again_, false)) return;
  // What it forgot, and nobody else told it.
  if (faults_allowed_) allow_faults();
  const auto coordinator = agent_of<Coordinator>(kCoordinatorProcess);
  if (!report_.empty()) process().tell(coordinator, Report{report_});
  progress("coordinator is ready again");
  if (events_.coordinator) events_.coordinator(contact);
}

/// Whether the next one is started. One that ended by itself had a reason.
bool Cluster::coordinator_comes_again(ProcessDown& down) {
  if (stopping_ || failure_ || !followed_ || down.signal == 0) return false;
  const std::optional<Duration> pause = succession_->pause_after(down, loop().now());
  if (!pause) return false;
  down.host = options_.head;
  comes_again_ = true;
  ++coordinators_lost_;
  if (events_.restarts) events_.restarts({down, options_.head});
  agent_->after(*pause, [this, down] { start_coordinator_again(down); });
  return true;
}

void Cluster::start_coordinator_again(ProcessDown down) {
  if (stopping_ || failure_) return;
  if (const Result<void> spawned = spawn_coordinator(); !spawned) {
    comes_again_ = false;
    down.cause = "it could not be started again: " + spawned.error().message;
    followed_ = false;
    return is_down(down);
  }
  agent_->after(options_.start_deadline, [this, awaited = down.identity.incarnation + 1] {
    if (stopping_ || !comes_again_ || coordinator_.identity.incarnation >= awaited) return;
    agent_->children().condemn(kCoordinatorProcess, "it was not ready in time");
  });
}

void Cluster::wait_for_coordinator(Duration patience) {
  const auto is_there = [&] { return connected_->links().connected(kCoordinatorProcess); };
  const auto may_be = [&] {
    return comes_again_ || agent_->children().contains(kCoordinatorProcess);
  };
  if (agent_ == nullptr || is_there() || !may_be() || !followed_) return;
  const unsigned interrupts = interrupts_;
  run_until([&] { return is_there() || !may_be() || interrupts_ > interrupts; },
            loop().now() + patience);
}

Result<AddNode> Cluster::node_wanted(const std::string& host) const {
  if (stopping_ || failure_) return Error{Errc::unavailable, "the run is ending"};
  if (!settled_) return Error{Errc::unavailable, "the run is only starting: ask again"};
  const auto found = std::ranges::find(options_.hosts, host, &HostOptions::name);
  if (found != options_.hosts.end()) return node_of(*found);
  return Error{Errc::not_found, fmt::format("the run's file has no host \"{}\"; it has {}", host,
                                            hosts_text(options_))};
}

void Cluster::node_came(const std::string& host, ProcessId node) {
  const std::string name = node_name(host);
  nodes_[name] = node;
  std::erase(drained_hosts_, host);
  std::erase_if(node_deaths_, [&](const ProcessDown& down) { return down.identity.name == name; });
  if (std::ranges::find(added_hosts_, host) == added_hosts_.end()) added_hosts_.push_back(host);
  if (events_.host_added) events_.host_added(host);
}

/// All side by side; the first that cannot is the answer. Where the coordinator is lost, those that
/// the next one does not know to be ready begin anew.
Result<void> Cluster::start_nodes() {
  std::vector<const HostOptions*> hosts;
  for (const HostOptions& host : options_.hosts) {
    if (!host.spare) hosts.push_back(&host);
  }
  while (true) {
    const std::uint64_t losses = process().agent_losses();
    Result<void> began = start_nodes_of(hosts);
    if (began || !asked_again(began.error(), losses)) return began;
    std::erase_if(hosts, [&](const HostOptions* host) { return is_ready(node_name(host->name)); });
    for (const auto& [node, lost_before] : starting_) {
      agent_->children().condemn(node, std::string(kStartUnknown));
    }
  }
}

Result<void> Cluster::start_nodes_of(const std::vector<const HostOptions*>& hosts) {
  const auto coordinator = agent_of<Coordinator>(kCoordinatorProcess);
  std::vector<Future<Bootstrap>> issued;
  issued.reserve(hosts.size());
  for (const HostOptions* host : hosts) {
    issued.push_back(process().ask(coordinator, node_of(*host), options_.start_deadline));
  }
  std::vector<std::string> names;
  std::vector<Future<Found>> answers;
  for (Future<Bootstrap>& each : issued) {
    STERNA_ASSIGN(const Bootstrap node, wait(std::move(each)));
    Result<std::int64_t> pid = agent_->children().spawn(node);
    if (!pid) return std::move(pid).error().in(node.identity.name + " cannot start");
    names.push_back(node.identity.name);
    nodes_[node.identity.name] = node.process;
    starting_[node.process] = coordinators_lost_;
    answers.push_back(process().ask(coordinator, Find{node.identity.name, options_.start_deadline},
                                    options_.start_deadline + kControlDeadline));
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    Result<Found> found = wait(std::move(answers[i]));
    if (!found) return std::move(found).error();
    node_is_ready(names[i]);
  }
  return {};
}

bool Cluster::is_ready(const std::string& node) {
  if (!nodes_.contains(node)) return false;
  if (!starting_.contains(nodes_[node])) return true;
  const Result<Found> found =
      ask_coordinator(Find{node, Duration::zero()}, options_.start_deadline);
  if (!found || found->actor.id.process != nodes_[node]) return false;
  node_is_ready(node);
  return true;
}

void Cluster::node_is_ready(const std::string& node) {
  starting_.erase(nodes_[node]);
  progress(node + " is ready");
}

StartActor Cluster::order_of(const ActorSpec& spec) const {
  StartActor start{spec.name,
                   spec.type,
                   spec.args,
                   spec.host,
                   spec.compute_threads,
                   options_.start_deadline,
                   spec.environment,
                   spec.memory_limit,
                   spec.args_are_json};
  start.interface_id = spec.interface_id;
  if (spec.restart.times == 0) return start;
  start.restart = as_sent(spec.restart);
  const std::size_t places = std::min(spec.elsewhere.size(), StartActor::kMostPlaces);
  start.elsewhere.assign(spec.elsewhere.begin(),
                         spec.elsewhere.begin() + static_cast<std::ptrdiff_t>(places));
  start.needs_kept = spec.needs_kept;
  return start;
}

Future<Started> Cluster::start_actor(StartActor start) {
  return process().ask(agent_of<Coordinator>(kCoordinatorProcess), std::move(start),
                       options_.start_deadline + kControlDeadline);
}

Result<Started> Cluster::start_alone(const ActorSpec& spec) {
  told_of_starts_[spec.name].reset();
  Result<std::vector<Started>> started = start_all({spec});
  // Of one that did not start word of its death may be still to come; of who has the name, and was
  // started before, it is the run's.
  const bool taken = !started && started.error().code == Errc::already_exists;
  if (!started && !taken) return std::move(started).error();
  const std::optional<ProcessDown> down = told_of_starts_.extract(spec.name).mapped();
  if (down) is_down(*down);
  if (taken) return std::move(started).error();
  if (!started->front().actor.id) {
    return Error{Errc::actor_down, spec.name + " has ended already"};
  }
  return started->front();
}

Result<std::vector<Started>> Cluster::start_actors(const std::vector<ActorSpec>& specs) {
  for (const ActorSpec& spec : specs) told_of_starts_.erase(spec.name);
  return start_all(specs);
}

/// Before anything is told the coordinator, which takes an actor that cannot start for the run's
/// failure.
Result<void> Cluster::check_host(const ActorSpec& spec) const {
  if (spec.host.empty() || nodes_.contains(node_name(spec.host))) return {};
  const bool spare =
      std::ranges::find(options_.hosts, spec.host, &HostOptions::name) != options_.hosts.end();
  const std::string why =
      spare ? "is not added to the run"
            : fmt::format("is none of the run's, which are {}", hosts_text(options_));
  return Error{Errc::not_found,
               fmt::format("{} cannot start: host \"{}\" {}", spec.name, spec.host, why)};
}

Result<std::vector<Started>> Cluster::start_all(const std::vector<ActorSpec>& specs) {
  STERNA_TRY(is_there());
  for (const ActorSpec& spec : specs) STERNA_TRY(check_host(spec));
  const bool settled = std::exchange(settled_, false);
  for (const ActorSpec& spec : specs) starts_.insert(spec.name);
  Result<std::vector<Started>> started = start_at_once(specs);
  settled_ = settled || started.ok();
  starts_.clear();
  return started;
}

/// As many at once as find room on the way.
Result<std::vector<Started>> Cluster::start_at_once(const std::vector<ActorSpec>& specs) {
  std::uint64_t losses = process().agent_losses();
  const std::uint64_t most = process().options().link.most_under_way();
  std::uint64_t under_way = 0;
  std::vector<Future<Started>> answers;
  answers.reserve(specs.size());
  std::vector<Started> started;
  while (started.size() < specs.size()) {
    const std::size_t i = started.size();
    while (answers.size() < specs.size()) {
      const ActorSpec& spec = specs[answers.size()];
      StartActor start = order_of(spec);
      const std::uint64_t bytes = start.bytes();
      if (under_way > 0 && under_way + bytes > most) break;
      under_way += bytes;
      places_[spec.name] = spec.host;
      actors_move_ = actors_move_ || !start.elsewhere.empty();
      answers.push_back(start_actor(std::move(start)));
    }
    Result<Started> one = wait(std::move(answers[i]));
    if (one) {
      progress(specs[i].name + " is ready");
      started.push_back(*one);
      under_way -= order_of(specs[i]).bytes();
      continue;
    }
    if (!asked_again(one.error(), losses)) return std::move(one).error();
    // Of the others those that were lost with it have ended; some may have been asked since.
    losses = process().agent_losses();
    for (std::size_t j = i; j < answers.size(); ++j) {
      if (j != i && !answers[j].ready()) continue;
      StartActor again = order_of(specs[j]);
      again.again = true;
      answers[j] = start_actor(std::move(again));
    }
  }
  return started;
}

// ---- looking ----

Result<void> Cluster::publish(const std::string& name, const AnyRef& actor) {
  return ask_coordinator(Publish{name, actor}, 2 * kControlDeadline);
}

void Cluster::allow_faults() {
  faults_allowed_ = true;
  if (is_there()) process().tell(agent_of<Coordinator>(kCoordinatorProcess), AllowFaults{});
}

void Cluster::ends_soon() {
  if (is_there()) process().tell(agent_of<Coordinator>(kCoordinatorProcess), EndsSoon{});
}

Future<void> Cluster::inject(InjectFault fault) {
  if (Result<void> there = is_there(); !there) return Future<void>(std::move(there).error());
  return process().ask(agent_of<Coordinator>(kCoordinatorProcess), std::move(fault),
                       2 * kControlDeadline);
}

void Cluster::report(Bytes text) {
  report_ = std::move(text);
  if (connected_ == nullptr || !connected_->links().connected(kCoordinatorProcess)) return;
  process().tell(agent_of<Coordinator>(kCoordinatorProcess), Report{report_});
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
  STERNA_TRY(is_there());
  wait_for_coordinator(kComesAgainWithin);
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
  STERNA_TRY(is_there());
  if (of == process().id()) return sterna::inspect(connected_->links());
  return ask_coordinator(Inspect{of}, 2 * kControlDeadline);
}

Result<Contact> Cluster::admit_extra(const std::string& name, const Contact& extra) {
  STERNA_ASSIGN(PeerContact admitted,
                ask_coordinator(AdmitExtra{name, extra}, 2 * kControlDeadline));
  return admitted.contact;
}

// ---- stopping ----

StopReport Cluster::stop(Duration grace) {
  StopReport report;
  if (stopping_) return report;
  grace = std::clamp(grace, Duration::zero(), kMostTime);
  if (failure_ && failure_->consequence) {
    run_until([&] { return !failure_->consequence || interrupted(); },
              loop().now() + options_.silence + kCauseFollows);
  }
  // Who is on its way can end the run politely.
  if (grace > Duration::zero() && agent_ != nullptr) wait_for_coordinator(kComesAgainWithin);
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
