#include "launcher/simulate/simulated_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "launcher/hosts/host_plan.h"
#include "launcher/run/job_plan.h"
#include "launcher/simulate/message_names.h"
#include "launcher/simulate/trace_hash.h"
#include "runtime/cluster/cluster.h"
#include "runtime/sim/sim_world.h"

namespace sterna::launcher {

namespace {

/// From the last fault's end to the run's. A restart waits 10 s at most, and one that is frozen is
/// given up within two silences.
constexpr Duration kEndTakes = std::chrono::minutes(2);

/// Keeps what the roles tell.
class Witness final : public Actor<actors::Observer> {
 public:
  explicit Witness(RunFacts& facts) : facts_(facts) {}
  void on(const actors::Progress&) {}
  void on(actors::Evaluated message) { facts_.evaluated.push_back(std::move(message)); }
  void on(const actors::WorkerDone&) {}
  void on(const actors::JobFinished& message) {
    facts_.finished = true;
    facts_.hash = message.parameters_sha256;
  }
  void on(const actors::ReaderProgress&) {}
  void on(const actors::ServerWaits&) {}
  void on(const actors::Watched&) {}

 private:
  RunFacts& facts_;
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
    world_.set_job_time([this] { return some_of(jobs_, scene_.longest_job); });
    world_.network().set_on_message(
        [this](const std::string& from, const std::string& to, const std::vector<Bytes>& frames) {
          ++facts_.messages;
          trace_.add(static_cast<std::uint64_t>(now().ns));
          trace_.add(from);
          trace_.add(to);
          for (const Bytes& frame : frames) trace_.add(frame.view());
        });
    world_.set_on_log([this](const std::string& line) { told(line); });
    world_.set_on_life(
        [this](const PeerIdentity& who, const ProcessExit* exit) { lives(who, exit); });
  }

  RunFacts run() {
    world_.set_on_send([this](const std::string& who, const Header& header) {
      return sends(who, header.type_id);
    });
    const Result<void> done = start();
    if (!done && !cluster_->failure()) facts_.not_started = done.error().message;
    if (done) {
      Duration last{};
      for (const Fault& fault : schedule_) last = std::max(last, fault.at + fault.lasts);
      cluster_->run_until([&] { return facts_.finished || cluster_->failure(); },
                          now() + last + kEndTakes);
    }
    if (cluster_) {
      facts_.survivors = cluster_->stop(scene_.file.cluster.grace).survivors;
      // By now the first cause is known.
      facts_.failure = cluster_->failure();
      if (facts_.failure) told("the run failed: " + sterna::describe(*facts_.failure));
    }
    facts_.took = now() - Time{};
    facts_.trace = trace_.value();
    cluster_.reset();
    return std::move(facts_);
  }

 private:
  static Duration some_of(Random& random, Duration longest) {
    return Duration(
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(longest.count()) + 1)));
  }
  Time now() { return world_.loop().now(); }

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
    }
  }

  Result<void> start() {
    STERNA_ASSIGN(const actors::JobConfig job,
                  job_of(scene_.file, {.dir = {}, .name = scene_.file.data.name}));
    STERNA_ASSIGN(const std::vector<ActorSpec> specs, specs_of(scene_.file, job, ""));
    STERNA_ASSIGN(ClusterOptions options, cluster_options_of(scene_.file, "", "simulated"));
    cluster_.emplace(world_.launcher(), registry_, std::move(options));
    Cluster::Events events;
    events.status = [this](const StatusReport& report) {
      for (const ProcessStatus& one : report.processes) {
        facts_.queued_bytes = std::max(facts_.queued_bytes, one.queued_bytes);
      }
    };
    events.restarts = [this](const ProcessRestarts& one) {
      facts_.restarts.push_back({one.down.identity, one.down.cause});
      if (one.host != one.down.host) {
        ++facts_.moves;
        told(one.down.identity.name + " moves to " + one.host);
      }
    };
    cluster_->set_events(std::move(events));
    STERNA_TRY(cluster_->start());
    const auto witness = cluster_->process().spawn<Witness>(facts_);
    STERNA_TRY(cluster_->publish(kObserverName, witness));
    STERNA_TRY(cluster_->start_actors(specs));
    for (const Fault& fault : schedule_) {
      if (fault.point.message.empty()) {
        world_.loop().after(fault.at, [this, &fault] { inject(fault); });
      } else {
        points_[{fault.point.speaker, fault.point.message}].strikes.push_back(&fault);
      }
    }
    return {};
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
    if (over()) return;
    RunFacts::Injected one{fault, living(fault.who), {}};
    if (has_two(fault.kind)) one.other = living(fault.other);
    told("! " + text_of(fault));
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
    }
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

  void later(const Fault& fault, std::function<void()> work) {
    world_.loop().after(fault.lasts, std::move(work));
  }

  /// Faults stop with the run: what its end takes is not theirs.
  bool over() const { return facts_.finished || (cluster_ && cluster_->failure()); }

  const Scene& scene_;
  const std::vector<Fault>& schedule_;
  const Registry& registry_;
  const Teller& tell_;
  RunFacts facts_;
  TraceHash trace_;
  SimWorld world_;
  SeededRandom delays_;
  SeededRandom jobs_;
  std::map<std::string, PeerIdentity> living_;
  std::map<std::string, int> frozen_;  // by incarnation
  std::map<std::pair<std::string, std::string>, int> parted_;
  std::map<std::pair<std::string, std::string>, int> stalled_;
  std::map<std::pair<std::string, std::string>, Point> points_;  // by speaker and message
  std::optional<Cluster> cluster_;
};

}  // namespace

RunFacts run_scene(const Scene& scene, const std::vector<Fault>& schedule, const Registry& registry,
                   const Teller& tell) {
  return SimulatedRun(scene, schedule, registry, tell).run();
}

}  // namespace sterna::launcher
