// EventLog: events.jsonl of one run, written like its metrics, and never longer than it may be.
#pragma once

#include <functional>
#include <string>

#include "launcher/record/event.h"
#include "launcher/record/metrics_file.h"

namespace sterna::launcher {

class EventLog {
 public:
  /// A connection that is lost twice a second fills it in two weeks; then it says so and ends.
  static constexpr std::uint64_t kMost = 1'000'000;

  /// `say` and `clock`: as a MetricsFile's. `now`: seconds since 1970.
  EventLog(LineFile file, std::function<void(const std::string& line)> say, const Clock& clock,
           std::function<double()> now, std::uint64_t most = kMost)
      : file_(std::move(file), std::move(say), clock), now_(std::move(now)), left_(most) {}

  /// Its time is now. Never waits.
  void append(Event event);
  void look() { file_.look(); }
  Result<void> close() { return file_.close(); }

 private:
  MetricsFile file_;
  std::function<double()> now_;
  std::uint64_t left_;
};

}  // namespace sterna::launcher
