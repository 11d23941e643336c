// What the actors of a job tell its observer (the launcher), which they find by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/job/training.capnp.h"
#include "input/pictures/picture.h"
#include "runtime/base/bytes.h"
#include "runtime/base/result.h"
#include "runtime/message/actor_ref.h"

namespace sterna::actors {

/// A worker's totals since it started.
struct Traffic {
  /// Whole messages, envelopes included, as the worker's links count them; 0 without links.
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  /// Of the gradient payloads: handed to the network before the backward pass they belong to ended.
  std::uint64_t bytes_before_backward_ended = 0;
  std::uint64_t gradient_bytes = 0;
  std::uint64_t gradient_elements = 0;
  std::uint64_t ternarized_bytes = 0;  ///< planes, and four bytes a scaler
  std::uint64_t ternarized_elements = 0;
  std::uint64_t parameter_bytes = 0;
  std::uint64_t parameter_elements = 0;
  std::uint64_t nonzero_elements = 0;    ///< of the ternarized
  std::uint64_t measured_elements = 0;   ///< ternarized under the last step's scaler, of which ...
  std::uint64_t saturated_elements = 0;  ///< ... so many are larger than it
  std::uint64_t late_packets = 0;        ///< that no version was made with
  std::uint64_t lone_packets = 0;        ///< that made a version each
  std::uint64_t staleness = 0;           ///< of all of these (PushReply)
  std::uint64_t most_stale = 0;          ///< of any of them
  /// Of another worker, or of another incarnation of this one.
  Traffic& operator+=(const Traffic& other);
  bool operator==(const Traffic&) const = default;
};

/// What one tensor's gradients came to at one worker, over all its ranks and steps.
struct TensorTotals {
  std::string tensor;
  schema::Codec codec = schema::Codec::FP32;
  std::uint64_t steps = 0;     ///< whose next parameters have come, times ranks
  std::uint64_t pushes = 0;    ///< steps whose gradient has left, times ranks that push
  std::uint64_t elements = 0;  ///< of the tensor
  std::uint64_t bytes_up = 0;  ///< payloads
  std::uint64_t bytes_down = 0;
  std::uint64_t ternarized = 0;  ///< elements, of which ...
  std::uint64_t nonzero = 0;     ///< ... so many trits are not 0
  std::uint64_t measured = 0;    ///< elements ternarized under the last step's scaler, of which ...
  std::uint64_t saturated = 0;   ///< ... so many are larger than it
  double encode_seconds = 0;     ///< from gradient to packets
  double decode_seconds = 0;     ///< from what came down to parameters
  double exchange_seconds =
      0;  ///< from the gradient's end to the next parameters, encoding included
  /// The same tensor's, of other ranks.
  TensorTotals& operator+=(const TensorTotals& other);
  bool operator==(const TensorTotals&) const = default;
};

/// What a rank found in one step.
struct RankLoss {
  /// Whose end is version step + 1; of ranks that step by themselves, the version that they
  /// computed from.
  std::uint64_t step = 0;
  std::uint32_t rank = 0;
  double loss = 0;        ///< weight decay included
  double decay_loss = 0;  ///< of that, weight decay's
  bool operator==(const RankLoss&) const = default;
};

/// At most ten a second from each worker, and always for its first and last step.
struct Progress {
  using Wire = schema::Progress;
  static constexpr std::uint32_t kMostLosses = 4096;
  std::string worker;
  std::uint64_t step = 0;  ///< steps done
  double loss = 0;         ///< of that step, mean over the worker's ranks
  double decay_loss = 0;   ///< of that, weight decay's
  std::uint64_t examples = 0;
  double seconds = 0;  ///< since this worker's first step began
  Traffic traffic;
  double data_seconds = 0;  ///< of those, spent with parameters there and no batch; mean of ranks
  std::vector<RankLoss> losses = {};  ///< of every step since the message before
  std::uint64_t lost_losses = 0;      ///< so far: there were more than a message holds
  STERNA_DECLARE_MESSAGE(Progress);
  bool operator==(const Progress&) const = default;
};

/// At most ten a second from each reader, while it prepares pictures.
struct ReaderProgress {
  using Wire = schema::ReaderProgress;
  std::string reader;
  std::uint64_t pictures = 0;  ///< prepared so far
  double busy_seconds = 0;     ///< of a clock, not of its threads: in which it prepared some
  std::uint32_t threads = 1;   ///< in which it does
  std::uint64_t left_out = 0;  ///< examples so far, as they are damaged
  STERNA_DECLARE_MESSAGE(ReaderProgress);
  bool operator==(const ReaderProgress&) const = default;
};

using schema::HistogramOf;

/// How the elements of a tensor were distributed: kernels::Histogram's numbers.
struct TensorHistogram {
  std::string tensor;  ///< of activations: the layer
  HistogramOf of = HistogramOf::WEIGHTS;
  std::uint64_t elements = 0;    ///< that are finite
  std::uint64_t non_finite = 0;  ///< that are not
  double least = 0;              ///< 0 where there is no element; likewise most
  double most = 0;
  double sum = 0;  ///< its last bits depend on the order in which packets left
  double sum_of_squares = 0;
  std::vector<std::int32_t> buckets = {};  ///< that have elements, ascending
  std::vector<std::uint64_t> counts = {};  ///< of each of them
  bool operator==(const TensorHistogram&) const = default;
};

/// A picture that a step was computed from.
struct WatchedPicture {
  input::PictureShape shape;
  Bytes
      pixels;  ///< as the net got them: augmented, row-major, a pixel's channels beside each other
  std::uint16_t label = 0;
  std::uint16_t prediction = 0;  ///< the class with the largest logit, before the step
};
/// The originals' image summaries show as many.
inline constexpr std::size_t kMostWatchedPictures = 3;

/// What a step of rank 0 looked like, every summary.every steps. A worker sends no more while the
/// observer has not answered the last: who looks on costs no step.
struct Watched {
  using Wire = schema::Watched;
  using Reply = void;
  static constexpr Lane kLane = Lane::data;
  std::string worker;
  std::uint64_t step = 0;  ///< the rank's own, which weights and gradients are of
  std::vector<TensorHistogram> histograms = {};
  std::uint64_t lost = 0;                     ///< steps so far that were not sent for that reason
  std::vector<WatchedPicture> pictures = {};  ///< the first of the rank's batch
  Result<void> check() const;
  STERNA_DECLARE_MESSAGE(Watched);
};

/// How many examples of class `label` were answered so.
struct ConfusionCell {
  std::uint16_t label = 0;
  std::uint16_t answer = 0;  ///< a class; the number of classes: none
  std::uint32_t count = 0;
  bool operator==(const ConfusionCell&) const = default;
};

/// Of nets with more classes nobody counts what they take for what.
inline constexpr std::uint32_t kMostConfusedClasses = 1001;

/// Recall is of the label among so many of the largest logits. With no more classes it always is,
/// which is not shown.
inline constexpr std::uint32_t kRecalled = 5;

/// What one version of the parameters, or of their moving averages, does on one subset of the data.
/// On the lane of bulk: a matrix of many classes is large. Answered once it is kept; what comes
/// twice, from an evaluator that was started again, is the same.
struct Evaluated {
  using Wire = schema::Evaluated;
  using Reply = void;
  static constexpr Lane kLane = Lane::data;
  std::uint64_t step = 0;
  double precision_at_1 = 0;
  double loss = 0;  ///< mean cross-entropy, without weight decay
  std::uint64_t examples = 0;
  std::uint64_t left_out = 0;  ///< that were to be evaluated too, and are damaged
  double recall_at_5 = 0;
  std::uint32_t classes = 0;
  std::string subset = "test";                               ///< of evaluator.subsets
  schema::PayloadKind of = schema::PayloadKind::PARAMETERS;  ///< or moving averages
  std::uint64_t skipped = 0;  ///< versions so far that were due and that it had no time for
  std::vector<ConfusionCell> confusion = {};  ///< where the count is not 0
  Result<void> check() const;
  STERNA_DECLARE_MESSAGE(Evaluated);
  bool operator==(const Evaluated&) const = default;
};

/// What computed a net on a device: the device, and what its libraries ran.
struct DevicePlans {
  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kMostBytes = 256;  ///< of a name

  std::string device;              ///< empty: the CPU
  std::vector<std::string> plans;  ///< each once, with how often if more: "cuDNN engine 5 (3)"
  /// Of the libraries' names, of which one may be there often. What is too much is left out.
  static DevicePlans of(const std::string& device, const std::vector<std::string>& names);
  /// For a log: the device, "by" its plans.
  std::string text() const;
  bool operator==(const DevicePlans&) const = default;
};

/// A worker has done its last step, and every gradient of it was acknowledged.
struct WorkerDone {
  using Wire = schema::WorkerDone;
  std::string worker;
  std::uint64_t steps = 0;
  double loss = 0;        ///< of the last step, as Progress has it
  double decay_loss = 0;  ///< likewise
  double seconds = 0;
  double median_step_seconds = 0;
  Traffic traffic;
  std::vector<TensorTotals> tensors = {};
  DevicePlans computed_by = {};
  Result<void> check() const;
  STERNA_DECLARE_MESSAGE(WorkerDone);
  bool operator==(const WorkerDone&) const = default;
};

/// From a parameter server: whether updates wait for the evaluator, which is as far behind as it
/// may be. Said when it changes.
struct ServerWaits {
  using Wire = schema::ServerWaits;
  std::string server;
  bool waits = false;
  STERNA_DECLARE_MESSAGE(ServerWaits);
  bool operator==(const ServerWaits&) const = default;
};

/// From a parameter server that was started in the place of a lost one: it has all that it had, and
/// can give it to who needs that. Likewise from a worker, where servers come again.
struct ActorWhole {
  using Wire = schema::ActorWhole;
  std::string actor;
  std::uint64_t incarnation = 0;
  STERNA_DECLARE_MESSAGE(ActorWhole);
  bool operator==(const ActorWhole&) const = default;
};

/// From a worker in the place of a lost one: what error feedback had kept of its ranks is lost, and
/// they go on without (gradient.residuals = "zero").
struct ResidualsLost {
  using Wire = schema::ResidualsLost;
  std::string worker;
  std::uint64_t incarnation = 0;
  std::uint32_t ranks = 0;  ///< so many of them; of an average that they push, that counts as one
  std::uint64_t step = 0;   ///< the first that is done without
  STERNA_DECLARE_MESSAGE(ResidualsLost);
  bool operator==(const ResidualsLost&) const = default;
};

/// From the evaluator, after the last evaluation and on its lane: the run's result.
struct JobFinished {
  using Wire = schema::JobFinished;
  static constexpr Lane kLane = Lane::data;
  /// Over all parameters in the order of the table, plain row-major little-endian fp32, in hex.
  std::string parameters_sha256;
  std::string weights;  ///< the file written; empty if none was asked for
  std::uint64_t parameters = 0;
  STERNA_DECLARE_MESSAGE(JobFinished);
  bool operator==(const JobFinished&) const = default;
};

struct Observer : Interface<Progress, Evaluated, WorkerDone, JobFinished, ReaderProgress,
                            ServerWaits, ActorWhole, Watched, ResidualsLost> {};

}  // namespace sterna::actors
