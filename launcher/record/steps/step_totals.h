// StepTotals: what all workers had come to when the last of them had done a step. Each tells of its
// own steps when it likes, so what they told last is of steps that lie far apart. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace sterna::launcher {

class StepTotals {
 public:
  /// Of one worker, so far; of all of them, the sums, and the seconds of the last.
  struct Counts {
    double seconds = 0;  ///< when it was heard
    double bytes_up = 0;
    double bytes_down = 0;
    double coded_bytes_up = 0;
    double coded_bytes_down = 0;
    double examples = 0;
  };
  explicit StepTotals(std::uint64_t first_step) : first_step_(first_step) {}

  /// The worker has done `step` steps, and counted that much.
  void add(const std::string& worker, std::uint64_t step, const Counts& counts);
  /// A worker's counts lie between its two reports next to the step, in proportion; what is older
  /// is forgotten. Of one that has told of less steps, as it was lost, what it told last.
  Counts at(std::uint64_t step);

 private:
  /// Of one worker: where the slowest waits for minutes, the others' reports of that time get thin.
  static constexpr std::size_t kMostReports = 1024;
  struct Report {
    std::uint64_t step = 0;
    Counts counts;
  };
  using Reports = std::deque<Report>;
  static Counts at(const Reports& reports, std::uint64_t step);

  std::uint64_t first_step_;
  std::map<std::string, Reports> reports_;  ///< of each worker, in the order of their steps
};

}  // namespace sterna::launcher
