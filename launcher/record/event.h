// What happens to a run beside training: a line each in events.jsonl, and for `sterna events`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace sterna::launcher {

struct Event {
  double time = 0;  ///< in seconds since 1970
  /// "began"; "death": of an actor, not to be started again alone; "actor_restart": of one that is;
  /// "lost": of a worker, not to be started again, without which the run goes on;
  /// "restart": of all, from a checkpoint; "apart": two do not reach each other; "relinked": they
  /// do again, and each connection that was back at once; "missed_checkpoint"; "missed_copy": of
  /// one that was made; "drained": nothing is on a host any more; "added": a host is one of the
  /// run's from now on; "injected": a fault on purpose, that happens to the actor now; "refilled":
  /// a server in the place of a lost one has the parameters again; "residuals_lost": ranks of a
  /// worker in the place of a lost one go on without; "slow_link": one sends another less in a
  /// second than cluster.slow_link; "slow_link_over"; "passed_over": a newer checkpoint is damaged;
  /// "ended".
  std::string kind = {};
  std::int64_t step = 0;          ///< that all workers had done; of a "restart" the checkpoint's
  std::string actor = {};         ///< whom it happened to; of two, both: "worker0, server1"
  std::uint64_t incarnation = 0;  ///< the actor's; 0: it says nothing
  std::string cause = {};
  std::optional<double> seconds = {};  ///< that it lasted, where that is known
  std::int64_t steps_again = 0;        ///< that are done again after a "restart"
};

/// One line, without its end.
std::string to_json(const Event& event);
/// Malformed where it has no time, kind or step.
Result<Event> parse_event(std::string_view line);
/// "2026-11-24T21:50:03Z  step 120  actor_restart  worker0#2  killed by SIGKILL"
std::string to_text(const Event& event);

}  // namespace sterna::launcher
