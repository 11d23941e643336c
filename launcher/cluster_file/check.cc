// From a Draft to a ClusterFile: defaults that depend on other keys, one plan per actor, and the
// checks that compare keys with each other.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "actors/job/job.h"
#include "input/place/data_set.h"
#include "launcher/cluster_file/draft.h"
#include "launcher/cluster_file/listen_address.h"
#include "launcher/cluster_file/placement.h"
#include "runtime/base/duration_text.h"
#include "runtime/cluster/process_control.h"

namespace sterna::launcher {
namespace {

/// Ranks are 16 bits in the counter words of the ternary codec's random numbers.
constexpr std::int64_t kMaxRanks = 65536;

class Finisher {
 public:
  Finisher(const Draft& draft, Problems& problems) : draft_(draft), problems_(problems) {}

  ClusterFile finish(const std::string& default_name) {
    file_.format = draft_.root.format;
    file_.cluster = draft_.cluster;
    file_.program = draft_.program;
    file_.log = draft_.log;
    file_.metrics = draft_.metrics;
    file_.tables = draft_.actors;
    for (ActorSection& table : file_.tables) table.backend = table.computes_on();
    file_.job = draft_.job;
    static_cast<actors::JobSections&>(file_) = draft_;
    file_.deadlines = draft_.deadlines;
    file_.faults = draft_.faults;
    file_.chaos = draft_.chaos;
    if (file_.cluster.name.empty()) file_.cluster.name = default_name;
    check_required();
    file_.hosts = plan_hosts(draft_, problems_);
    plan_head();
    plan_transport();
    plan_net();
    check_optimizer();
    check_data();
    check_init(draft_, file_, problems_);
    check_gradient(draft_, file_, problems_);
    check_life();
    check_metrics();
    for (std::size_t i = 0; i < file_.tables.size(); ++i) check_table(draft_, file_, i, problems_);
    if (problems_.any()) return file_;  // a mistake above would only echo below
    plan_actors();
    if (draft_.trains()) check_roles();
    if (draft_.trains()) check_precision();
    if (draft_.trains()) check_subsets();
    if (draft_.trains()) check_copies();
    if (draft_.trains() && !problems_.any()) check_scheme();
    check_done_when(draft_, file_, problems_);
    check_faults(draft_, file_, problems_);
    if (!problems_.any()) check_ports(draft_, file_, problems_);
    return file_;
  }

 private:
  void check_required() {
    const ClusterKeys keys = cluster_keys();
    keys.for_each([&](const auto& section) {
      if (section.name == keys.job.name && !draft_.trains()) return;
      if (section.list) return;  // no key of theirs must be given
      for (const auto& key : section.keys) {
        const std::string shown = section.name.empty()
                                      ? std::string(key.name)
                                      : fmt::format("{}.{}", section.name, key.name);
        if (!key.required || draft_.has(shown)) continue;
        problems_.add(draft_.where(section.name),
                      fmt::format("the key \"{}\" is missing{}", shown,
                                  shown == "format" ? "; such a file begins with format = 1" : ""));
      }
    });
    if (draft_.trains()) return check_length();
    const auto is_for_training = [&](const auto& section, const auto&) {
      if (!draft_.has(section.name)) return;
      problems_.add(draft_.where(section.name),
                    fmt::format("[{}] is for the training roles, and no actor has one; remove it",
                                section.name));
    };
    is_for_training(keys.job, draft_.job);
    actors::for_each_section(draft_, is_for_training);
  }

  /// Steps or epochs; an override of the one takes the place of the file's other. A file may keep
  /// epochs = 0, as a resolved one does.
  void check_length() {
    const bool steps = draft_.has("job.steps");
    const bool epochs = draft_.job.epochs > 0;
    if (!steps && !epochs) {
      problems_.add(draft_.where("job"), "the key \"job.steps\" (or \"job.epochs\") is missing");
    }
    if (!steps || !epochs) return;
    const bool set_steps = !draft_.where("job.steps").override_text.empty();
    const bool set_epochs = !draft_.where("job.epochs").override_text.empty();
    if (set_steps == set_epochs) {
      problems_.add(draft_.where("job.epochs"),
                    "\"job.epochs\" stands in place of \"job.steps\"; remove one of them");
    } else if (set_steps) {
      file_.job.epochs = 0;
    } else {
      file_.job.steps = 0;
    }
  }

  void plan_head() {
    ClusterSection& cluster = file_.cluster;
    if (cluster.placing().brings_hosts) {
      if (cluster.head.empty()) return;
      return problems_.add(
          draft_.where("cluster.head"),
          fmt::format("with placer = \"{}\" the head is the allocation's first host; remove "
                      "the key",
                      cluster.placer));
    }
    if (cluster.head.empty()) {
      for (const HostSection& host : file_.hosts) {
        if (host.spare || cluster.placing().reached_by_ssh(host)) continue;
        cluster.head = host.name;
        return;
      }
      return;
    }
    check_host(draft_, file_, "cluster.head", cluster.head, problems_);
    for (std::size_t i = 0; i < file_.hosts.size(); ++i) {
      if (file_.hosts[i].name != cluster.head || !file_.hosts[i].spare) continue;
      problems_.add(
          draft_.where(fmt::format("host.{}.spare", i)),
          fmt::format("\"{}\" is the head, which the run needs from the start; remove the "
                      "key, or name another head",
                      cluster.head));
    }
  }

  /// Whether said or not: what is meant where some host is another machine.
  void plan_transport() {
    std::string& transport = file_.cluster.transport;
    if (transport == "ipc" && file_.talks_tcp()) transport = "mixed";
  }

  void plan_net() {
    add_mismatch(draft_, actors::mismatch(file_.job), "job.batch", problems_);
    const nets::ZooNet* net = nets::find_net(file_.job.net);
    if (net == nullptr) return;  // said already
    if (net->takes_hidden) {
      if (!draft_.has("job.hidden"))
        file_.job.hidden.assign(net->hidden.begin(), net->hidden.end());
      if (file_.job.hidden.size() > actors::kMostHiddenLayers) {
        problems_.add(draft_.where("job.hidden"),
                      fmt::format("{} hidden layers are too many; at most {} fit",
                                  file_.job.hidden.size(), actors::kMostHiddenLayers));
      }
    } else if (!file_.job.hidden.empty()) {
      std::vector<std::string_view> takers = nets::net_names();
      std::erase_if(takers, [](auto name) { return !nets::find_net(name)->takes_hidden; });
      problems_.add(draft_.where("job.hidden"),
                    fmt::format("\"job.hidden\" is for the net \"{}\", not for \"{}\"",
                                fmt::join(takers, "\" or \""), file_.job.net));
    }
  }

  /// A key of another component may stand there, as in a resolved file, but not with a value that
  /// somebody has thought about.
  template <class S>
  void check_owners(const Section<S>& section, const S& chosen, const std::string& name) {
    const S defaults;
    for (const Key<S>& key : section.keys) {
      const auto& owners = key.owners;
      if (owners.empty() || std::ranges::count(owners, name) > 0) continue;
      if (toml_text(key, chosen) == toml_text(key, defaults)) continue;
      const std::string path = fmt::format("{}.{}", section.name, key.name);
      problems_.add(draft_.where(path),
                    fmt::format("\"{}\" is for the {} {}, not for \"{}\"; remove it", path,
                                section.name, describe(owners), name));
    }
  }

  void check_optimizer() {
    check_owners(actors::optimizer_section(), file_.optimizer, file_.optimizer.name);
    add_mismatch(draft_, actors::mismatch(file_.optimizer), "optimizer.name", problems_);
    add_mismatch(draft_, actors::mismatch(file_.evaluation, file_.optimizer), "evaluator.of",
                 problems_);
    const std::uint64_t steps = file_.job.epochs > 0 ? 0 : file_.job.steps;
    add_mismatch(draft_, actors::mismatch(file_.trace, steps), "trace.steps", problems_);
  }

  void check_scheme() {
    const std::string& name = file_.scheme.name;
    check_owners(actors::scheme_section(), file_.scheme, name);
    check_owners(actors::local_optimizer_section(), file_.local_optimizer,
                 file_.local_optimizer.name);
    if (problems_.any()) return;
    add_mismatch(draft_, actors::mismatch(file_, static_cast<std::uint32_t>(file_.ranks())),
                 draft_.has("scheme.name") ? "scheme.name" : "job", problems_);
    const std::uint32_t quorum = file_.scheme.quorum;
    if (file_.cluster.lost_host == "quorum" && (quorum == 0 || quorum >= file_.ranks())) {
      problems_.add(draft_.where("cluster.lost_host"),
                    fmt::format("\"cluster.lost_host\" = \"quorum\" goes on without lost ranks: "
                                "\"scheme.quorum\" must be set, and below the number of ranks ({})",
                                file_.ranks()));
    }
  }

  void check_data() {
    const actors::DataSection& data = file_.data;
    if (data.channels == 2) {
      problems_.add(draft_.where("data.channels"), "\"data.channels\" must be 1 or 3, not 2");
    }
    const actors::DataSection defaults;
    const auto check_colours = [&](std::string_view name, const std::vector<double>& numbers,
                                   const std::vector<double>& initial) {
      const std::string key = fmt::format("data.{}", name);
      if (numbers.size() != 3) {
        problems_.add(draft_.where(key),
                      fmt::format("\"{}\" wants three numbers, of red, green and blue, not {}", key,
                                  numbers.size()));
      } else if (numbers != initial && data.preprocess != "resize_crop") {
        problems_.add(draft_.where(key),
                      fmt::format("\"{}\" is for \"data.preprocess\" = \"resize_crop\", not for "
                                  "\"{}\"; remove it",
                                  key, data.preprocess));
      }
    };
    check_colours("mean", data.mean, defaults.mean);
    check_colours("deviation", data.deviation, defaults.deviation);
    const bool patterns = !data.train_files.empty() || !data.test_files.empty();
    const input::DataSet* set = input::find_data_set(data.name);
    if (patterns && set != nullptr && !input::takes_patterns(*set)) {
      problems_.add(
          draft_.where(data.train_files.empty() ? "data.test_files" : "data.train_files"),
          fmt::format("patterns are for the data set \"tfrecord\", not for \"{}\"; remove "
                      "them",
                      data.name));
    }
  }

  void check_metrics() {
    const std::string& address = file_.metrics.prometheus;
    if (address.empty()) return;
    const Result<ListenAddress> parsed = ListenAddress::parse(address);
    if (parsed) return;
    problems_.add(draft_.where("metrics.prometheus"),
                  "\"metrics.prometheus\" " + parsed.error().message);
  }

  void check_life() {
    const ClusterSection& cluster = file_.cluster;
    const auto outlasts_heartbeat = [&](std::string_view name, Duration value,
                                        std::string_view or_else) {
      if (value > cluster.heartbeat) return;
      const std::string key = fmt::format("cluster.{}", name);
      problems_.add(
          draft_.where(draft_.has(key) ? key : "cluster.heartbeat"),
          fmt::format("\"{}\" ({}) must be longer than \"cluster.heartbeat\" ({}), or {}", key,
                      duration_text(value), duration_text(cluster.heartbeat), or_else));
    };
    outlasts_heartbeat("silence", cluster.silence, "every actor is taken for dead");
    outlasts_heartbeat("lease", cluster.lease, "every host stops its actors");
  }

  bool some_compute(Role role, std::string_view on) const {
    return std::ranges::any_of(file_.tables, [&](const ActorSection& table) {
      return table.plays() == role && table.computes_on() == on;
    });
  }

  /// A CPU would silently compute with more than what was asked for, or not at all.
  void check_precision() {
    const actors::JobSection& job = file_.job;
    if (job.precision == actors::Precision::tf32 && !some_compute(Role::kWorker, "cuda")) {
      problems_.add(draft_.where("job.precision"),
                    "job.precision = \"tf32\" is of GPUs, and no worker computes on one; set "
                    "\"fp32\", or give the workers gpus");
    }
    const bool left_out = job.cpu_isa == "avx2" || job.cpu_isa == "scalar";
    const bool on_cpus =
        some_compute(Role::kWorker, "cpu") || some_compute(Role::kEvaluator, "cpu");
    if (job.precision == actors::Precision::bf16 && left_out && on_cpus) {
      problems_.add(draft_.where("job.precision"),
                    fmt::format("\"job.precision\" = \"bf16\" needs instructions of the CPU that "
                                "\"job.cpu_isa\" = \"{}\" leaves out: set that to \"best\", or "
                                "\"job.precision\" to \"fp32\", or give workers and evaluator gpus",
                                job.cpu_isa));
    }
  }

  void plan_actors() {
    file_.actors = expand(file_.tables);
    if (file_.ranks() > kMaxRanks) {
      return problems_.add(
          draft_.where("actor.0"),
          fmt::format("{} ranks are too many; at most {} fit", file_.ranks(), kMaxRanks));
    }
    std::map<std::string, std::string> path_of;  // by actor's name
    std::size_t actor = 0;
    for (std::size_t i = 0; i < file_.tables.size(); ++i) {
      for (std::int64_t n = 0; n < file_.tables[i].actors(); ++n, ++actor) {
        check_name(file_.actors[actor].name, fmt::format("actor.{}", i), path_of);
      }
    }
    if (file_.hosts.empty()) return;  // they come with an allocation
    Placement placement = place(file_.hosts, file_.tables);
    for (const PlacementProblem& problem : placement.problems) {
      const std::string path = fmt::format("actor.{}", problem.table);
      problems_.add(draft_.where(fmt::format("{}.{}", path, problem.key)), problem.message);
    }
    file_.actors = std::move(placement.actors);
  }

  void check_name(const std::string& name, const std::string& path,
                  std::map<std::string, std::string>& path_of) {
    if (is_reserved_name(name)) {
      problems_.add(draft_.where(path + ".name"),
                    fmt::format("the run itself may have a process named \"{}\"; give the actor "
                                "another name",
                                name));
    }
    const auto [twin, fresh] = path_of.emplace(name, path);
    if (!fresh) two_of_one_name(name, twin->second, path);
  }

  void check_roles() {
    const bool within = file_.gradient.exchange == actors::ExchangeRule::nccl;
    if (within) check_within();
    for (const RoleFacts& role : roles()) {
      if (role.role == Role::kNone || file_.count(role.role) > 0) continue;
      if (within && role.role == Role::kParameterServer) continue;
      problems_.add({}, fmt::format("no actor has the role \"{0}\", which {1}; add [[actor]] with "
                                    "role = \"{0}\"",
                                    role.name, role.does));
    }
    if (file_.count(Role::kEvaluator) <= 1) return;
    add_at_last(Role::kEvaluator,
                fmt::format("a job has one evaluator, not {}", file_.count(Role::kEvaluator)));
  }

  /// Of a file whose one worker has what servers have elsewhere.
  void check_within() {
    if (file_.count(Role::kParameterServer) > 0) {
      add_at_last(Role::kParameterServer,
                  "\"gradient.exchange\" = \"nccl\" has no parameter servers: the worker has the "
                  "parameters; remove this [[actor]]");
    }
    if (file_.count(Role::kWorker) > 1) {
      add_at_last(Role::kWorker,
                  fmt::format("with \"gradient.exchange\" = \"nccl\" one worker has all ranks, and "
                              "here are {}; set \"actor.count\" = 1 and \"actor.ranks\" = {}",
                              file_.count(Role::kWorker), file_.ranks()));
    }
  }

  /// At the last [[actor]] that has this role.
  void add_at_last(Role role, const std::string& message) {
    for (std::size_t i = draft_.actors.size(); i-- > 0;) {
      if (draft_.actors[i].plays() != role) continue;
      return problems_.add(draft_.where(fmt::format("actor.{}", i)), message);
    }
  }

  /// Copies of checkpoints lie on another machine than these.
  void check_copies() {
    if (file_.checkpoint.copies == 0) return;
    const auto complain = [&](const std::string& what) {
      problems_.add(draft_.where("checkpoint.copies"), what);
    };
    if (!file_.checkpoint.on()) {
      complain(
          "\"checkpoint.copies\" is of checkpoints that are made: set "
          "\"checkpoint.every_steps\" or \"checkpoint.every_seconds\", or remove it");
    }
    if (file_.hosts.empty()) return;  // they come with an allocation
    const PlacerTraits& placer = file_.cluster.placing();
    const bool some = std::ranges::any_of(file_.actors, [&](const ActorPlan& actor) {
      if (actor.role != Role::kParameterServer && actor.role != Role::kWorker) return false;
      return std::ranges::any_of(file_.hosts, [&](const HostSection& host) {
        return host.name == actor.host && host.name != file_.cluster.head &&
               (placer.others == OtherMachines::kAllButHead || placer.reached_by_ssh(host));
      });
    });
    if (some) return;
    complain(
        "\"checkpoint.copies\" = 1 keeps each checkpoint on a second machine, too, and no "
        "server and no worker is on another one than the head; place one there, or remove it");
  }

  /// The evaluator reads all of a subset by itself.
  void check_subsets() {
    if (file_.shards() == 0 ||
        std::ranges::count(file_.evaluation.subsets, actors::kTrainSubset) == 0) {
      return;
    }
    problems_.add(
        draft_.where("evaluator.subsets"),
        "\"evaluator.subsets\" = \"train\" needs the whole training set in one place, and "
        "\"actor.shards\" cuts it; remove one of them");
  }

  void two_of_one_name(const std::string& name, const std::string& first,
                       const std::string& second) {
    const Where there = draft_.where(first + ".name");
    if (!reported_twins_.insert(first + second).second) return;
    problems_.add(
        draft_.where(second + ".name"),
        fmt::format("two actors are named \"{}\", here and at {}; give one of them another "
                    "name",
                    name, problems_.place(there)));
  }

  const Draft& draft_;
  Problems& problems_;
  ClusterFile file_;
  std::set<std::string> reported_twins_;
};

}  // namespace

ClusterFile finish(const Draft& draft, const std::string& default_name, Problems& problems) {
  return Finisher(draft, problems).finish(default_name);
}

}  // namespace sterna::launcher
