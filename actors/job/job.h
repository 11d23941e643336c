// JobConfig: what the actors of one training job agree on. Every one of them is started with it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

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

/// Versions kept for the evaluator, at most.
constexpr std::size_t kMostSnapshots = 4;

/// The sections of the cluster file, the data as found (its folder, and never "any") and the codecs
/// chosen (never "auto"), and what follows from the rest of the file.
struct JobConfig : JobSection, JobSections {
  using Wire = schema::JobConfig;
  DeadlinesSection deadlines;
  std::uint64_t first_step = 0;      ///< and the version that the parameters start at
  std::uint64_t first_position = 0;  ///< examples seen before it (input/batches/BATCHES.md)
  bool resumes = false;              ///< the state at first_step is a checkpoint's
  bool restarts_workers = true;      ///< their [[actor]] allows it
  bool restarts_servers = false;     ///< likewise, without partners, and the net has no statistics
  std::uint32_t ranks = 1;           ///< of the whole job
  /// So many neighbouring ranks, those of one worker, push the average of their gradients, as the
  /// first of them (gradient.host); 1: each its own.
  std::uint32_t averaged_ranks = 1;
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
  /// Whether the evaluator names the versions that it will have time for, a while ahead (Reserve);
  /// else they are those of evaluates(), and training waits for it.
  bool names_evaluations() const {
    return evaluation.every_seconds > 0 || evaluation.behind == Behind::skip;
  }
  /// Those that are named from the start.
  std::vector<std::uint64_t> first_named() const {
    std::vector<std::uint64_t> named;
    if (!names_evaluations() || evaluation.every_seconds > 0) return named;
    std::uint64_t version = first_step;
    while (named.size() < kMostSnapshots && version < steps) {
      named.push_back(version = next_evaluation(version));
    }
    return named;
  }

  /// Whether the file asks for a checkpoint of this version; others may be asked for as it runs.
  bool keeps(std::uint64_t version) const {
    if (!checkpoint.on() || version <= first_step || version > steps) return false;
    const std::uint64_t every = checkpoint.every_steps;
    return version == steps || (every > 0 && version % every == 0);
  }
  const SchemeFacts& facts() const { return *find_scheme_facts(scheme.name); }
  /// Whether every rank computes each version's gradients from exactly the version before, so that
  /// a rank's steps, its pushes and the versions are one count.
  bool in_step() const {
    return facts().together && !facts().windows && (scheme.quorum == 0 || scheme.quorum == ranks);
  }
  /// Whether a rank pushes, and has scalers and what error feedback keeps: to the servers there are
  /// only those that do.
  bool pushes(std::uint32_t rank) const { return rank % averaged_ranks == 0; }
  std::uint32_t pushing_ranks() const { return ranks / averaged_ranks; }
  /// Ranks whose pushes make a version.
  std::uint32_t counted_ranks() const {
    return in_step() ? pushing_ranks() : actors::counted_ranks(scheme, ranks);
  }
  /// That a push is made of.
  std::uint64_t examples_per_push() const {
    return std::uint64_t{batch} * scheme.window * averaged_ranks;
  }
  /// Steps that a rank makes by itself between exchanges.
  std::uint64_t window() const { return scheme.window; }
  /// The step whose batches begin at first_position: as many lead to first_step where all ranks
  /// make each version.
  std::uint64_t step_at_first_position() const {
    return in_step() ? first_step : first_step * window();
  }
  /// A rank's first step. An elastic rank pushes nothing of its first window, so that it comes by
  /// version v at its step (v + 1) T: there it goes on, behind that window's batches.
  std::uint64_t first_own_step() const {
    return step_at_first_position() + (facts().elastic && resumes ? window() : 0);
  }
  /// A rank's steps end before this one at the latest: each of its pushes helps to make a version.
  std::uint64_t end_of_steps() const { return in_step() ? steps : (steps + 1) * window(); }
  /// How much smaller or larger the rank's own steps, or its gradients, are than others'.
  double rate_of(std::uint32_t rank) const {
    return scheme.rank_rates.empty() ? 1 : scheme.rank_rates[rank];
  }
  /// Where the examples that lead from a version to the next begin (input/batches/BATCHES.md).
  std::uint64_t position_of(std::uint64_t version) const {
    return first_position + (version - first_step) * examples_per_version(scheme, batch, ranks);
  }
  /// Whether ranks have something to keep that servers do not.
  bool ranks_have_state() const {
    return gradient.error_feedback || gradient.scaler == ScalerRule::last_step || facts().windows;
  }

  /// Whether a worker that was lost may be started again beside the others, and its ranks go on.
  bool workers_come_again() const {
    return restarts_workers && !exchanges_within() && (in_step() || ranks_begin_anew());
  }
  /// Whether its ranks then do again the very steps that are missing: what a rank pushes follows
  /// from the seed, the step, what the servers still have (parameters, and the optimizer's slots
  /// where workers step: for that they keep a second version, or what leads to the newest; scalers)
  /// and what the node of the worker has (what error feedback keeps).
  bool ranks_repeat_steps() const { return workers_come_again() && in_step(); }
  /// Whether a rank of those that are not in step may begin a push anew, from the newest
  /// parameters: it keeps nothing from one to the next but what error feedback does, and no other
  /// rank has its scalers.
  bool ranks_begin_anew() const;
  /// Whether a server without a partner that was lost may be started again beside the others: the
  /// workers give it what they hold, and what they have told the lost one of their last steps.
  bool servers_come_again() const {
    return restarts_servers && ranks_repeat_steps() && workers_hold_all() &&
           !gradient.zeroes_residuals();  // what they tell may be other than the lost one was told
  }
  /// Whether there are no servers: the one worker has all ranks, and what servers have.
  bool exchanges_within() const { return gradient.exchange == ExchangeRule::nccl; }

  /// Whether the ranks' trits of a step stand for the same number, so that they can be summed.
  bool shares_scalers() const { return offers_scalers() && !takes_newest_scalers(); }
  /// Whether ranks tell the servers what scalers they would have.
  bool offers_scalers() const { return gradient.scaler != ScalerRule::own; }
  /// Whether a rank uses the newest scalers that it knows of, whatever version they are of: no
  /// version waits for all ranks, so that none can wait for the others' scalers.
  bool takes_newest_scalers() const {
    return gradient.scaler == ScalerRule::last_step && counted_ranks() < pushing_ranks();
  }
  /// Whether a rank's push, which are counted, travels as fp32, whatever its codec.
  bool floats(std::uint64_t push) const {
    const std::uint64_t every = gradient.floating_grad_epoch;
    const std::uint64_t each = facts().together ? examples_per_version(scheme, batch, ranks)
                                                : std::uint64_t{batch} * ranks * window();
    const std::uint64_t seen = first_position + (push - first_step) * each;
    return every != 0 && seen / examples % every == every - 1;
  }
  /// What the job's schedule is stretched over.
  kernels::Course course() const {
    return {optimizer.learning_rate, steps,
            static_cast<double>(examples) /
                static_cast<double>(examples_per_version(scheme, batch, ranks))};
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
  std::uint32_t ranks_down() const { return gradient.down == Down::ternary ? 1 : pushing_ranks(); }

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
