// What a run leaves for programs to read: its result (one JSON object) and its metrics (one JSON
// object per line). Field names are those of the cluster file and the live view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/view/run_status.h"

namespace sterna::launcher {

/// One evaluation. `seconds` counts from the first step.
struct EvaluationResult {
  std::int64_t step = 0;
  double seconds = 0;
  double precision_at_1 = 0;
  std::int64_t examples = 0;
  std::uint64_t left_out_examples = 0;     ///< that were to be evaluated too, and are damaged
  std::optional<double> recall_at_5 = {};  ///< says something of nets with more than five classes
  double loss = 0;                         ///< mean cross-entropy
  std::string subset = "test";             ///< of evaluator.subsets
  std::string of = "parameters";           ///< or "averages"
};

/// How an actor of a program ended.
struct ActorEnd {
  std::string name;
  std::string type;
  std::string host;
  /// "done": by itself; "stopped": it was asked to, when the run ended; "killed": it did not do so
  /// in time; "dead": it failed, or was lost. Empty: nobody knows.
  std::string end;
  std::string cause;  ///< of "killed" or "dead"
};

/// An actor was lost, all were started again, and the run went on.
struct Restart {
  std::int64_t step = 0;         ///< of the checkpoint that it went on from; 0: from the start
  std::int64_t steps_again = 0;  ///< that had been done after it
  std::optional<double> seconds = {};  ///< from the loss to the first new step, if there was one
  std::string cause;
};

/// An actor was lost and started again, beside the others.
struct ActorRestart {
  std::string actor;
  std::uint64_t incarnation = 0;  ///< that was lost
  std::int64_t step = 0;          ///< that all workers had done then
  std::string cause;
};

/// What libraries ran of a net on a device, and for which workers, in the order of their ends.
struct PlansOfWorkers {
  std::vector<std::string> workers;
  std::string device;
  std::vector<std::string> plans;  ///< as actors::DevicePlans has them
};

/// What a table over runs asks for first of a job's file; its data, codec, workers and ranks stand
/// beside it.
struct JobFacts {
  std::string name;  ///< cluster.name
  std::string net;
  std::uint64_t steps = 0;  ///< planned
  std::uint64_t batch = 0;  ///< of a rank
  std::uint64_t seed = 0;
  std::string scheme;
  std::string optimizer;
  double learning_rate = 0;
  double weight_decay = 0;
  bool error_feedback = false;
};

/// How a run ended. Numbers that were never measured (a run that failed early) are JSON's null.
struct RunResult {
  std::string run;                             ///< the run directory's path
  int exit = 0;                                ///< the exit code
  std::string cause;                           ///< why it ended, where exit is not 0
  std::vector<std::string> consequences = {};  ///< the deaths that followed, at most five
  std::int64_t steps = 0;                      ///< steps done, with those before first_step
  std::int64_t first_step = 0;                 ///< of the checkpoint that it went on from; or 0
  std::string checkpoint;                      ///< the newest that this run made; empty: none
  std::string resume;                          ///< the command that goes on; empty: none does
  std::uint64_t missed_checkpoints = 0;        ///< that were due and not made; the log says why
  std::uint64_t missed_copies = 0;             ///< of checkpoints that were made
  /// Training examples that were damaged, others in their place (data.most_bad): the most that a
  /// reader counted, or all readers, where each holds a shard.
  std::uint64_t left_out_examples = 0;
  // What was left out of metrics.jsonl, because whoever keeps it was too slow:
  std::uint64_t lost_losses = 0;       ///< of single ranks in single steps
  std::uint64_t lost_histograms = 0;   ///< steps of which there are none, nor pictures
  std::uint64_t lost_metrics = 0;      ///< its lines, because the disk was full or hung
  std::vector<Restart> restarts = {};  ///< in their order; at most checkpoint.restarts
  /// The first kMostActorRestarts; in their order.
  std::vector<ActorRestart> actor_restarts = {};
  static constexpr std::size_t kMostActorRestarts = 1000;
  std::vector<ActorRestart> lost_workers = {};  ///< without which it went on; likewise
  std::uint64_t relinked = 0;                   ///< connections that were lost and made again
  std::uint64_t residuals_lost = 0;   ///< ranks that went on without error feedback's residuals
  std::uint64_t injected_faults = 0;  ///< on purpose, by the file or by `sterna chaos`
  std::int64_t workers = 0;
  std::int64_t ranks = 0;
  std::string data;      ///< "mnist", "digits" or "idx"
  std::string data_dir;  ///< where its files are
  std::string codec;
  std::string security;
  std::string transport;
  std::string isa;
  JobFacts job;
  double seconds = 0;  ///< from the first step to the end of the last evaluation, or to failure
  std::optional<double> seconds_to_first_step;  ///< from the command
  std::vector<EvaluationResult> evaluations;    ///< of which the last kMostEvaluations are written
  static constexpr std::size_t kMostEvaluations = 10'000;
  std::optional<double> examples_per_second;
  std::optional<double> loss;             ///< of the last step, weight decay included
  std::optional<double> decay_loss;       ///< of that, weight decay's
  std::optional<double> precision_at_1;   ///< of the last evaluation
  std::optional<double> recall_at_5;      ///< likewise
  std::uint64_t skipped_evaluations = 0;  ///< that were due, and that nobody makes any more
  std::uint64_t late_packets = 0;         ///< of gradients, that no version was made with
  /// Of packets that make a version each: how many versions were made between the one that it was
  /// computed from and its own, the mean and the most of all.
  std::optional<double> staleness;
  std::uint64_t most_stale = 0;
  /// The part of the training in which it waited for the evaluator.
  std::optional<double> evaluator_wait;
  std::optional<double> data_wait;  ///< the part of the run in which workers waited for batches
  std::vector<ReaderRate> readers = {};  ///< over the whole run
  std::optional<double> bits_per_ternarized_element_up;
  std::optional<double> bits_per_element_up;
  std::optional<double> bits_per_element_down;
  std::uint64_t bytes_up = 0;  ///< whole frames, envelopes included
  std::uint64_t bytes_down = 0;
  std::uint64_t coded_bytes_up = 0;  ///< as StepMetrics'
  std::uint64_t coded_bytes_down = 0;
  std::string parameters_sha256;
  std::vector<PlansOfWorkers> plans = {};        ///< of workers on devices, the first kMostPlans
  static constexpr std::size_t kMostPlans = 16;  ///< that differ
  /// Of a run of a program's own actors, which trains nothing: only these, the seconds since the
  /// command, and how it ended, are written then.
  std::vector<ActorEnd> actors = {};
  std::vector<std::string> awaited = {};  ///< the actors whose ends were to end it
};

/// A result.json is not read where it is larger: the largest of ours, with kMostEvaluations, has
/// half of it.
inline constexpr std::size_t kMostResultBytes = std::size_t{4} << 20;

/// The training's state after a step, for metrics.jsonl.
struct StepMetrics {
  std::int64_t step = 0;
  double seconds = 0;     ///< since the first step, when the last worker had done it
  double loss = 0;        ///< mean of the workers' last, weight decay included
  double decay_loss = 0;  ///< of that, weight decay's
  double learning_rate = 0;
  double examples_per_second = 0;
  std::int64_t examples = 0;   ///< trained with, by all workers, to this step
  std::uint64_t bytes_up = 0;  ///< whole messages of all workers, to this step
  std::uint64_t bytes_down = 0;
  std::uint64_t coded_bytes_up = 0;    ///< of those the gradients, as they were sent
  std::uint64_t coded_bytes_down = 0;  ///< likewise parameters, or what stands for them
  std::optional<double> bits_up;       ///< per element, of whole messages so far
  std::optional<double> bits_down;     ///< likewise
  std::optional<double> nonzero;       ///< fraction of the trits so far
  std::optional<double> saturated;     ///< fraction larger than the last step's scaler
  std::optional<double> staleness;     ///< as RunStatus's
  std::optional<double> data_wait;     ///< as RunStatus's
  std::vector<ReaderRate> readers = {};
};

/// The loss of one step, for metrics.jsonl.
struct LossMetrics {
  std::int64_t step = 0;  ///< steps done with this one; with a rank, the version it was of
  std::optional<std::int64_t> rank =
      {};                 ///< where ranks step by themselves; else all, and the mean
  double loss = 0;        ///< weight decay included
  double decay_loss = 0;  ///< of that, weight decay's
};

/// What the gradients of one tensor came to over the whole run, for metrics.jsonl. Times are means
/// of a step and rank.
struct TensorMetrics {
  std::string tensor;
  std::string codec;
  std::int64_t elements = 0;
  std::optional<double> bits_up;  ///< per element
  std::optional<double> bits_down;
  std::optional<double> ratio;      ///< of the bytes of fp32 both ways to those that travelled
  std::optional<double> nonzero;    ///< fraction of its trits
  std::optional<double> saturated;  ///< fraction larger than the last step's scaler
  std::optional<double> encode_seconds;
  std::optional<double> decode_seconds;
  std::optional<double> exchange_seconds;
};

/// How a tensor's elements were distributed at rank 0 in one step, for a file of events.
struct HistogramMetrics {
  std::int64_t step = 0;
  std::string tensor;  ///< of activations: the layer
  std::string of;      ///< "weights", "gradients", "sent", "activations"
  std::uint64_t elements = 0;
  double least = 0;
  double most = 0;
  double sum = 0;
  double sum_of_squares = 0;
  std::vector<std::int32_t> buckets = {};  ///< as kernels/numbers/histogram.h numbers them
  std::vector<std::uint64_t> counts = {};
};

/// A picture that rank 0 computed a step from, for a file of events.
struct PictureMetrics {
  std::int64_t step = 0;
  std::int64_t number = 0;  ///< in the rank's batch
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t channels = 0;
  std::int64_t label = 0;
  std::int64_t prediction = 0;
  std::string pixels;  ///< in hex, row-major, a pixel's channels beside each other
};

/// One JSON object on one line, without the line's end. Never throws; bytes that are not UTF-8 are
/// replaced.
std::string to_json(const RunResult& result);
std::string to_json(const StepMetrics& metrics);       ///< {"kind":"step", …}
std::string to_json(const LossMetrics& metrics);       ///< {"kind":"loss", …}
std::string to_json(const ActorRestart& restart);      ///< {"kind":"actor_restart", …}
std::string to_json(const EvaluationResult& metrics);  ///< {"kind":"evaluation", …}
std::string to_json(const TensorMetrics& metrics);     ///< {"kind":"tensor", …}
std::string to_json(const HistogramMetrics& metrics);  ///< {"kind":"histogram", …}
std::string to_json(const PictureMetrics& metrics);    ///< {"kind":"picture", …}
/// {"kind":"restart", …}; `time`: when it was started again, in seconds since 1970.
std::string to_json(const Restart& restart, double time);
/// The first line of metrics.jsonl: {"format":1,"kind":"run","run":…,"time":…}. `time`: when it
/// began, in seconds since 1970.
std::string metrics_header(const std::string& run, double time);

}  // namespace sterna::launcher
