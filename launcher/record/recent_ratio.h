// RecentRatio: of two counts that only grow, how much the one grew for each unit of the other of
// late.
#pragma once

#include <deque>
#include <optional>

namespace sterna::launcher {

/// None where there is no whole.
inline std::optional<double> fraction(double part, double whole) {
  if (whole == 0) return std::nullopt;
  return part / whole;
}

class RecentRatio {
 public:
  /// How far back it looks, in seconds; so a job that recovers says so soon.
  static constexpr double kSpan = 10;

  /// Both counts at `seconds`, which never falls, of any clock. They began at 0.
  void add(double seconds, double part, double whole);

  /// By how much each has grown in the last kSpan, or since the report before the last, where that
  /// is longer ago.
  double part() const;
  double whole() const;

 private:
  struct Counts {
    double seconds = 0;
    double part = 0;
    double whole = 0;
  };
  std::deque<Counts> kept_;  // the first is as old as kSpan or all that is known; a few dozen
  Counts last_;
};

}  // namespace sterna::launcher
