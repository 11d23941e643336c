#include "launcher/doctor/host_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "launcher/doctor/checks.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/probe/probe_messages.h"
#include "launcher/probe/prober.h"
#include "runtime/message/packed_message.h"
#include "runtime/remote/remote_placer.h"

namespace sterna::launcher {
namespace {

constexpr std::uint32_t kPings = 20;
constexpr std::uint32_t kLoads = 16;
constexpr std::uint32_t kLoadBytes = 1U << 20;
/// A connection that nobody answers is given up by its transport earlier.
constexpr Duration kStepTakes = std::chrono::seconds(10);
/// Of a host while it probes: its node agent and its two probers.
constexpr std::int64_t kProbingProcesses = 3;
/// On the machine of the coordinator, beside it the launcher.
constexpr std::int64_t kHeadProcesses = 2;
/// Probers have nothing to finish.
constexpr Duration kGrace = std::chrono::seconds(1);

constexpr std::string_view kNode = "node-";

/// A folder that is ours; empty where there can be none.
std::string new_folder() {
  std::string path = (std::filesystem::temp_directory_path() / "sterna-doctor-XXXXXX").string();
  return ::mkdtemp(path.data()) == nullptr ? "" : path;
}

}  // namespace

struct HostProbe::Prober {
  std::string host;
  std::string prefix;
  int attempts = 0;
  std::optional<ActorRef<ProberInterface>> actor;
  std::string trouble;  ///< why there is none
  std::string name() const { return fmt::format("{}-{}-{}", prefix, host, attempts); }
};

HostProbe::HostProbe(RealMachine& machine, const Registry& registry, HostProbeOptions options,
                     DoctorReport& report)
    : machine_(machine),
      options_(std::move(options)),
      report_(report),
      logs_(new_folder()),
      registry_(registry) {
  machine_.set_log([](std::string_view) {});
  head_elsewhere_ = head_is_remote(options_.file);
  if (head_elsewhere_) options_.file.cluster.head.clear();
}

HostProbe::~HostProbe() {
  cluster_.reset();
  machine_.set_log(log_to_stderr);
  std::error_code ignored;
  if (!logs_.empty()) std::filesystem::remove_all(logs_, ignored);
}

void HostProbe::interrupt() {
  interrupted_ = true;
  if (cluster_) cluster_->interrupt();
}

void HostProbe::find(const std::string& host, const std::string& check, const std::string& wrong,
                     const std::string& fix) {
  report_.findings.push_back({host, check, wrong, fix});
}

std::string HostProbe::range() const {
  const auto& ports = options_.file.cluster.ports;
  return ports ? fmt::format("{}-{}", ports->low, ports->high) : "any port";
}

void HostProbe::run() {
  if (const std::int64_t least = least_ports(); least > 0) {
    report_.probed = fmt::format(
        "the hosts did not probe each other, for which cluster.ports would have to hold {}", least);
    return;
  }
  start_on_whoever_can();
  if (cluster_ && !options_.file.hosts.empty() && !interrupted_) probe();
  if (cluster_) cluster_->stop(interrupted_ ? Duration::zero() : kGrace);
  report_.probed = fmt::format("{} of {} hosts probed each other", options_.file.hosts.size(),
                               report_.hosts.size());
  if (head_elsewhere_) report_.probed += ", with a coordinator here instead of on the head";
  if (!too_far_.empty()) {
    report_.probed +=
        fmt::format("; not {}, which did not reach this machine (a run with this head need not)",
                    fmt::join(too_far_, ", "));
  }
}

/// How many ports the probes take on one machine; 0: there are so many.
std::int64_t HostProbe::least_ports() const {
  const auto& ports = options_.file.cluster.ports;
  if (!ports) return 0;
  const auto& hosts = options_.file.hosts;
  const auto here = std::count_if(hosts.begin(), hosts.end(), [this](const HostSection& host) {
    return !is_remote(options_.file, host);
  });
  const std::int64_t processes =
      here == 0 ? kProbingProcesses : here * kProbingProcesses + kHeadProcesses;
  const std::int64_t least = processes * kPortsPerProcess;
  return ports->high - ports->low + 1 >= least ? 0 : least;
}

// ---- the run ----

/// A host that does not come is told of, and left out; the others are probed without it.
void HostProbe::start_on_whoever_can() {
  while (!options_.file.hosts.empty() && !interrupted_) {
    const std::optional<Error> error = start();
    if (!error || interrupted_) return;
    if (cluster_) cluster_->stop(Duration::zero());
    if (!give_up_hosts(*error)) {
      report_.findings.push_back(finding_of("(here)", "start", error->message));
      options_.file.hosts.clear();
    }
  }
}

std::optional<Error> HostProbe::start() {
  cluster_.reset();
  lost_.clear();
  options_.console.say(fmt::format("starting a run of our own on {} host{}",
                                   options_.file.hosts.size(),
                                   options_.file.hosts.size() == 1 ? "" : "s"));
  Result<ClusterOptions> how = cluster_options_of(options_.file, logs_, "doctor");
  if (!how) return how.error();
  // What a prober says on another machine comes back over ssh; nothing of it stays there.
  for (std::size_t i = 0; i < how->hosts.size(); ++i) {
    if (is_remote(options_.file, options_.file.hosts[i])) how->hosts[i].log_directory.clear();
  }
  auto placer = std::make_unique<RemotePlacer>(
      machine_.loop(), machine_.spawner(),
      placer_options_of(options_.file, options_.bundle,
                        [this](std::string_view line) { options_.console.say(line); }));
  // All of them, whoever fails first: what one had received would be sent to it again.
  lost_ = placer->prepare_each([this] { return interrupted_; });
  if (interrupted_) return Error{Errc::cancelled, "interrupted"};
  if (!lost_.empty()) return Error{Errc::unavailable, lost_.begin()->second};
  placer_ = std::move(placer);
  cluster_.emplace(machine_, registry_, std::move(how).value(), placer_.get());
  Cluster::Events events;
  events.down = [this](const ProcessDown& down) {
    if (down.wanted || !down.identity.name.starts_with(kNode)) return;
    lost_.emplace(down.identity.name.substr(kNode.size()), down.full_cause());
  };
  cluster_->set_events(std::move(events));
  const Result<void> started = cluster_->start();
  if (started) return std::nullopt;
  return started.error();
}

/// False if none of them is to blame.
bool HostProbe::give_up_hosts(const Error& error) {
  std::vector<HostSection>& hosts = options_.file.hosts;
  for (const HostSection& host : hosts) {
    const bool named = error.message.find(fmt::format("{}{} ", kNode, host.name)) !=
                       std::string::npos;  // "node-b is not ready yet"
    if (lost_.empty() && named) lost_.emplace(host.name, error.message);
  }
  for (const HostSection& host : hosts) {
    const auto lost = lost_.find(host.name);
    if (lost == lost_.end()) continue;
    const std::string& why = lost->second;
    if (!cluster_ || why.find("coordinator") == std::string::npos) {
      report_.findings.push_back(finding_of(host.name, "start", why));
    } else if (head_elsewhere_) {
      too_far_.push_back(host.name);
    } else {
      find(host.name, "reach",
           fmt::format("{} cannot reach this machine, where the coordinator is, at {}: {}",
                       host.name, cluster_->coordinator().control_endpoint, why),
           open_ports("", host));
    }
  }
  return std::erase_if(hosts, [&](const HostSection& host) { return lost_.contains(host.name); }) >
         0;
}

// ---- the probes ----

void HostProbe::probe() {
  const std::vector<HostSection>& hosts = options_.file.hosts;
  std::vector<Prober*> all;
  for (const HostSection& host : hosts) {
    // In the order of these names they dial.
    dialling_.push_back(std::make_unique<Prober>(Prober{host.name, "probes", 0, {}, {}}));
    dialled_.push_back(std::make_unique<Prober>(Prober{host.name, "waits", 0, {}, {}}));
    all.push_back(dialling_.back().get());
    all.push_back(dialled_.back().get());
  }
  start_probers(all);
  for (const Prober* prober : all) {
    const auto known = [&](const Finding& finding) {
      return finding.host == prober->host && !finding.hint;
    };
    if (prober->actor || interrupted_ ||
        std::any_of(report_.findings.begin(), report_.findings.end(), known)) {
      continue;
    }
    report_.findings.push_back(finding_of(prober->host, "start", prober->trouble));
  }
  count_ports();
  // In each round every host dials one other and is dialled by one other.
  for (std::size_t shift = 1; shift < hosts.size() && !interrupted_; ++shift) {
    options_.console.say(
        fmt::format("hosts probe each other: round {} of {}", shift, hosts.size() - 1));
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < hosts.size(); ++i) pairs.push_back({i, (i + shift) % hosts.size()});
    probe_pairs(pairs);
  }
}

void HostProbe::start_probers(const std::vector<Prober*>& probers) {
  std::vector<std::pair<Prober*, Future<Started>>> starting;
  const Duration patience = options_.file.deadlines.start;
  for (Prober* prober : probers) {
    if (prober->actor) continue;
    ++prober->attempts;
    StartActor start;
    start.name = prober->name();
    start.type = kProberType;
    start.args = pack(ProberArgs{});
    start.host = prober->host;
    start.patience = patience;
    starting.emplace_back(prober,
                          cluster_->process().ask(agent_of<Coordinator>(kCoordinatorProcess),
                                                  std::move(start), patience + kControlDeadline));
  }
  for (auto& [prober, answer] : starting) {
    // clang 14 captures no structured bindings.
    cluster_->run_until([this, &waited = answer] { return waited.ready() || interrupted_; },
                        kNever);
    if (interrupted_) return;
    const Result<Started> started = answer.take();
    const auto actor = started ? started->actor.as<ProberInterface>()
                               : Result<ActorRef<ProberInterface>>(started.error());
    if (actor) {
      prober->actor = *actor;
    } else {
      prober->trouble = actor.error().message;
    }
  }
}

void HostProbe::count_ports() {
  const auto& ports = options_.file.cluster.ports;
  if (!ports) return;
  for (std::size_t i = 0; i < dialled_.size() && !interrupted_; ++i) {
    const HostSection& host = options_.file.hosts[i];
    if (!dialled_[i]->actor) continue;
    Future<PortsCounted> answer = cluster_->process().ask(
        *dialled_[i]->actor, CountPorts{host.bind, ports->low, ports->high}, kStepTakes);
    cluster_->run_until([&] { return answer.ready() || interrupted_; }, kNever);
    if (interrupted_) return;
    const Result<PortsCounted> counted = answer.take();
    if (!counted) continue;
    // Ours are free again when the real run comes.
    const bool with_coordinator = !is_remote(options_.file, host);
    const std::int64_t ours =
        (kProbingProcesses + (with_coordinator ? kHeadProcesses : 0)) * kPortsPerProcess;
    const std::int64_t free =
        std::min<std::int64_t>(counted->free + ours, ports->high - ports->low + 1);
    const std::int64_t needed = processes_on(options_.file, host) * kPortsPerProcess;
    const auto known = [&](const Finding& finding) {
      return finding.host == host.name && finding.check == "ports";
    };
    if (free >= needed || std::any_of(report_.findings.begin(), report_.findings.end(), known)) {
      continue;
    }
    find(host.name, "ports",
         fmt::format("of the ports {} {} can be bound and its processes need {}", range(), free,
                     needed),
         "widen cluster.ports, or stop what holds them: ss -tnp");
  }
}

void HostProbe::probe_pairs(const std::vector<Pair>& pairs) {
  std::vector<Prober*> needed;
  for (const Pair& pair : pairs) {
    needed.push_back(dialling_[pair.from].get());
    needed.push_back(dialled_[pair.to].get());
  }
  start_probers(needed);
  std::vector<std::pair<Pair, Future<PeerProbed>>> asked;
  for (const Pair& pair : pairs) {
    Prober& from = *dialling_[pair.from];
    Prober& to = *dialled_[pair.to];
    if (interrupted_) return;
    if (!from.actor || !to.actor) continue;
    const std::uint32_t loads = options_.bandwidth ? kLoads : 0;
    ProbePeer probe{to.name(), kPings, loads, kLoadBytes, kStepTakes};
    const Duration patience = kStepTakes * (2 + loads) + kControlDeadline;
    asked.emplace_back(pair, cluster_->process().ask(*from.actor, std::move(probe), patience));
  }
  for (auto& [pair, answer] : asked) {
    // clang 14 captures no structured bindings.
    cluster_->run_until([this, &waited = answer] { return waited.ready() || interrupted_; },
                        kNever);
    if (interrupted_) return;
    const HostSection& from = options_.file.hosts[pair.from];
    const HostSection& to = options_.file.hosts[pair.to];
    const Result<PeerProbed> probed = answer.take();
    if (probed) {
      constexpr double kMega = 1e6;
      RoundTrip& trip = report_.round_trips.emplace_back(RoundTrip{from.name, to.name, 0, {}});
      trip.microseconds = std::chrono::duration<double, std::micro>(probed->round_trip).count();
      if (options_.bandwidth) trip.megabytes_per_second = probed->bytes_per_second / kMega;
      continue;
    }
    not_reached(from, to, probed.error().message);
    // A process whose peer lost it is ended: others take their places.
    dialling_[pair.from]->actor.reset();
    dialled_[pair.to]->actor.reset();
  }
}

void HostProbe::not_reached(const HostSection& from, const HostSection& to,
                            const std::string& why) {
  // The transport spells the port in a way of its own.
  constexpr std::string_view kNobody = "nobody answers";
  const bool silent = why.find(kNobody) != std::string::npos;
  find(from.name, "reach",
       fmt::format("{} cannot reach {} at {}:{}: {}", from.name, to.name, to.address, range(),
                   silent ? kNobody : std::string_view(why)),
       open_ports(to.ssh.empty() ? "" : fmt::format("ssh {} ", to.ssh), from));
}

/// On the machine whose commands begin so.
std::string HostProbe::open_ports(const std::string& there, const HostSection& from) const {
  const auto& ports = options_.file.cluster.ports;
  if (!ports) return "choose cluster.ports, and open them between the hosts";
  return fmt::format(
      "open these ports between them: {}sudo ufw allow proto tcp from {} to any "
      "port {}:{}",
      there, from.address, ports->low, ports->high);
}

}  // namespace sterna::launcher
