#include "launcher/simulate/simulated_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "launcher/hosts/host_plan.h"
#include "launcher/job/job_plan.h"
#include "launcher/record/ranks_left.h"
#include "launcher/record/state_holders.h"
#include "launcher/simulate/message_names.h"
#include "launcher/simulate/own_folder.h"
#include "launcher/simulate/packet_ledger.h"
#include "launcher/simulate/simulated_checkpoints.h"
#include "launcher/simulate/trace_hash.h"
#include "runtime/base/full_disk.h"
#include "runtime/cluster/cluster.h"
#include "runtime/cluster/process_control.h"
#include "runtime/sim/sim_world.h"

namespace sterna::launcher {

namespace {

/// From the last fault's end to the run's. A restart waits 10 s at most, and one that is frozen is
/// given up within two silences.
constexpr Duration kEndTakes = std::chrono::minutes(2);
constexpr Duration kLeaseEnds = std::chrono::seconds(1);
constexpr Duration kHostComes = std::chrono::seconds(5);
constexpr std::size_t kLeftOnAFullDisk = 256;  // bytes of each file

/// Keeps what the roles tell.
class Witness final : public Actor<actors::Observer> {
 public:
  Witness(RunFacts& facts, StateHolders& holders, StateHolders& alive)
      : facts_(facts), holders_(holders), alive_(alive) {}
  void on(const actors::Progress&) {}
  void on(actors::Evaluated message) { facts_.evaluated.push_back(std::move(message)); }
  void on(const actors::WorkerDone&) {}
  void on(const actors::JobFinished& message) {
    facts_.finished = true;
    facts_.hash = message.parameters_sha256;
  }
  void on(const actors::ReaderProgress&) {}
  void on(const actors::ServerWaits&) {}
  void on(const actors::ActorWhole& message) {
    holders_.whole({message.actor, message.incarnation});
    alive_.whole({message.actor, message.incarnation});
  }
  void on(const actors::Watched&) {}
  void on(const actors::ResidualsLost&) {}

 private:
  RunFacts& facts_;
  StateHolders& holders_;
  StateHolders& alive_;
};

class SimulatedRun {
 public:
  SimulatedRun(const Scene& scene, const std::vector<Fault>& schedule, const Registry& registry,
               const Teller& tell)
      : scene_(scene),
        schedule_(schedule),
        registry_(registry),
        tell_(tell),
        world_(scene.seed, registry),
        delays_(scene.seed + 1),
        jobs_(scene.seed + 2) {
    world_.network().set_delay([this](const std::string&, const std::string&) {
      return some_of(delays_, scene_.longest_delay);
    });
    world_.set_job_time([this](const std::string& host) {
      return some_of(jobs_, scene_.longest_job) + slower_[host];
    });
    world_.set_run_job([this](const std::string& host, const std::function<void()>& job) {
      std::optional<FullDisk> full;
      if (full_[host] > 0) full.emplace(kLeftOnAFullDisk);
      job();
    });
    world_.network().set_on_message(
        [this](const std::string& from, const std::string& to, const std::vector<Bytes>& frames) {
          ++facts_.messages;
          trace_.add(static_cast<std::uint64_t>(now().ns));
          trace_.add(from);
          trace_.add(to);
          for (const Bytes& frame : frames) trace_.add(frame.view());
          if (ledger_) ledger_->saw(from, to, frames);
        });
    world_.set_on_log([this](const std::string& line) { told(line); });
    world_.set_on_life(
        [this](const PeerIdentity& who, const ProcessExit* exit) { lives(who, exit); });
  }

  RunFacts run() {
    world_.set_on_send([this](const std::string& who, const Header& header) {
      return sends(who, header.type_id);
    });
    std::optional<OwnFolder> folder;
    if (scene_.file.checkpoint.on()) {
      Result<OwnFolder> entered = OwnFolder::enter();
      if (!entered) {
        facts_.not_started = entered.error().message;
        return std::move(facts_);
      }
      folder.emplace(std::move(entered).value());
      checkpoints_.emplace(scene_.file);
    }
    while (live()) told(fmt::format("all begin again at step {}", checkpoints_->step()));
    if (ledger_) facts_.packet_faults = ledger_->faults(facts_.finished);
    facts_.took = now() - Time{};
    facts_.trace = trace_.value();
    return std::move(facts_);
  }

 private:
  static Duration some_of(Random& random, Duration longest) {
    return Duration(
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(longest.count()) + 1)));
  }
  Time now() { return world_.loop().now(); }

  /// One job, to its end; whether it is to begin again.
  bool live() {
    life_ = {};
    running_ = false;
    const Result<void> done = start();
    if (!done && !(cluster_ && cluster_->failure())) facts_.not_started = done.error().message;
    if (done) {
      Duration last{};
      for (const Fault& fault : schedule_) last = std::max(last, fault.at + fault.lasts);
      cluster_->run_until([&] { return over(); }, now() + last + kEndTakes);
    }
    if (cluster_) {
      facts_.survivors += cluster_->stop(scene_.file.cluster.grace).survivors;
      // By now the first cause is known.
      if (cluster_->failure()) failed(*cluster_->failure());
    }
    // Who was out of reach ends with its lease, or hears of the end.
    if (cluster_ && world_.processes() > 0) {
      const Time lease_ends = now() + scene_.file.cluster.lease + kLeaseEnds;
      world_.loop().run_until([&] { return world_.processes() == 0; }, lease_ends);
      facts_.survivors += static_cast<std::uint32_t>(world_.processes());
    }
    additions_.clear();
    cluster_.reset();
    if (!facts_.failure || !checkpoints_) return false;
    if (!checkpoints_->goes_on_after(facts_.failure->down)) return false;
    facts_.failure->goes_on_from = checkpoints_->step();
    facts_.losses.push_back(*std::exchange(facts_.failure, std::nullopt));
    return true;
  }

  void failed(const ProcessDown& down) {
    told("the run failed: " + sterna::describe(down));
    life_.down = down;
    facts_.failure = life_;
  }

  void told(const std::string& line) {
    trace_.add(static_cast<std::uint64_t>(now().ns));
    trace_.add(line);
    if (tell_) tell_(now(), line);
  }

  void lives(const PeerIdentity& who, const ProcessExit* exit) {
    if (exit == nullptr) {
      const auto twin = living_.find(who.name);
      if (twin != living_.end()) {
        facts_.twins.push_back(fmt::format("{} and {}", twin->second.text(), who.text()));
      }
      living_[who.name] = who;
      told("+ " + who.text());
    } else {
      const auto gone = living_.find(who.name);
      if (gone != living_.end() && gone->second == who) living_.erase(gone);
      told("- " + who.text() + ": " + exit->text());
      if (!over() && !alive_.lost(who).empty()) life_.state_gone = true;
    }
  }

  Result<void> start() {
    STERNA_ASSIGN(actors::JobConfig job,
                  job_of(scene_.file, {.dir = {}, .name = scene_.file.data.name}));
    if (checkpoints_) job = checkpoints_->planned(std::move(job));
    holders_ = alive_ = StateHolders(scene_.file, job.servers_come_again());
    if (scene_.apart) ledger_.emplace(job);
    STERNA_ASSIGN(const std::vector<ActorSpec> specs, specs_of(scene_.file, job, ""));
    STERNA_ASSIGN(ClusterOptions options,
                  cluster_options_of(scene_.file, checkpoints_ ? "." : "", "simulated"));
    cluster_.emplace(world_.launcher(), registry_, std::move(options));
    Cluster::Events events;
    events.status = [this](const StatusReport& report) {
      for (const ProcessStatus& one : report.processes) {
        facts_.queued_bytes = std::max(facts_.queued_bytes, one.queued_bytes);
      }
    };
    events.restarts = [this](const ProcessRestarts& one) {
      facts_.restarts.push_back({one.down.identity, one.down.cause, facts_.losses.size()});
      if (!holders_.lost(one.down.identity).empty()) {
        if (life_.state_lost.empty()) life_.state_lost = one.down.identity.name;
        ProcessDown both = one.down;
        both.consequence = false;
        return cluster_->give_up(both);
      }
      hosts_[one.down.identity.name] = one.host;
      if (one.host != one.down.host) {
        ++facts_.moves;
        told(one.down.identity.name + " moves to " + one.host);
      }
    };
    if (ranks_left_.left() > 0) {
      events.goes_on_without = [this](ProcessDown& down) { return goes_on_without(down); };
    }
    cluster_->set_events(std::move(events));
    for (const Fault& fault : schedule_) {
      if (fault.starting && facts_.losses.empty()) inject_later(fault);
    }
    STERNA_TRY(cluster_->start());
    const auto witness = cluster_->process().spawn<Witness>(facts_, holders_, alive_);
    STERNA_TRY(cluster_->publish(kObserverName, witness));
    hosts_.clear();
    for (const ActorPlan& actor : scene_.file.actors) hosts_[actor.name] = actor.host;
    if (checkpoints_) {
      STERNA_TRY(checkpoints_->keep(*cluster_, job,
                                    [this](const std::string& actor) { return hosts_[actor]; }));
    }
    STERNA_TRY(cluster_->start_actors(specs));
    running_ = true;
    if (!facts_.losses.empty()) return {};
    for (const Fault& fault : schedule_) {
      if (fault.starting) continue;
      if (fault.point.message.empty()) {
        inject_later(fault);
      } else {
        points_[{fault.point.speaker, fault.point.message}].strikes.push_back(&fault);
      }
    }
    return {};
  }

  void inject_later(const Fault& fault) {
    world_.loop().after(fault.at, [this, &fault] { inject(fault); });
  }

  bool goes_on_without(ProcessDown& down) {
    const std::uint64_t before = ranks_left_.left();
    const bool goes_on = ranks_left_.goes_on_without(down);
    if (goes_on) {
      facts_.lost_workers.push_back(down.identity.name);
    } else if (ranks_left_.left() < before) {
      facts_.below_quorum = ranks_left_.in_words();
    }
    return goes_on;
  }

  // ---- faults ----

  struct Point {
    std::uint64_t count = 0;
    std::vector<const Fault*> strikes;
  };

  Links::Fate sends(const std::string& who, std::uint64_t type_id) {
    if (points_.empty()) return {};
    const auto point = points_.find({who, std::string(name_of_message(type_id))});
    if (point == points_.end()) return {};
    ++point->second.count;
    Links::Fate fate;
    for (const Fault* fault : point->second.strikes) {
      if (fault->point.count != point->second.count || over()) continue;
      ++facts_.points[fault->point.message];
      if (fault->kind == FaultKind::repeat) {
        inject(*fault);
        fate.kind = Links::Fate::Kind::repeat;
        continue;
      }
      // Who is killed before has not said it; all else happens when this turn is over.
      const bool dies = fault->kind == FaultKind::kill && fault->who == who;
      if (dies && fault->point.before) world_.network().silence(who);
      world_.loop().after(Duration(1), [this, fault] { inject(*fault); });
    }
    return fate;
  }

  PeerIdentity living(const std::string& name) const {
    if (name == "launcher") return {name, 1};
    return world_.living(name).value_or(PeerIdentity{name, 0});
  }

  void inject(const Fault& fault) {
    if (over() && (running_ || !fault.starting)) return;
    RunFacts::Injected one{fault, living(fault.who), {}, facts_.losses.size()};
    if (has_two(fault.kind)) one.other = living(fault.other);
    told("! " + text_of(fault));
    if (is_of_host(fault.kind)) one.who = {fault.who, 1};
    if (one.who.incarnation == 0) return;  // it is not there
    facts_.injected.push_back(one);
    MemoryNetwork& network = world_.network();
    switch (fault.kind) {
      case FaultKind::kill:
        world_.kill(fault.who);
        break;
      case FaultKind::freeze:
        world_.freeze(fault.who);
        ++frozen_[one.who.text()];
        later(fault, [this, who = one.who] {
          if (--frozen_[who.text()] > 0) return;
          if (world_.living(who.name) == who) world_.thaw(who.name);
        });
        break;
      case FaultKind::cut:
        cut(fault);
        break;
      case FaultKind::part:
        set_parted(fault, true);
        network.cut(fault.who, fault.other);
        later(fault, [this, fault] { set_parted(fault, false); });
        break;
      case FaultKind::stall:
        set_stalled(fault, true);
        later(fault, [this, fault] { set_stalled(fault, false); });
        break;
      case FaultKind::repeat:
        break;  // as its message is sent
      case FaultKind::isolate:
      case FaultKind::deafen:
      case FaultKind::mute:
        set_isolated(fault, 1);
        later(fault, [this, fault] { set_isolated(fault, -1); });
        break;
      case FaultKind::delay:
      case FaultKind::drop:
        world_.suffer(fault.who, {.process = {},
                                  .kind = fault.kind == FaultKind::drop ? sterna::FaultKind::DROP
                                                                        : sterna::FaultKind::DELAY,
                                  .lasts = fault.lasts,
                                  .by = fault.by});
        break;
      case FaultKind::recall:
        world_.tell_to_end(node_name(fault.who));
        later(fault, [this, fault] { add_host(fault.who); });
        break;
      case FaultKind::unmount:
        if (!checkpoints_) break;
        unmount(fault.who);
        later(fault, [fault] { mount(fault.who); });
        break;
      case FaultKind::fill:
        ++full_[machine_of(fault)];
        later(fault, [this, fault] { --full_[machine_of(fault)]; });
        break;
      case FaultKind::tear:
        if (checkpoints_) tear(fault.who, checkpoints_->step());
        break;
      case FaultKind::slow: {
        Duration& slower = slower_[machine_of(fault)];
        slower += fault.by;
        later(fault, [&slower, by = fault.by] { slower -= by; });
        break;
      }
    }
  }

  /// Who writes the owner's files is on no host.
  static std::string machine_of(const Fault& fault) {
    return fault.who == kOwnerFiles ? "" : fault.who;
  }

  void cut(const Fault& fault) {
    MemoryNetwork& network = world_.network();
    if (fault.lasts == Duration::zero()) {
      network.cut(fault.who, fault.other);
    } else {
      network.cut_seen_late(fault.who, fault.other, fault.lasts);
    }
  }

  /// Several such faults of a pair may overlap: the last end counts.
  void set_parted(const Fault& fault, bool parted) {
    int& count = parted_[std::minmax(fault.who, fault.other)];
    count += parted ? 1 : -1;
    world_.network().set_parted(fault.who, fault.other, count > 0);
  }
  void set_stalled(const Fault& fault, bool stalled) {
    int& count = stalled_[{fault.who, fault.other}];
    count += stalled ? 1 : -1;
    world_.network().set_stalled(fault.who, fault.other, count > 0);
  }

  void set_isolated(const Fault& fault, int more) {
    auto& [deaf, mute] = isolated_[fault.who];
    if (fault.kind != FaultKind::mute) deaf += more;
    if (fault.kind != FaultKind::deafen) mute += more;
    world_.set_isolated(fault.who, deaf > 0, mute > 0);
  }

  void add_host(const std::string& host) {
    if (over()) return;
    told("! add " + host);
    additions_.push_back(cluster_->process().ask(agent_of<Coordinator>(kCoordinatorProcess),
                                                 AddHost{host, kHostComes},
                                                 kHostComes + 3 * kControlDeadline));
  }

  void later(const Fault& fault, std::function<void()> work) {
    world_.loop().after(fault.lasts, std::move(work));
  }

  /// Faults stop with the run, until all its actors run again: what its end and its start take is
  /// not theirs.
  bool over() const {
    if (!running_ || cluster_->failure()) return true;
    return facts_.finished && (!checkpoints_ || checkpoints_->over());
  }

  const Scene& scene_;
  const std::vector<Fault>& schedule_;
  const Registry& registry_;
  const Teller& tell_;
  RunFacts facts_;
  RunFacts::Failure life_;  // as far as it is known
  bool running_ = false;    // all its actors do
  std::optional<SimulatedCheckpoints> checkpoints_;
  StateHolders holders_{scene_.file, false};  // as the launcher knows them
  StateHolders alive_{scene_.file, false};    // as they are
  RanksLeft ranks_left_{scene_.file};
  std::optional<PacketLedger> ledger_;  // where it is wanted
  TraceHash trace_;
  SimWorld world_;
  SeededRandom delays_;
  SeededRandom jobs_;
  std::map<std::string, PeerIdentity> living_;
  std::map<std::string, std::string> hosts_;  // of actors, as the launcher knows them
  std::map<std::string, int> frozen_;         // by incarnation
  std::map<std::pair<std::string, std::string>, int> parted_;
  std::map<std::pair<std::string, std::string>, int> stalled_;
  std::map<std::string, std::pair<int, int>> isolated_;          // hosts: deaf, mute
  std::map<std::string, Duration> slower_;                       // hosts: by how much
  std::map<std::string, int> full_;                              // hosts: how often at once
  std::map<std::pair<std::string, std::string>, Point> points_;  // by speaker and message
  std::optional<Cluster> cluster_;
  std::vector<Future<void>> additions_;  ///< that are under way, or were
};

}  // namespace

RunFacts run_scene(const Scene& scene, const std::vector<Fault>& schedule, const Registry& registry,
                   const Teller& tell) {
  return SimulatedRun(scene, schedule, registry, tell).run();
}

}  // namespace sterna::launcher
