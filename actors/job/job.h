// JobConfig: what the actors of one training job agree on. Every one of them is started with it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "actors/job/sections.h"
#include "actors/job/training.capnp.h"
#include "input/pictures/picture.h"
#include "kernels/optimizer/schedule.h"
#include "nets/zoo/zoo.h"
#include "runtime/message/message.h"

namespace sterna::nets {
struct NetOptions;
}

namespace sterna::actors {

/// The sections of the cluster file, the data as found (its folder, and never "any") and the codecs
/// chosen (never "auto"), and what follows from the rest of the file.
struct JobConfig : JobSection, JobSections {
  using Wire = schema::JobConfig;
  DeadlinesSection deadlines;
  std::uint64_t first_step = 0;      ///< and the version that the parameters start at
  std::uint64_t first_position = 0;  ///< examples seen before it (input/batches/BATCHES.md)
  bool resumes = false;              ///< the state at first_step is a checkpoint's
  std::uint32_t ranks = 1;           ///< of the whole job
  std::uint32_t shards = 0;    ///< each input reader holds one of so many parts; 0: each holds all
  std::uint64_t examples = 1;  ///< of the training set, where epochs are counted
  input::PictureShape picture{28, 28, 1};  ///< as the net sees it
  std::uint32_t classes = 10;

  JobSection& section() { return *this; }
  const JobSection& section() const { return *this; }

  /// The next version of the parameters to be evaluated after `version`:
  /// the next multiple of `every`, and at last the final one. `version` < steps.
  std::uint64_t next_evaluation(std::uint64_t version) const {
    if (evaluation.every == 0) return steps;
    return std::min(steps, (version / evaluation.every + 1) * evaluation.every);
  }
  bool evaluates(std::uint64_t version) const {
    return version > first_step && version <= steps && next_evaluation(version - 1) == version;
  }

  /// Whether the file asks for a checkpoint of this version; others may be asked for as it runs.
  bool keeps(std::uint64_t version) const {
    if (!checkpoint.on() || version <= first_step || version > steps) return false;
    const std::uint64_t every = checkpoint.every_steps;
    return version == steps || (every > 0 && version % every == 0);
  }
  /// Where the examples of a step begin (input/batches/BATCHES.md).
  std::uint64_t position_of(std::uint64_t step) const {
    return first_position + (step - first_step) * batch * ranks;
  }
  /// Whether ranks have something to keep that servers do not.
  bool ranks_have_state() const {
    return gradient.error_feedback || gradient.scaler == ScalerRule::last_step;
  }

  /// Whether the ranks' trits of a step stand for the same number, so that they can be summed.
  bool shares_scalers() const { return gradient.scaler != ScalerRule::own; }
  /// Whether the servers keep moving averages of the parameters, which the evaluator then takes.
  bool keeps_averages() const { return optimizer.average_decay > 0; }
  /// Whether the gradients of this step travel as fp32, whatever their codec.
  bool floats(std::uint64_t step) const {
    const std::uint64_t every = gradient.floating_grad_epoch;
    return every != 0 && position_of(step) / examples % every == every - 1;
  }
  /// What the job's schedule is stretched over.
  kernels::Course course() const {
    return {optimizer.learning_rate, steps,
            static_cast<double>(examples) / static_cast<double>(std::uint64_t{batch} * ranks)};
  }
  /// What the net is built for.
  nets::ImageClasses images() const {
    return {picture.rows, picture.columns, picture.channels, classes};
  }
  /// What a rank's prepared pictures of one step take: a byte for each number, two fp32 levels for
  /// each channel, and a label.
  std::uint64_t batch_bytes() const {
    constexpr std::uint64_t kLevels = 2 * sizeof(float);
    return batch * (picture.bytes() + kLevels * picture.channels + sizeof(std::uint16_t));
  }
  /// Of how many ranks the sums are that travel down.
  std::uint32_t ranks_down() const { return gradient.down == Down::ternary ? 1 : ranks; }

  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<JobConfig> decode(Wire::Reader wire, WireReader& reader);
  bool operator==(const JobConfig&) const = default;
};

constexpr std::size_t kMostHiddenLayers = 64;
constexpr std::uint32_t kMostShards = 4096;

/// In one line what is wrong where a reader's memory does not hold one batch.
Complaint too_large_a_batch(const JobConfig& job);

/// The deadline of a question whose answer waits for ranks to compute: however long they take, who
/// is dead or silent ends it with the link.
inline constexpr Duration kWhileRanksCompute = std::chrono::hours(24 * 366);

/// What the job's net is made with; its weight decay is the caller's to choose.
nets::NetOptions net_options(const JobConfig& job);

/// What no actor could work with of keys that are each within their range; the message names one.
Result<void> validate(const JobConfig& job);

}  // namespace sterna::actors
