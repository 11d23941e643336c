// What the keys of one [[actor]] say together, and with those of others.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/job/job.h"
#include "actors/worker/ranks/device_steps.h"
#include "launcher/cluster_file/draft.h"

namespace sterna::launcher {
namespace {

class TableCheck {
 public:
  TableCheck(const Draft& draft, const ClusterFile& file, std::size_t index, Problems& problems)
      : draft_(draft),
        file_(file),
        table_(file.tables[index]),
        path_(fmt::format("actor.{}", index)),
        problems_(problems) {}

  void check() {
    if (table_.role.empty() && table_.type.empty()) {
      return complain("",
                      "the key \"actor.role\" is missing (or \"actor.type\", for a program's own "
                      "actors)");
    }
    if (!table_.role.empty() && !table_.type.empty()) {
      complain("type",
               "an actor has a role in training or a type of the program, not both; remove one");
    } else if (!table_.type.empty() && draft_.trains()) {
      complain("type",
               "actors with a type and training roles do not go together yet; write a file for "
               "each");
    }
    for (const RoleFacts& owner : roles()) {
      const bool given = draft_.has(fmt::format("{}.{}", path_, owner.own_key));
      if (owner.own_key.empty() || owner.role == table_.plays() || !given) continue;
      const std::string role = table_.role.empty() ? "types of the program"
                                                   : fmt::format("the role \"{}\"", table_.role);
      complain(owner.own_key,
               owner.role == Role::kNone
                   ? fmt::format("\"actor.{}\" is for types of the program; {} takes what it needs "
                                 "from [job] and the tables after it",
                                 owner.own_key, role)
                   : fmt::format("\"actor.{}\" is for {}s, not for {}", owner.own_key, owner.words,
                                 role));
    }
    if (table_.plays() == Role::kParameterServer && table_.restart > 0 && table_.replicas == 0 &&
        !file_.workers_hold_all()) {
      complain(
          "restart",
          fmt::format("a {} without replicas is not started again by itself where workers do "
                      "not have all that it has (gradient.down = \"average\"): all actors are, "
                      "from the newest checkpoint (\"checkpoint.every_steps\", "
                      "\"checkpoint.restarts\")",
                      facts_of(table_.plays()).words));
    }
    if (table_.plays() == Role::kWorker && table_.restart > 0 && !workers_come_again()) {
      complain(
          "restart",
          "a worker that does without servers, or whose ranks keep what nobody else has (an "
          "elastic scheme, slots of [local_optimizer], shared scalers beside a window), is not "
          "started again by itself: all actors are, from the newest checkpoint "
          "(\"checkpoint.every_steps\", \"checkpoint.restarts\")");
    }
    check_replicas();
    check_shards();
    check_backend();
    check_averaged();
    check_place();
  }

 private:
  void complain(std::string_view key, const std::string& message) {
    problems_.add(draft_.where(fmt::format("{}.{}", path_, key)), message);
  }

  /// What no GPU does yet is better said here than by a worker that ends.
  void check_backend() {
    if (table_.computes_on() == "cpu") return;
    if (!facts_of(table_.plays()).computes) {
      return complain("backend", fmt::format("only workers and evaluators compute on GPUs; remove "
                                             "\"actor.backend\" from the {}",
                                             facts_of(table_.plays()).words));
    }
    if (table_.plays() == Role::kEvaluator && table_.gpus > 1) {
      complain("gpus",
               fmt::format("an evaluator computes on one GPU, not on {}; set 1", table_.gpus));
    }
    if (table_.plays() != Role::kWorker) return;
    if (table_.gpus > table_.ranks) {
      complain("gpus", fmt::format("a worker of {} {} computes on as many GPUs at most, not on {}; "
                                   "set \"actor.ranks\" to {} or more, or \"actor.gpus\" to {}",
                                   table_.ranks, table_.ranks == 1 ? "rank" : "ranks", table_.gpus,
                                   table_.gpus, table_.ranks));
    }
    const actors::JobSections& job = file_;
    const Result<void> can = actors::check_device_job(job);
    if (!can) complain("backend", can.error().message);
  }

  /// Averages of unequally many ranks would count alike.
  void check_averaged() {
    if (table_.plays() != Role::kWorker || file_.gradient.host == actors::HostRule::each) return;
    for (const ActorSection& other : file_.tables) {
      if (other.plays() != Role::kWorker) continue;
      if (other.ranks == table_.ranks) return;  // the first of them
      return complain(
          "ranks", fmt::format("with gradient.host = \"average\" all workers have as many ranks: "
                               "{} here, and {} in the first [[actor]] of workers; make them "
                               "equal, or set gradient.host = \"each\"",
                               table_.ranks, other.ranks));
    }
  }

  /// Whether workers that are lost may be started again beside the others.
  bool workers_come_again() const {
    actors::JobConfig job;
    static_cast<actors::JobSections&>(job) = file_;
    job.restarts_workers = true;
    job.ranks = 0;
    for (const ActorSection& other : file_.tables) {
      if (other.plays() != Role::kWorker) continue;
      job.ranks += static_cast<std::uint32_t>(other.count * other.ranks);
    }
    return job.workers_come_again();
  }

  /// Two servers make the same versions where each waits for all ranks, or one decides the order.
  void check_replicas() {
    if (table_.plays() != Role::kParameterServer || table_.replicas == 0) return;
    std::int64_t ranks = 0;
    bool some_without = false;
    for (const ActorSection& other : file_.tables) {
      if (other.plays() == Role::kWorker) ranks += other.count * other.ranks;
      some_without |= other.plays() == Role::kParameterServer && other.replicas == 0;
    }
    if (some_without) {
      complain("replicas",
               "either all parameter servers have replicas or none; give \"actor.replicas\" in "
               "each [[actor]] of theirs");
    }
    const actors::SchemeFacts* facts = actors::find_scheme_facts(file_.scheme.name);
    if (facts == nullptr) return;  // said elsewhere
    const bool all = file_.scheme.quorum == 0 || file_.scheme.quorum == ranks;
    const bool in_step = facts->together && !facts->windows && all;
    if (in_step && file_.gradient.zeroes_residuals()) {
      complain("replicas",
               "two servers make the same versions of the same gradients, and with "
               "\"gradient.residuals\" = \"zero\" a rank may have told one what it does not tell "
               "the other; remove \"actor.replicas\" or \"gradient.residuals\"");
    }
    if (in_step) return;
    if (file_.gradient.scaler != actors::ScalerRule::own) {
      complain("replicas",
               "where ranks do not go in step servers have replicas only if each rank has scalers "
               "of its own: set gradient.scaler = \"own\", or remove \"actor.replicas\"");
    }
    const actors::EvaluationSection& evaluation = file_.evaluation;
    if (evaluation.every_seconds > 0 || evaluation.behind == actors::Behind::skip) {
      complain("replicas",
               "where ranks do not go in step servers have replicas only if training waits for "
               "evaluations by steps: set evaluator.behind = \"wait\" and evaluator.every, or "
               "remove \"actor.replicas\"");
    }
  }

  /// Each shard has one reader, and every reader one shard.
  void check_shards() {
    if (table_.plays() != Role::kInputReader || table_.shards == 0) return;
    if (table_.shards != table_.count) {
      complain("shards", fmt::format("{} shards need as many input readers; \"actor.count\" is {}",
                                     table_.shards, table_.count));
    }
    const auto tables = std::count_if(
        file_.tables.begin(), file_.tables.end(),
        [](const ActorSection& other) { return other.plays() == Role::kInputReader; });
    if (tables > 1) {
      complain("shards",
               "with shards all input readers are of one [[actor]]; \"actor.hosts\" can name a "
               "host for each");
    }
  }

  void check_place() {
    if (!table_.hosts.empty()) {
      for (const auto& [key, asked] : {std::pair{"cpus", table_.cpus > 0},
                                       {"gpus", table_.gpus > 0},
                                       {"labels", !table_.labels.empty()},
                                       {"policy", table_.policy != "spread"}}) {
        if (!asked) continue;
        complain(key,
                 fmt::format("\"actor.{}\" chooses among hosts, and \"actor.hosts\" has chosen; "
                             "remove one of them",
                             key));
      }
      if (file_.cluster.placing().brings_hosts) {
        return complain("hosts",
                        fmt::format("with placer = \"{}\" nobody knows the hosts yet; ask for "
                                    "cpus, gpus or memory instead",
                                    file_.cluster.placer));
      }
      for (const std::string& host : table_.hosts)
        check_host(draft_, file_, path_ + ".hosts", host, problems_);
    } else if (table_.policy != "spread" && !table_.asks_for_resources()) {
      complain("policy",
               "\"actor.policy\" chooses among hosts that have what is asked for; ask for cpus, "
               "gpus, memory or labels too");
    }
    if (table_.gpus > 0 && !table_.devices.empty() &&
        static_cast<std::size_t>(table_.gpus) > table_.devices.size()) {
      complain("devices", fmt::format("{} devices are too few for {} gpus per actor",
                                      table_.devices.size(), table_.gpus));
    }
  }

  const Draft& draft_;
  const ClusterFile& file_;
  const ActorSection& table_;
  std::string path_;
  Problems& problems_;
};

}  // namespace

void check_table(const Draft& draft, const ClusterFile& file, std::size_t index,
                 Problems& problems) {
  TableCheck(draft, file, index, problems).check();
}

}  // namespace sterna::launcher
