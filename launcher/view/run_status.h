// What is known of a run at one moment: what the live view and the plain log show.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sterna::launcher {

struct ActorStatus {
  std::string name;
  std::string role;   ///< in training; else its type
  std::string state;  ///< "starting", "running", "stopping", "restarting", "done", "stopped",
                      ///< "killed" or "dead"
  std::int64_t pid = 0;
  std::uint64_t memory_bytes = 0;  ///< resident; 0: unknown
  std::uint64_t queue_bytes = 0;   ///< waiting to be sent
  double loop_lag_ms = 0;
  std::uint64_t bytes_in = 0;  ///< whole messages, as they travelled
  std::uint64_t bytes_out = 0;
  std::string host = {};
  std::uint64_t incarnation = 0;
  std::string cause = {};  ///< of "killed" or "dead"
  /// Then a report of it may be older than what was heard of its end.
  bool has_ended() const {
    return state == "done" || state == "stopped" || state == "killed" || state == "dead";
  }
};

/// How fast an input reader prepares pictures while it has any to prepare.
struct ReaderRate {
  std::string reader;
  double pictures_per_second = 0;
  std::uint32_t threads = 1;  ///< together so fast
};

/// Precision@1 beside that which stands for the run: of another subset, or of other values.
struct OtherPrecision {
  std::string what;  ///< in which it differs: "on train", "of parameters"
  double precision_at_1 = 0;
};

/// What one actor sends to another goes slower than cluster.slow_link.
struct SlowLink {
  std::string from;
  std::string from_host;
  std::string to;
  std::string to_host;
  std::uint64_t bytes_per_second = 0;  ///< at most, when that was found
  bool operator==(const SlowLink&) const = default;
};

struct RunStatus {
  std::string config;
  std::string run_directory;
  /// "starting", "training", "evaluating" ("running", where nothing is trained), "stopping",
  /// "done", "failed", "interrupted"
  std::string phase;
  std::string cause;   ///< of "failed" or "interrupted", and as far as it is known of "stopping"
  std::string codecs;  ///< what gradient.codec = "auto" has chosen; empty: nothing
  std::int64_t step = 0;
  std::int64_t steps = 0;
  std::int64_t batches_of_epoch = 0;  ///< of one rank, where they are counted; 0: nobody knows
  std::int64_t first_step = 0;        ///< of a run that goes on from a checkpoint
  std::int64_t checkpoint_step = 0;   ///< of the newest checkpoint that this run made; 0: none
  std::uint64_t restarts = 0;         ///< after a loss, each from the newest checkpoint
  std::string restart;                ///< the last of them, in words
  std::uint64_t actor_restarts = 0;   ///< of single actors, beside the others
  std::string actor_restart;          ///< the last of them, in words
  std::vector<std::string> lost_workers = {};  ///< without which it goes on
  std::uint64_t relinked = 0;                  ///< connections that were lost and made again
  std::vector<SlowLink> slow_links;            ///< now
  std::uint64_t residuals_lost = 0;   ///< ranks that went on without error feedback's residuals
  std::uint64_t injected_faults = 0;  ///< on purpose, by the file or by `sterna chaos`
  /// From the first step, or where nothing is trained from the command; once it is over to its end,
  /// as RunResult::seconds: stopping the processes counts nowhere.
  double elapsed_seconds = 0;
  std::optional<double> left_seconds;  ///< estimated
  std::optional<double> loss;          ///< mean of the ranks' last, weight decay included
  std::optional<double> decay_loss;    ///< of that, weight decay's
  std::optional<double> examples_per_second;
  /// The part of the last seconds in which workers waited for batches.
  std::optional<double> data_wait;
  std::vector<ReaderRate> readers;        ///< in the last seconds; of those that have prepared any
  std::optional<double> precision_at_1;   ///< of the last evaluation
  std::int64_t precision_step = 0;        ///< the step of that evaluation
  std::optional<double> recall_at_5;      ///< of the same
  std::string precision_what;             ///< "of averages", "on train"; empty: test, of parameters
  std::vector<OtherPrecision> others;     ///< that were evaluated beside it
  std::uint64_t skipped_evaluations = 0;  ///< that were due, and that nobody makes any more
  std::uint64_t late_packets = 0;         ///< of gradients, that no version was made with
  std::optional<double> staleness;        ///< as RunResult's, so far
  std::uint64_t most_stale = 0;           ///< likewise
  /// The part of the last seconds in which training waited for the evaluator.
  std::optional<double> evaluator_wait;
  std::optional<double> bits_up;    ///< per element of the gradient
  std::optional<double> bits_down;  ///< per parameter
  std::optional<double> nonzero;    ///< fraction of the trits so far
  std::optional<double> saturated;  ///< fraction larger than the last step's scaler
  /// Of all workers: gradients and parameters as fp32, and as the codec sent them.
  std::uint64_t raw_bytes_up = 0;
  std::uint64_t coded_bytes_up = 0;
  std::uint64_t raw_bytes_down = 0;
  std::uint64_t coded_bytes_down = 0;
  std::vector<ActorStatus> actors;
  std::vector<std::string> log_lines;  ///< the latest, oldest first
  std::uint64_t logged = 0;            ///< lines, those included that are no longer there
};

}  // namespace sterna::launcher
