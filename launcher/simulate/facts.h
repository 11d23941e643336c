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
    std::size_t life = 0;  ///< of the run: 0, then one more for each time that it began again
  };
  struct Restart {
    PeerIdentity who;
    std::string cause;
    std::size_t life = 0;
  };
  /// How one life of the run ended, if not well.
  struct Failure {
    ProcessDown down = {};
    /// Who was lost when nobody could give it its state again: it has to fail.
    std::string state_lost = {};
    bool state_gone = false;  ///< or the launcher had not heard of both, as one was out of reach
    std::uint64_t goes_on_from = 0;  ///< a step; 0: the start, or it does not
  };
  std::vector<Injected> injected;
  std::optional<std::string> not_started;  ///< why
  bool finished = false;                   ///< the evaluator has told the result
  std::vector<Failure> losses;             ///< after which all was started again, from a checkpoint
  std::optional<Failure> failure;          ///< why the run failed
  /// Workers without which the run went on, and what it was told when it could not any more.
  std::vector<std::string> lost_workers;
  std::string below_quorum;
  std::vector<std::string> packet_faults;  ///< of a scene that is apart: PacketLedger::faults()
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
