// What `sterna doctor` has found out about the hosts of a cluster file, for people and as JSON.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sterna::launcher {

/// Something that would go wrong, or make trouble, in a run.
struct Finding {
  std::string host;
  std::string check;  ///< "ssh", "disk", "data", ...
  std::string wrong;  ///< what is wrong
  std::string fix;    ///< the command, or what else puts it right
  bool hint = false;  ///< a run goes slower for it, or does not need it yet
  bool operator==(const Finding&) const = default;
};

/// How a message of one host gets to another and back.
struct RoundTrip {
  std::string from;
  std::string to;
  double microseconds = 0;                     ///< the median
  std::optional<double> megabytes_per_second;  ///< one way; with --bandwidth
};

struct DoctorReport {
  std::string file;
  std::vector<std::string> hosts;  ///< all, in the order of the file
  std::vector<Finding> findings;
  std::vector<RoundTrip> round_trips;  ///< of the pairs that were connected
  std::string probed;                  ///< whether and how the hosts probed each other, in words
  bool interrupted = false;
  /// How many of the findings are hints.
  std::size_t hints() const {
    return static_cast<std::size_t>(std::ranges::count(findings, true, &Finding::hint));
  }
  bool well() const { return findings.size() == hints() && !interrupted; }
};

/// Tables and a last line, each line ended.
std::string doctor_text(const DoctorReport& report);
/// One line.
std::string doctor_json(const DoctorReport& report);

}  // namespace sterna::launcher
