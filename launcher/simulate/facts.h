// RunFacts: what was seen of one simulated run, and the invariants that it has to keep. Which ones
// it does not is a pure function of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/job/observer.h"
#include "launcher/simulate/fault.h"
#include "launcher/simulate/scene.h"
#include "runtime/cluster/cluster_messages.h"

namespace sterna::launcher {

/// What an undisturbed run of the same job came to.
struct CalmRun {
  std::string hash;
  std::vector<actors::Evaluated> evaluated;
};

struct RunFacts {
  /// A fault when its time came, and the incarnations that it met; 0: nobody.
  struct Injected {
    Fault fault;
    PeerIdentity who;
    PeerIdentity other;
  };
  struct Restart {
    PeerIdentity who;
    std::string cause;
  };
  std::vector<Injected> injected;
  std::optional<std::string> not_started;  ///< why
  bool finished = false;                   ///< the evaluator has told the result
  std::optional<ProcessDown> failure;      ///< why the run failed
  std::string hash;
  std::vector<actors::Evaluated> evaluated;  ///< each time that it was told
  std::vector<Restart> restarts;
  std::uint64_t moves = 0;                      ///< of these, to another host
  std::vector<std::string> twins;               ///< of one name, alive at the same time
  std::uint32_t survivors = 0;                  ///< processes that were still there after the stop
  std::uint64_t queued_bytes = 0;               ///< the most that a process said to have
  std::map<std::string, std::uint64_t> points;  ///< faults that struck there, by the message
  std::uint64_t trace = 0;                      ///< of everything that happened
  std::uint64_t messages = 0;
  Duration took{};  ///< of the virtual clock
};

/// Of an invariant that does not hold: which, and what was seen.
struct Violation {
  std::string invariant;
  std::string seen;
  bool operator==(const Violation&) const = default;
};

std::vector<Violation> violations(const Scene& scene, const RunFacts& facts, const CalmRun& calm);

}  // namespace sterna::launcher
