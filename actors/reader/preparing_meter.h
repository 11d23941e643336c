// PreparingMeter: how fast a reader prepares pictures while it has any to prepare.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/job/observer.h"
#include "runtime/base/clock.h"

namespace sterna::actors {

class PreparingMeter {
 public:
  /// Between two reports.
  static constexpr Duration kInterval = std::chrono::milliseconds(100);

  /// Some pictures begin to be prepared; others may be under way.
  void begin(Time now);
  /// So many of those that had begun are prepared, or never will be (0).
  void end(std::uint64_t pictures, Time now);
  /// What is to be told now: nothing so soon after the last time, unless more examples than then
  /// were `left_out`.
  std::optional<ReaderProgress> report(std::string reader, std::uint32_t threads,
                                       std::uint64_t left_out, Time now);

 private:
  std::uint64_t under_way_ = 0;  // begun and not ended
  Time busy_since_;              // where any are
  Duration busy_{};              // before that
  std::uint64_t pictures_ = 0;
  std::uint64_t left_out_ = 0;
  std::optional<Time> reported_at_;
};

}  // namespace sterna::actors
