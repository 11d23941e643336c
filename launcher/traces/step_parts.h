// Where a rank's steps go: at each moment it is in one exposed part. A wait for parameters is what
// the last of them waited for, backwards along the messages that led to them: its way down, the
// server, the last rank's gradient on its way up, and before that what that rank was at.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/job/trace_section.h"
#include "launcher/traces/run_trace.h"

namespace sterna::launcher {

/// What a step's time is due to; in nanoseconds.
struct StepCauses {
  double compute = 0;
  double up = 0;
  double down = 0;
  double server = 0;
  double input = 0;
  double other = 0;
  std::map<std::uint32_t, double> straggler;  ///< by the rank that others, or it itself, wait for
};

struct RankStep {
  std::uint32_t rank = 0;
  std::uint64_t step = 0;
  std::int64_t began = 0;
  std::int64_t ended = 0;
  std::array<double, actors::kPartNames.size()> parts{};  ///< exposed, by Part; nanoseconds
  double hidden = 0;  ///< of its computing: gradients or parameters are under way beneath it
  StepCauses causes = {};
  double length() const { return static_cast<double>(ended - began); }
  double exposed() const;
  double part(actors::Part part) const { return parts[static_cast<std::size_t>(part)]; }
};

/// Of all ranks, in the order of rank and step.
std::vector<RankStep> steps_of(const RunTrace& trace);

}  // namespace sterna::launcher
