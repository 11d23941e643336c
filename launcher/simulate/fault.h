// Fault: one thing that goes wrong in a simulated run, and its line in a schedule:
//
//   at 12.5ms kill worker0
//   at 40ms freeze reader0 for 6s
//   at 41ms cut server0 worker1
//   before Push 17 of worker0 kill worker0
//   behind Rejoin 1 of worker0 kill server0
//
// All that others see of a process are its messages, so the points at which it can be lost are
// those between two of them; a fault names such a point, or a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

enum class FaultKind : std::uint8_t {
  kill,    ///< SIGKILL
  freeze,  ///< SIGSTOP, and SIGCONT after `lasts`
  cut,     ///< all connections of two processes; where it lasts, the second one sees it that later
  part,    ///< the same, and they make no new ones for so long
  stall,   ///< what the first says does not come to the second for so long
  repeat,  ///< the message of the fault's point comes twice
};

/// A message that is about to leave, or has just left.
struct FaultPoint {
  std::string message;  ///< one of message_names(); empty: a time instead
  std::uint64_t count = 1;
  std::string speaker;  ///< whose messages of this name are counted
  bool before = false;  ///< whoever is killed then has not sent it
  bool operator==(const FaultPoint&) const = default;
};

struct Fault {
  FaultKind kind = FaultKind::kill;
  Duration at{};  ///< from when all actors run
  FaultPoint point = {};
  std::string who = {};    ///< a process
  std::string other = {};  ///< of two processes the second one
  Duration lasts{};
  bool operator==(const Fault&) const = default;
};

/// Whether it is between two processes.
bool has_two(FaultKind kind);
std::string text_of(const Fault& fault);
/// One line each.
std::string text_of(const std::vector<Fault>& schedule);
/// What text_of() makes. Empty lines, and what follows a '#', are nothing. An error says which
/// line.
Result<std::vector<Fault>> read_schedule(std::string_view text);

}  // namespace sterna::launcher
