#include "launcher/record/steps/step_totals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace sterna::launcher {
namespace {

using Counts = StepTotals::Counts;
/// Those that all workers' are added up of.
constexpr std::array<double Counts::*, 5> kSums{&Counts::bytes_up, &Counts::bytes_down,
                                                &Counts::coded_bytes_up, &Counts::coded_bytes_down,
                                                &Counts::examples};

}  // namespace

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
  Counts counts = {.seconds = std::lerp(before.counts.seconds, after->counts.seconds, part)};
  for (const auto count : kSums) {
    counts.*count = std::lerp(before.counts.*count, after->counts.*count, part);
  }
  return counts;
}

StepTotals::Counts StepTotals::at(std::uint64_t step) {
  Counts all;
  for (auto& [worker, reports] : reports_) {
    while (reports.size() > 1 && reports[1].step <= step) reports.pop_front();
    const Counts one = at(reports, step);
    all.seconds = std::max(all.seconds, one.seconds);
    for (const auto count : kSums) all.*count += one.*count;
  }
  return all;
}

}  // namespace sterna::launcher
