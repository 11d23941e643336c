// The sections of a cluster file that describe a job: what a person writes and what every actor is
// started with are the same structs. Their keys, ranges and help are the tables beside them.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/job/scheme_section.h"
#include "actors/job/trace_section.h"
#include "input/pictures/decode.h"
#include "nets/tensor/element.h"
#include "runtime/base/section.h"

namespace sterna::actors {

/// Units of a hidden layer, at most.
constexpr std::uint32_t kWidestLayer = 65536;
/// Rows and columns of a picture that a net sees, at most.
constexpr std::uint32_t kLongestSide = 4096;
/// Of a job.
constexpr double kMostSteps = 1e9;

/// What nets compute with. `bf16` is of activations and their gradients. `tf32` is of GPUs: tensors
/// are fp32, and products and convolutions round what they multiply to ten bits of mantissa; on a
/// CPU it is fp32.
enum class Precision : std::uint8_t { fp32, bf16, tf32 };

/// [job]: what is trained.
struct JobSection {
  std::string net;
  std::vector<std::uint32_t> hidden = {};  ///< of the mlp: its hidden layers' widths
  std::uint64_t steps = 0;                 ///< updates of the parameters
  double epochs = 0;              ///< in place of steps, until the examples are counted; 0: none
  std::uint32_t batch = 32;       ///< examples per rank and step
  std::uint32_t micro_batch = 0;  ///< of them, how many are computed at once; 0: all
  std::uint64_t seed = 1;
  std::uint32_t threads = 1;  ///< compute threads per rank
  std::string cpu_isa = "best";
  Precision precision = Precision::fp32;  ///< of activations; parameters are fp32
  bool operator==(const JobSection&) const = default;
};

/// The family of the data set, as files call it.
inline constexpr const char* kAutoPreprocess = "auto";

/// [data]: where the examples come from.
struct DataSection {
  std::string name = "any";                  ///< "any": the first data set found
  std::string dir = {};                      ///< empty: $STERNA_DATA, then ~/.cache/sterna
  std::string preprocess = kAutoPreprocess;  ///< one of input::family_names()
  std::uint32_t size = 0;      ///< rows and columns of what the net sees; 0: as the family has it
  std::uint32_t classes = 0;   ///< 0: as the data set says
  std::uint32_t channels = 0;  ///< 1 or 3; 0: as the data set has them
  std::uint32_t label_offset = 0;
  std::string train_files = {};  ///< patterns for TFRecord files' names; empty: told by their words
  std::string test_files = {};
  std::vector<double> mean = {0, 0, 0};  ///< resize_crop's, of red, green and blue in 0 to 1
  std::vector<double> deviation = {1, 1, 1};
  std::uint64_t most_pixels = input::kMostPixels;
  double most_bad = 0.01;
  std::uint32_t threads = 1;           ///< of each reader
  ByteCount memory = {1'000'000'000};  ///< of each reader, for prepared pictures
  bool operator==(const DataSection&) const = default;
};

enum class DecayAt : std::uint8_t {
  worker,  ///< part of the gradient before it is ternarized, as in the originals
  server,  ///< exactly, after averaging; the only one for an optimizer that decays by itself
};

/// Of all optimizers and schedules: what their keys are without a file.
Numbers initial_numbers();

/// [net]: what may be chosen of a net beside its name.
struct NetSection {
  double keep = 0.5;            ///< the part of the units that dropout keeps
  bool bn_scale = false;        ///< batch norms have a factor for each channel, too
  bool pool_padding = false;    ///< average pools count the padding, too
  double bn_decay = 0;          ///< of their moving statistics; 0: the original's
  double label_smoothing = -1;  ///< below 0: the original's
  bool operator==(const NetSection&) const = default;
};

/// What a file calls its tensors, as cluster files name it.
inline constexpr const char* kOwnNames = "sterna";
inline constexpr const char* kTorchvisionNames = "torchvision";

/// [init]: what the parameters are before the first step, where they are not drawn, and which of
/// them are trained at all. A name in a list means the tensor of that name, and all whose names go
/// on with a "/" after it: "fc1" means "fc1/weights" and "fc1/biases", but nothing of "fc10".
struct InitSection {
  std::string from = {};          ///< a safetensors file; empty: all are drawn
  std::string names = kOwnNames;  ///< or torchvision's
  std::vector<std::string> skip = {};
  std::vector<std::string> train_only = {};  ///< empty: all
  /// Whether `tensor` is drawn, whatever the file has.
  bool skips(std::string_view tensor) const;
  /// Whether `tensor` changes in training, if it is no statistic: those always do.
  bool trains(std::string_view tensor) const;
  bool operator==(const InitSection&) const = default;
};

/// Whether `name` means `tensor`: see InitSection.
bool means(std::string_view name, std::string_view tensor);

/// [optimizer]
struct OptimizerSection {
  std::string name = "momentum";
  double learning_rate = 0.01;
  Numbers numbers = initial_numbers();  ///< what the optimizers and schedules are tuned by
  double weight_decay = 0.0005;
  std::string schedule = "fixed";
  std::uint64_t warm_up = 0;    ///< steps in which the rate grows to the schedule's; 0: none
  bool scale_by_ranks = false;  ///< all rates are times the number of ranks
  DecayAt decay_at = DecayAt::worker;
  double average_decay = 0;  ///< of moving averages of the parameters; 0: none are kept
  bool operator==(const OptimizerSection&) const = default;
};

/// The codec that the run chooses itself, as files call it; no job has it.
inline constexpr const char* kAutoCodec = "auto";

enum class ScalerRule : std::uint8_t {
  own,        ///< each rank's own
  shared,     ///< the largest of all ranks', agreed at each step
  last_step,  ///< the largest of all ranks' at the step before
  mean,       ///< the mean of all ranks', agreed at each step
};

enum class Down : std::uint8_t {
  parameters,       ///< the next parameters
  parameters_bf16,  ///< rounded to bf16 for the workers; the servers keep fp32
  average,          ///< the exact average of the step's gradients; workers apply the optimizer too
  ternary,          ///< the average ternarized; all apply what was sent
};

/// What of a worker's ranks travels.
enum class HostRule : std::uint8_t {
  each,     ///< each rank's gradient
  average,  ///< their gradients' average, as that of one rank
};

/// What is done where error feedback's residuals of a rank were lost with their host.
enum class LostResiduals : std::uint8_t {
  rollback,  ///< all return to the last checkpoint, which has them
  zero,      ///< the rank goes on without, and that is told
};

/// Where the ranks' gradients meet.
enum class ExchangeRule : std::uint8_t {
  servers,  ///< at parameter servers
  nccl,     ///< within the one worker that has all ranks, which steps by itself
};

/// [gradient]: what travels.
struct GradientSection {
  std::string codec = "ternary";  ///< "auto": each tensor's is chosen when the run starts ...
  std::vector<std::string> allow = {"none", "ternary", "ternary_entropy"};  ///< ... among these
  std::uint32_t bits = 2;  ///< an element, of the codec rowwise: 1, 2, 4 or 8
  double density = 0.01;   ///< the part of each 65,536 elements that the codec topk sends
  double clip = 2.5;       ///< scaler = clip·σ; 0: the largest magnitude
  /// Tensors with fewer elements stay fp32. A block of planes: in fewer padding takes what trits
  /// save.
  std::uint64_t min_size = 512;
  bool logits = true;  ///< whether the last layer is ternarized too
  ExchangeRule exchange = ExchangeRule::servers;
  HostRule host = HostRule::each;
  ScalerRule scaler = ScalerRule::own;
  bool buckets = false;  ///< a scaler for each unit of 65,536 elements, not for each tensor
  Down down = Down::parameters;
  /// Whether workers make a step themselves, from what comes down.
  bool workers_step() const { return down == Down::average || down == Down::ternary; }
  bool down_feedback = true;  ///< of down = ternary: what it leaves is added to the next average
  std::uint64_t check_every = 100;  ///< versions; how often all who keep parameters compare hashes
  std::map<std::string, std::string> tensors = {};  ///< the codec of a tensor, by its name
  bool error_feedback = false;  ///< what a lossy codec leaves of a gradient is added to the next
  LostResiduals residuals = LostResiduals::rollback;  ///< that are lost with their host
  /// Whether a rank may go on in another worker without what error feedback kept of it.
  bool zeroes_residuals() const { return error_feedback && residuals == LostResiduals::zero; }
  double clip_norm = 0;  ///< a rank's whole gradient is scaled down to this norm; 0: never
  std::uint64_t floating_grad_epoch = 0;  ///< every Nth epoch travels as fp32; 0: none
  bool operator==(const GradientSection&) const = default;
};

/// What becomes of training when the evaluator is too slow for it.
enum class Behind : std::uint8_t {
  wait,  ///< the update that would make one snapshot too many waits for it
  skip,  ///< that snapshot is not taken, of no shard
};

/// Which values the evaluator tries.
enum class EvaluatedOf : std::uint8_t {
  averages,    ///< the moving averages of the parameters; the parameters, where there are none
  parameters,  ///< as the last step left them
  both,
};

/// The subsets that an evaluator knows.
inline constexpr const char* kTestSubset = "test";
inline constexpr const char* kTrainSubset = "train";
/// Between evaluations that go by time.
inline constexpr double kMostSecondsBetween = 1e9;

/// [evaluator]
struct EvaluationSection {
  std::uint64_t every = 250;      ///< steps between evaluations; 0: only at the end
  std::uint64_t examples = 2000;  ///< size of the test subset while training goes on
  std::uint32_t batch = 100;
  double every_seconds = 0;  ///< in place of `every`, where above 0
  Behind behind = Behind::wait;
  EvaluatedOf of = EvaluatedOf::averages;
  std::vector<std::string> subsets = {"test"};  ///< "test", "train"
  std::uint64_t train_examples = 2000;          ///< size of the train subset, always
  bool operator==(const EvaluationSection&) const = default;
};

/// The subset that stands for a run where one number is asked for.
const std::string& main_subset(const EvaluationSection& evaluation);

/// [checkpoint]: what is kept of a run beside training, from which another can go on.
struct CheckpointSection {
  std::uint64_t every_steps = 0;  ///< 0: not by steps
  double every_seconds = 0;       ///< 0: not by time
  std::uint32_t keep = 2;         ///< the newest so many
  bool best = false;              ///< and the one of the highest precision@1
  std::uint32_t copies = 0;       ///< of each, whole, on other machines than the head: 0 or 1
  std::string folder = {};        ///< empty: the run's own
  TrueOrText resume = {};         ///< from the run's own newest, or from that of a path
  std::uint32_t restarts = 5;     ///< so often the run goes on by itself where it loses an actor
  bool operator==(const CheckpointSection&) const = default;
  bool on() const { return every_steps > 0 || every_seconds > 0; }
};

/// [summary]: what TensorBoard is told of a run, while it goes on.
struct SummarySection {
  bool tensorboard = false;   ///< a file of events in the run's directory
  std::uint64_t every = 100;  ///< steps between histograms of rank 0; 0: none
  bool has_histograms() const { return tensorboard && every > 0; }
  /// Whether there are some of this step of the rank.
  bool due(std::uint64_t step) const { return has_histograms() && step % every == 0; }
  bool operator==(const SummarySection&) const = default;
};

/// In seconds: what is to happen sooner is a slip of the pen, e.g. "1us" for "1s".
inline constexpr double kShortestDeadline = 0.001;

/// [deadlines]
struct DeadlinesSection {
  Duration host = std::chrono::seconds(30);   ///< one host: from the command to its node agent
  Duration start = std::chrono::seconds(30);  ///< until another actor's name is known
  Duration step = std::chrono::seconds(30);   ///< until an answer that takes up to a step is there
  bool operator==(const DeadlinesSection&) const = default;
};

Section<JobSection> job_section();
Section<DataSection> data_section();
Section<NetSection> net_section();
Section<InitSection> init_section();
Section<OptimizerSection> optimizer_section();
/// [local_optimizer]: by what ranks that step by themselves do; a part of the keys.
Section<OptimizerSection> local_optimizer_section();
Section<GradientSection> gradient_section();
Section<EvaluationSection> evaluation_section();
Section<CheckpointSection> checkpoint_section();
Section<SummarySection> summary_section();
Section<DeadlinesSection> deadlines_section();

/// What a file says of training beside [job], and what a job is made of.
struct JobSections {
  DataSection data;
  NetSection net_choices;
  InitSection init;
  SchemeSection scheme;
  OptimizerSection optimizer;
  OptimizerSection local_optimizer;
  GradientSection gradient;
  EvaluationSection evaluation;
  CheckpointSection checkpoint;
  SummarySection summary;
  std::vector<DelaySection> delays;
  TraceSection trace;

  /// Whether the servers keep moving averages of the parameters.
  bool keeps_averages() const { return optimizer.average_decay > 0; }
  /// Whether servers have nothing that workers, which step by themselves, do not have too (but for
  /// statistics of the net).
  bool workers_hold_all() const {
    const bool leaves_some = gradient.down == Down::ternary && gradient.down_feedback;
    return gradient.workers_step() && !leaves_some && !keeps_averages();
  }
  /// What is evaluated of a version: parameters, moving averages of them, or both.
  bool evaluates_averages() const {
    return keeps_averages() && evaluation.of != EvaluatedOf::parameters;
  }
  bool evaluates_parameters() const {
    return !keeps_averages() || evaluation.of != EvaluatedOf::averages;
  }
  bool operator==(const JobSections&) const = default;
};

/// Calls visit(keys, values) for each of them, in the order of files and of the wire; the values of
/// a table that there may be several of are a vector.
template <class Sections, class Visit>
void for_each_section(Sections& sections, Visit&& visit) {
  visit(data_section(), sections.data);
  visit(net_section(), sections.net_choices);
  visit(init_section(), sections.init);
  visit(scheme_section(), sections.scheme);
  visit(optimizer_section(), sections.optimizer);
  visit(local_optimizer_section(), sections.local_optimizer);
  visit(gradient_section(), sections.gradient);
  visit(evaluation_section(), sections.evaluation);
  visit(checkpoint_section(), sections.checkpoint);
  visit(summary_section(), sections.summary);
  visit(delay_section(), sections.delays);
  visit(trace_section(), sections.trace);
}

/// What is wrong between the keys of a section.
struct Mismatch {
  std::string_view key;  ///< that is to change, with its section
  std::string message;
};
std::optional<Mismatch> mismatch(const JobSection& job);
std::optional<Mismatch> mismatch(const OptimizerSection& optimizer);
std::optional<Mismatch> mismatch(const GradientSection& gradient);
/// What codecs there may be where ranks' gradients combine so.
std::optional<Mismatch> mismatch(const GradientSection& gradient, CombineRule combine);
std::optional<Mismatch> mismatch(const EvaluationSection& evaluation,
                                 const OptimizerSection& optimizer);
/// Of a job of so many steps; 0: they are not counted yet.
std::optional<Mismatch> mismatch(const TraceSection& trace, std::uint64_t job_steps);
/// Between the scheme's keys, and the others; of a job of so many ranks.
std::optional<Mismatch> mismatch(const JobSections& job, std::uint32_t ranks);

}  // namespace sterna::actors
