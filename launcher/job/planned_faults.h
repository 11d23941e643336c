// PlannedFaults: the [[inject.fault]]s of a run, each injected once, when its step is done.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"
#include "runtime/actor/future.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::launcher {

/// The numbers of those that a run in this directory has suffered, or that lie before `step`, from
/// which it goes on.
std::set<std::size_t> faults_suffered(const std::vector<FaultSection>& faults,
                                      const std::string& run_directory, std::uint64_t step);

class PlannedFaults {
 public:
  /// The numbers of those that are over: a job that is started again does not suffer them again.
  using Over = std::set<std::size_t>;
  using Inject = std::function<Future<void>(InjectFault fault)>;
  /// `faults` outlive it. `say` hears of what cannot be.
  PlannedFaults(const std::vector<FaultSection>& faults, std::shared_ptr<Over> over, Inject inject,
                std::function<void(const std::string& line)> say);

  /// Injects what is due once `step` steps are done, and hears what became of it. An actor that is
  /// being started again is waited for: it is tried again at every later step. Never waits.
  void turn(std::int64_t step);

 private:
  struct Asked {
    std::size_t number;
    Future<void> answer;
  };
  void hear();

  const std::vector<FaultSection>& faults_;
  std::shared_ptr<Over> over_;
  Inject inject_;
  std::function<void(const std::string& line)> say_;
  std::vector<Asked> asked_;
  std::int64_t step_ = 0;
};

}  // namespace sterna::launcher
