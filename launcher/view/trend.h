// Trend: how a number has come to be what it is, small enough to keep for any run, and drawn on a
// line of a terminal.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sterna::launcher {

/// Means of equally many neighbouring values, oldest first; of how many grows with the run.
class Trend {
 public:
  static constexpr std::size_t kMost = 512;
  /// What is not finite, a mean too, is left out.
  void add(double value);
  /// At most kMost.
  const std::vector<double>& means() const { return means_; }

 private:
  std::vector<double> means_;
  std::size_t each_ = 1;  // values to a mean
  double sum_ = 0;        // of those that make none yet
  std::size_t count_ = 0;
};

/// Eighths of a block for each of at most `columns` means, from the least value to the largest; all
/// alike: the lowest. A mean that is not finite has no bar. Empty for fewer than two values.
std::string sparkline(std::span<const double> values, std::size_t columns);

}  // namespace sterna::launcher
