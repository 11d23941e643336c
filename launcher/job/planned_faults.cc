#include "launcher/job/planned_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "launcher/record/run_directory.h"

namespace sterna::launcher {

namespace {

std::string fault_name(const std::vector<FaultSection>& faults, std::size_t number) {
  return fmt::format("inject.fault {}, at step {}", number, faults[number].at_step);
}

}  // namespace

std::set<std::size_t> faults_suffered(const std::vector<FaultSection>& faults,
                                      const std::string& run_directory, std::uint64_t step) {
  std::set<std::size_t> over;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (faults[i].at_step <= step) over.insert(i);
  }
  std::ifstream events(fmt::format("{}/{}", run_directory, kEventsFile));
  for (std::string line; std::getline(events, line);) {
    if (line.find("\"injected\"") == std::string::npos) continue;
    for (std::size_t i = 0; i < faults.size(); ++i) {
      if (line.find(fmt::format("({})", fault_name(faults, i))) != std::string::npos)
        over.insert(i);
    }
  }
  return over;
}

PlannedFaults::PlannedFaults(const std::vector<FaultSection>& faults, std::shared_ptr<Over> over,
                             Inject inject, std::function<void(const std::string& line)> say)
    : faults_(faults), over_(std::move(over)), inject_(std::move(inject)), say_(std::move(say)) {}

void PlannedFaults::turn(std::int64_t step) {
  hear();
  if (step == step_) return;
  step_ = step;
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    const FaultSection& fault = faults_[i];
    const bool due = step > 0 && static_cast<std::uint64_t>(step) >= fault.at_step;
    const bool is_asked =
        std::ranges::any_of(asked_, [&](const Asked& one) { return one.number == i; });
    const auto kind = fault_kind(fault.kind);
    if (!due || is_asked || over_->contains(i) || !kind) continue;
    asked_.push_back(
        {i, inject_({fault.actor, *kind, fault.lasts, fault_name(faults_, i), fault.by})});
  }
}

void PlannedFaults::hear() {
  std::erase_if(asked_, [&](Asked& one) {
    if (!one.answer.ready()) return false;
    const Result<void> injected = one.answer.take();
    const bool comes_again = !injected && injected.error().code == Errc::unavailable;
    if (!comes_again) over_->insert(one.number);
    if (!injected && !comes_again)
      say_(fault_name(faults_, one.number) + ": " + injected.error().message);
    return true;
  });
}

}  // namespace sterna::launcher
