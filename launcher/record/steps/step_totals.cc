#include "launcher/record/steps/step_totals.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace sterna::launcher {

void StepTotals::add(const std::string& worker, std::uint64_t step, const Counts& counts) {
  const auto [entry, fresh] = reports_.try_emplace(worker);
  Reports& reports = entry->second;
  if (fresh) reports.push_back({first_step_, {}});
  // One that was lost, and comes again, does its last steps again.
  while (!reports.empty() && reports.back().step >= step) reports.pop_back();
  if (reports.size() == kMostReports) {
    Reports thin;
    for (std::size_t i = 0; i < reports.size(); i += 2) thin.push_back(reports[i]);
    reports = std::move(thin);
  }
  reports.push_back({step, counts});
}

StepTotals::Counts StepTotals::at(const Reports& reports, std::uint64_t step) {
  const auto after = std::ranges::lower_bound(reports, step, {}, &Report::step);
  if (after == reports.end()) return reports.back().counts;
  if (after == reports.begin() || after->step == step) return after->counts;
  const Report& before = *std::prev(after);
  const double part =
      static_cast<double>(step - before.step) / static_cast<double>(after->step - before.step);
  const auto between = [&](double Counts::*count) {
    return std::lerp(before.counts.*count, after->counts.*count, part);
  };
  return {.seconds = between(&Counts::seconds),
          .bytes_up = between(&Counts::bytes_up),
          .bytes_down = between(&Counts::bytes_down),
          .examples = between(&Counts::examples)};
}

StepTotals::Counts StepTotals::at(std::uint64_t step) {
  Counts all;
  for (auto& [worker, reports] : reports_) {
    while (reports.size() > 1 && reports[1].step <= step) reports.pop_front();
    const Counts one = at(reports, step);
    all.seconds = std::max(all.seconds, one.seconds);
    all.bytes_up += one.bytes_up;
    all.bytes_down += one.bytes_down;
    all.examples += one.examples;
  }
  return all;
}

}  // namespace sterna::launcher
