// Contenders measured in turn, round by round, so that a busy moment meets them all.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace sterna::launcher {

/// Something that is timed, by the name under which its times are kept.
struct Contender {
  std::string name;
  std::function<void()> run;
};

/// The times of each contender, one per round.
class RoundTimes {
 public:
  /// Runs every contender once unmeasured, and then `rounds` times in turn.
  static RoundTimes measure(const std::vector<Contender>& contenders, int rounds);

  /// Of one round more, which somebody else measured.
  void add(const std::string& name, double seconds) { seconds_[name].push_back(seconds); }

  /// Seconds, the median.
  double seconds(const std::string& name) const;
  /// The median over the rounds of a's time over b's time in the same round.
  double ratio(const std::string& a, const std::string& b) const;
  /// The median over the rounds of (a's time / b's) / (c's / d's), as for two speed-ups.
  double ratio_of_ratios(const std::string& a, const std::string& b, const std::string& c,
                         const std::string& d) const;

 private:
  std::map<std::string, std::vector<double>> seconds_;
};

/// Seconds of one of `repeats` runs in a row, the median over `rounds`: for what stays in a cache.
double repeated_seconds(const std::function<void()>& run, int repeats, int rounds);

}  // namespace sterna::launcher
