// [[inject.fault]]: what is checked of it beyond its keys.
#include <fmt/format.h>

#include <algorithm>

#include "launcher/cluster_file/draft.h"
#include "launcher/text/nearest.h"

namespace sterna::launcher {

void check_faults(const Draft& draft, const ClusterFile& file, Problems& problems) {
  std::vector<std::string> names;
  std::vector<std::string> on_cpus;  // a program's own actors say for themselves what they are on
  for (const ActorPlan& actor : file.actors) {
    names.push_back(actor.name);
    if (actor.role != Role::kNone && actor.backend == "cpu") on_cpus.push_back(actor.name);
  }
  for (std::size_t i = 0; i < file.faults.size(); ++i) {
    const FaultSection& fault = file.faults[i];
    const auto complain = [&](const char* key, const std::string& message) {
      const std::string path = fmt::format("inject.fault.{}", i);
      const std::string own = fmt::format("{}.{}", path, key);
      problems.add(draft.where(draft.has(own) ? own : path), message);
    };
    if (!file.trains()) {
      complain("at_step",
               "[[inject.fault]] counts the steps of training, and no actor has a role "
               "of it; `sterna chaos` injects faults into any run");
      continue;
    }
    if (!std::ranges::count(names, fault.actor)) {
      complain("actor", fmt::format("there is no actor \"{}\"{}", fault.actor,
                                    did_you_mean_of(fault.actor, names)));
    }
    if (file.job.epochs == 0 && fault.at_step > file.job.steps) {
      complain("at_step", fmt::format("\"inject.fault.at_step\" = {} is beyond the job's {} steps",
                                      fault.at_step, file.job.steps));
    }
    const std::optional<FaultKind> kind = fault_kind(fault.kind);
    if (!kind) continue;  // which has been said
    if (fault.lasts > Duration::zero() && !may_last(*kind)) {
      complain("for",
               fmt::format("a \"{}\" does not last; remove \"inject.fault.for\"", fault.kind));
    }
    if (fault.lasts == Duration::zero() && must_last(*kind)) {
      complain("for", fmt::format("a \"{}\" lasts for some time: say how long, as in "
                                  "inject.fault.for = \"2s\"",
                                  fault.kind));
    }
    if (kind == FaultKind::DEVICE_FAULT && std::ranges::count(on_cpus, fault.actor)) {
      complain("kind", fmt::format("a \"device_fault\" is of a worker or an evaluator with "
                                   "actor.backend = \"cuda\", and {} computes on no GPU",
                                   fault.actor));
    }
    if (fault.by > Duration::zero() && kind != FaultKind::DELAY) {
      complain("by", fmt::format("\"inject.fault.by\" is of a \"delay\", not of a \"{}\"; "
                                 "remove it",
                                 fault.kind));
    }
  }
}

}  // namespace sterna::launcher
