// Fault: one thing that goes wrong in a simulated run, and its line in a schedule:
//
//   at 12.5ms kill worker0
//   starting 20ms kill coordinator
//   at 40ms freeze reader0 for 6s
//   at 41ms cut server0 worker1
//   at 50ms isolate h1 for 20s
//   at 50ms recall h1 for 3s
//   at 50ms unmount h1 for 200ms
//   at 50ms fill h1 for 200ms
//   at 50ms slow h1 by 40ms for 200ms
//   at 60ms delay worker0 by 5ms for 300ms
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
  kill,     ///< SIGKILL
  freeze,   ///< SIGSTOP, and SIGCONT after `lasts`
  cut,      ///< all connections of two processes; where it lasts, the second one sees it that later
  part,     ///< the same, and they make no new ones for so long
  stall,    ///< what the first says does not come to the second for so long
  repeat,   ///< the message of the fault's point comes twice
  isolate,  ///< a host: nothing comes there or from there, for so long
  deafen,   ///< nothing comes there
  mute,     ///< nothing comes from there
  delay,    ///< each message to a process comes `by` later, for so long
  drop,     ///< what comes to a process is thrown away, for so long
  recall,   ///< its supervisor wants a host back, and `lasts` later an operator adds it again
  unmount,  ///< a host's files are not there for so long: nothing is read or written
  fill,     ///< a host's disk is full for so long: what is there is read, and nothing is written
  tear,     ///< of the file that was written last on a host the second half is zeros
  slow,     ///< what is written and computed on a host takes `by` longer, for so long
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
  Duration at{};          ///< from when all actors run
  bool starting = false;  ///< ... or from when they begin to be started
  FaultPoint point = {};
  std::string who = {};    ///< a process, or a host
  std::string other = {};  ///< of two processes the second one
  Duration lasts{};
  Duration by{};  ///< of `delay` and `slow`
  bool operator==(const Fault&) const = default;
};

/// Whether it is between two processes.
bool has_two(FaultKind kind);
/// Whether it is a host's, and not a process's.
bool is_of_host(FaultKind kind);
/// The folder of the run's owner, among those of hosts.
inline constexpr const char* kOwnerFiles = "checkpoints";
/// Whether nobody is lost by it: only files or work suffer, of a host or of kOwnerFiles.
bool loses_nobody(FaultKind kind);
std::string text_of(const Fault& fault);
/// One line each.
std::string text_of(const std::vector<Fault>& schedule);
/// What text_of() makes. Empty lines, and what follows a '#', are nothing. An error says which
/// line.
Result<std::vector<Fault>> read_schedule(std::string_view text);

}  // namespace sterna::launcher
