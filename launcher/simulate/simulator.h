// Simulator: runs seeds and says of each what does not hold; and makes a schedule that breaks
// something as short as it can be.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "launcher/simulate/facts.h"
#include "launcher/simulate/simulated_run.h"

namespace sterna::launcher {

/// How a seed went.
struct SeedReport {
  Scene scene;
  RunFacts facts;
  std::vector<Violation> violations;
};

/// Any number of threads may use one.
class Simulator {
 public:
  explicit Simulator(const Registry& registry) : registry_(registry) {}

  /// Fails only if the simulator itself cannot work.
  Result<SeedReport> run(std::uint64_t seed, const Teller& tell = nullptr);
  /// The scene of a seed with another schedule.
  Result<SeedReport> run(std::uint64_t seed, std::vector<Fault> schedule,
                         const Teller& tell = nullptr);

  /// A part of the report's schedule that breaks the same invariant, of which no fault can be left
  /// out. The report has a violation. `tried` is called after each run.
  std::vector<Fault> minimise(const SeedReport& report,
                              const std::function<void(std::size_t faults)>& tried = nullptr);

 private:
  Result<SeedReport> run(Scene scene, const Teller& tell);
  RunFacts facts_of(const Scene& scene, const std::vector<Fault>& schedule, const Teller& tell);
  Result<CalmRun> calm(const Scene& scene);

  const Registry& registry_;
  std::mutex folder_;                    // of runs that have one, one at a time
  std::mutex mutex_;                     // guards calm_
  std::map<std::string, CalmRun> calm_;  // by Scene::job
};

}  // namespace sterna::launcher
