// How the clocks of a run's hosts stand to each other, from the round trips of heartbeats: each
// says that the other's clock is ahead by what lies between two limits, as far apart as the round
// trip took. The quickest of some seconds say most; between those offsets go by the line, which a
// steady drift does, too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/trace/span_record.h"

namespace sterna::launcher {

/// What one host's clock is ahead of another's, as its own time goes on.
class ClockDifference {
 public:
  /// Two crystals drift apart by no more, in parts: each by 100 ppm.
  static constexpr double kMostDrift = 200e-6;
  struct Sample {
    std::int64_t at = 0;  ///< by the clock that is compared with
    double ahead = 0;     ///< nanoseconds
    double error = 0;     ///< likewise; the truth is no further away
  };
  explicit ClockDifference(std::vector<Sample> samples);
  double ahead(std::int64_t at) const;
  double error(std::int64_t at) const;
  /// Parts; 0 where too little is known.
  double drift() const;
  const std::vector<Sample>& knots() const { return knots_; }

 private:
  std::vector<Sample> knots_;  // in the order of their time
};

/// As a round trip says it: what the asked one's clock is ahead of the asker's.
ClockDifference::Sample sample_of(const ProcessSpans::RoundTrip& trip);

class HostClocks {
 public:
  struct Host {
    std::string name;
    bool known = true;  ///< else nothing was heard between it and the reference
    double ahead = 0;   ///< of the reference, in the middle of its trace; nanoseconds
    double error = 0;   ///< the largest of its trace
    double drift = 0;
  };
  explicit HostClocks(const std::vector<ProcessSpans>& lives);
  /// The host whose time is everybody's.
  const std::string& reference() const { return reference_; }
  /// A host's time as the reference's.
  std::int64_t common(const std::string& host, std::int64_t at) const;
  /// Of all other hosts, over the times that their spans have.
  std::vector<Host> hosts() const;

 private:
  struct Step {
    std::string to;  // nearer to the reference
    bool ahead_of_to = true;
    const ClockDifference* difference = nullptr;
  };
  double error(const std::string& host, std::int64_t at) const;

  std::string reference_;
  std::map<std::pair<std::string, std::string>, ClockDifference> differences_;
  std::map<std::string, Step> towards_;                                 // the reference
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> times_;  // first and last
};

}  // namespace sterna::launcher
