#include "launcher/view/status_json.h"

#include "launcher/text/json_struct.h"
#include "launcher/view/reader_rate_json.h"

namespace sterna::launcher {

STERNA_JSON(ActorStatus, name, role, host, incarnation, state, pid, memory_bytes, queue_bytes,
            loop_lag_ms, bytes_in, bytes_out, cause)
STERNA_JSON(OtherPrecision, what, precision_at_1)
STERNA_JSON(SlowLink, from, from_host, to, to_host, bytes_per_second)
STERNA_JSON(RunStatus, config, run_directory, phase, cause, step, steps, first_step,
            checkpoint_step, restarts, restart, actor_restarts, actor_restart, lost_workers,
            relinked, slow_links, residuals_lost, injected_faults, elapsed_seconds, left_seconds,
            loss, decay_loss, examples_per_second, precision_at_1, precision_step, recall_at_5,
            precision_what, others, skipped_evaluations, late_packets, staleness, most_stale,
            evaluator_wait, bits_up, bits_down, nonzero, saturated, data_wait, readers,
            raw_bytes_up, coded_bytes_up, raw_bytes_down, coded_bytes_down, actors, codecs,
            log_lines, logged)

std::string status_json(const RunStatus& status) {
  Json json = {{"format", 1}};
  json.update(status);
  return json_line(json);
}

Result<RunStatus> parse_status(std::string_view text) {
  return parse_json<RunStatus>(text, "the run's report");
}

}  // namespace sterna::launcher
