// JobConfig: what the actors of one training job agree on. Every one of them is started with it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/job/training.capnp.h"
#include "runtime/base/clock.h"
#include "runtime/message/message.h"

namespace sterna::actors {

using schema::Codec;
using schema::DecayAt;
using schema::Down;
using schema::ScalerRule;

struct OptimizerConfig {
  std::string name = "gd";  ///< "gd", "momentum" or "adam"
  double learning_rate = 0.01;
  double momentum = 0.9;
  double beta1 = 0.9;     ///< adam
  double beta2 = 0.999;   ///< adam
  double epsilon = 1e-8;  ///< adam
  double weight_decay = 0;
  DecayAt decay_at = DecayAt::WORKER;
  std::string schedule = "fixed";  ///< "fixed", "exponential" or "polynomial"
  double decay_factor = 0.1;       ///< exponential: the learning rate times this ...
  std::uint64_t decay_steps = 1;   ///< ... every so many steps; at least 1
  bool operator==(const OptimizerConfig&) const = default;
};

/// The codec of one tensor, whatever the job's other keys say.
struct TensorCodec {
  std::string tensor;
  Codec codec = Codec::FP32;
  bool operator==(const TensorCodec&) const = default;
};

struct GradientConfig {
  Codec codec = Codec::TERNARY;
  double clip = 2.5;           ///< in standard deviations; 0: the scaler is the largest magnitude
  std::uint64_t min_size = 1;  ///< tensors with fewer elements stay fp32
  bool logits = true;          ///< the logits' tensors are ternarized too
  ScalerRule scaler = ScalerRule::OWN;
  bool buckets = false;  ///< a scaler for each unit of 65,536 elements, not for each tensor
  Down down = Down::PARAMETERS;
  std::uint64_t check_every = 100;  ///< versions; how often all who keep parameters compare hashes
  std::vector<TensorCodec> tensors = {};
  bool error_feedback = false;  ///< what a lossy codec leaves of a gradient is added to the next
  double clip_norm = 0;         ///< a rank's whole gradient is scaled down to this norm; 0: never
  /// Every so manyth epoch gradients travel as fp32; 0: never.
  std::uint64_t floating_epoch = 0;
  std::uint64_t epoch_examples = 1;  ///< of the training set, where there are such epochs
  bool operator==(const GradientConfig&) const = default;
};

struct EvaluationConfig {
  std::uint64_t every = 0;        ///< steps; 0: only after the last
  std::uint64_t examples = 2000;  ///< of the fixed subset; the last evaluation takes all
  std::uint32_t batch = 100;
  bool operator==(const EvaluationConfig&) const = default;
};

struct DataConfig {
  std::string name = "mnist";
  std::string dir;
  std::uint32_t shards = 0;  ///< each input reader holds one of so many parts; 0: each holds all
  bool operator==(const DataConfig&) const = default;
};

struct Deadlines {
  Duration find = std::chrono::seconds(30);  ///< until another actor's name is known
  Duration ask = std::chrono::seconds(60);   ///< until an answer that takes up to a step is there
  bool operator==(const Deadlines&) const = default;
};

struct JobConfig {
  using Wire = schema::JobConfig;
  std::string net = "lenet";
  std::vector<std::uint32_t> hidden;  ///< of the mlp: its hidden layers' widths
  std::uint64_t first_step = 0;       ///< and the version that the parameters start at
  std::uint64_t steps = 1;            ///< the version that they end at: one update leads to each
  std::uint32_t batch = 1;            ///< examples per rank and step
  std::uint64_t seed = 1;
  std::uint32_t ranks = 1;    ///< of the whole job
  std::uint32_t threads = 1;  ///< compute threads per rank
  std::string isa = "best";
  OptimizerConfig optimizer;
  GradientConfig gradient;
  EvaluationConfig evaluation;
  DataConfig data;
  Deadlines deadlines;

  /// The next version of the parameters to be evaluated after `version`:
  /// the next multiple of `every`, and at last the final one. `version` < steps.
  std::uint64_t next_evaluation(std::uint64_t version) const {
    if (evaluation.every == 0) return steps;
    return std::min(steps, (version / evaluation.every + 1) * evaluation.every);
  }
  bool evaluates(std::uint64_t version) const {
    return version > first_step && version <= steps && next_evaluation(version - 1) == version;
  }

  /// Whether the ranks' trits of a step stand for the same number, so that they can be summed.
  bool shares_scalers() const { return gradient.scaler != ScalerRule::OWN; }
  /// Whether the gradients of this step travel as fp32, whatever their codec.
  bool floats(std::uint64_t step) const {
    if (gradient.floating_epoch == 0) return false;
    const std::uint64_t epoch = step * batch * ranks / gradient.epoch_examples;
    return epoch % gradient.floating_epoch == gradient.floating_epoch - 1;
  }
  /// Of how many ranks the sums are that travel down.
  std::uint32_t ranks_down() const { return gradient.down == Down::TERNARY ? 1 : ranks; }

  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<JobConfig> decode(Wire::Reader wire, WireReader& reader);
  bool operator==(const JobConfig&) const = default;
};

constexpr std::size_t kMostHiddenLayers = 64;
constexpr std::uint32_t kWidestLayer = 65536;
constexpr std::uint32_t kMostShards = 4096;
constexpr std::size_t kMostTensorCodecs = 65536;

/// What no actor could work with; the message names the key.
Result<void> validate(const JobConfig& job);

}  // namespace sterna::actors
