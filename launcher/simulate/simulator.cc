#include "launcher/simulate/simulator.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/cluster/cluster.h"

namespace sterna::launcher {

RunFacts Simulator::facts_of(const Scene& scene, const std::vector<Fault>& schedule,
                             const Teller& tell) {
  std::unique_lock<std::mutex> alone;
  if (scene.file.checkpoint.on()) alone = std::unique_lock(folder_);
  return run_scene(scene, schedule, registry_, tell);
}

Result<CalmRun> Simulator::calm(const Scene& scene) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = calm_.find(scene.job); known != calm_.end()) return known->second;
  }
  const RunFacts facts = facts_of(scene, {}, nullptr);
  if (!facts.finished || facts.failure) {
    const std::string why = facts.failure       ? describe(facts.failure->down)
                            : facts.not_started ? *facts.not_started
                                                : "it does not end";
    return Error{Errc::internal, "the undisturbed run of " + describe(scene) + ": " + why};
  }
  const std::lock_guard lock(mutex_);
  return calm_.emplace(scene.job, CalmRun{facts.hash, facts.evaluated}).first->second;
}

Result<SeedReport> Simulator::run(std::uint64_t seed, const Teller& tell) {
  STERNA_ASSIGN(Scene scene, draw_scene(seed));
  return run(std::move(scene), tell);
}

Result<SeedReport> Simulator::run(std::uint64_t seed, std::vector<Fault> schedule,
                                  const Teller& tell) {
  STERNA_ASSIGN(Scene scene, draw_scene(seed));
  scene.schedule = std::move(schedule);
  return run(std::move(scene), tell);
}

Result<SeedReport> Simulator::run(Scene scene, const Teller& tell) {
  CalmRun calm_run;
  if (!scene.apart) {
    STERNA_ASSIGN(calm_run, calm(scene));
  }
  RunFacts facts = facts_of(scene, scene.schedule, tell);
  std::vector<Violation> broken = violations(scene, facts, calm_run);
  return SeedReport{std::move(scene), std::move(facts), std::move(broken)};
}

std::vector<Fault> Simulator::minimise(const SeedReport& report,
                                       const std::function<void(std::size_t)>& tried) {
  const std::string broken = report.violations.front().invariant;
  std::vector<Fault> schedule = report.scene.schedule;
  // Long pieces first, then shorter ones, until no single fault can go.
  for (std::size_t piece = std::max<std::size_t>(schedule.size() / 2, 1);;) {
    bool shorter = false;
    for (std::size_t end = schedule.size(); end > 0;) {
      const std::size_t first = end - std::min(piece, end);
      std::vector<Fault> rest(schedule.begin(),
                              schedule.begin() + static_cast<std::ptrdiff_t>(first));
      rest.insert(rest.end(), schedule.begin() + static_cast<std::ptrdiff_t>(end), schedule.end());
      const Result<SeedReport> without = run(report.scene.seed, rest);
      if (tried) tried(rest.size());
      const bool still = without && std::ranges::any_of(without->violations, [&](const auto& one) {
                           return one.invariant == broken;
                         });
      if (still) {
        schedule = std::move(rest);
        shorter = true;
      }
      end = first;
    }
    if (!shorter && piece == 1) return schedule;
    if (!shorter) piece = std::max<std::size_t>(piece / 2, 1);
  }
}

}  // namespace sterna::launcher
