// What the processes of a run have noted of some steps, all by one clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/traces/host_clocks.h"
#include "runtime/base/result.h"
#include "runtime/trace/tracer.h"

namespace sterna::launcher {

/// Where one record lies.
struct RecordPlace {
  std::size_t process = 0;  ///< in RunTrace::processes
  std::size_t record = 0;   ///< in its records
};

/// A message with both of its ends.
struct MessageArrow {
  RecordPlace sent;
  RecordPlace received;
};

struct RunTrace {
  std::vector<ProcessSpans> processes;  ///< of the steps asked for, by the reference's clock
  std::vector<MessageArrow> arrows;
  std::uint64_t loose_ends = 0;  ///< messages of which one end alone was noted
  std::uint64_t lost_blocks = 0;
  TracedSteps steps;  ///< that are there: ranks' steps from begin to end
  std::string reference;
  std::vector<HostClocks::Host> clocks;  ///< of the other hosts

  const SpanRecord& at(RecordPlace place) const {
    return processes[place.process].records[place.record];
  }
  const std::string& name(std::size_t process, const SpanRecord& record) const {
    return processes[process].names[record.name];
  }
};

/// Of the lives that a run's files hold: their times by one clock, their messages' ends brought
/// together, and nothing but the steps that are wanted (and their first's cause, the step before).
/// Errors: not_found where none of those were traced.
Result<RunTrace> make_run_trace(std::vector<ProcessSpans> lives,
                                const std::optional<TracedSteps>& wanted);
/// The same from a run's directory. Errors: also not_found where it has no trace, malformed, io.
Result<RunTrace> read_run_trace(const std::string& run, const std::optional<TracedSteps>& wanted);

}  // namespace sterna::launcher
