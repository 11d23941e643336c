#include "launcher/run/planned_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sterna::launcher {

PlannedFaults::PlannedFaults(const std::vector<FaultSection>& faults, std::shared_ptr<Over> over,
                             Inject inject, std::function<void(const std::string& line)> say)
    : faults_(faults), over_(std::move(over)), inject_(std::move(inject)), say_(std::move(say)) {}

std::string PlannedFaults::name_of(std::size_t number) const {
  return fmt::format("inject.fault {}, at step {}", number, faults_[number].at_step);
}

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
    asked_.push_back({i, inject_({fault.actor, *kind, fault.lasts, name_of(i)})});
  }
}

void PlannedFaults::hear() {
  std::erase_if(asked_, [&](Asked& one) {
    if (!one.answer.ready()) return false;
    const Result<void> injected = one.answer.take();
    const bool comes_again = !injected && injected.error().code == Errc::unavailable;
    if (!comes_again) over_->insert(one.number);
    if (!injected && !comes_again) say_(name_of(one.number) + ": " + injected.error().message);
    return true;
  });
}

}  // namespace sterna::launcher
