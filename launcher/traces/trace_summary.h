// What a trace says in ten lines: where a step's time goes, and what bounds the run.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launcher/traces/step_parts.h"

namespace sterna::launcher {

struct TraceSummary {
  TracedSteps steps;
  std::size_t ranks = 0;
  double step_seconds = 0;  ///< the mean of all ranks' steps
  /// Parts of that, from 0 to 1: what is exposed, and the rest.
  std::array<double, actors::kPartNames.size()> exposed{};
  double other = 0;
  double hidden = 0;  ///< gradients or parameters under way beneath computing
  /// What the time is due to, likewise, by the names of kBounds.
  std::map<std::string, double> causes;
  std::string bound;  ///< the largest of them
  std::optional<std::uint32_t> straggler;
  /// Of each server and reader: parts of the traced time, by what it did.
  struct Busy {
    std::string process;
    std::map<std::string, double> parts;
  };
  std::vector<Busy> servers;
  std::vector<Busy> readers;
  std::string reference;
  std::vector<HostClocks::Host> clocks;
  std::size_t messages = 0;
  std::uint64_t loose_ends = 0;
  std::uint64_t lost_blocks = 0;
};

inline constexpr std::array<const char*, 6> kBounds = {"compute", "up",    "down",
                                                       "server",  "input", "straggler"};

/// `trace` has a step of a rank.
TraceSummary summary_of(const RunTrace& trace);
/// Ten lines.
std::string to_text(const TraceSummary& summary);
/// On one line.
std::string to_json(const TraceSummary& summary);

}  // namespace sterna::launcher
