// How good trained weights are, after the run or beside it: what `sterna eval` does.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "actors/evaluator/evaluation.h"
#include "actors/job/sections.h"
#include "actors/weights/trained_weights.h"
#include "input/formats/labels.h"
#include "launcher/text/console.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

struct EvaluateOptions {
  /// The cluster file of the net and its data; empty: the checkpoint's, or resolved.toml beside the
  /// weights, and where there is none what the weights say of themselves.
  std::string config;
  std::string data;  ///< the folder of the data set; empty: as the cluster file says
  std::string subset = actors::kTestSubset;
  std::uint64_t examples = 0;  ///< at most; 0: as many as the end of a run evaluates
  std::shared_ptr<kernels::Device> device = nullptr;  ///< what computes; null: the CPU
};

struct WeightsEvaluation {
  std::string weights;  ///< the file, or the checkpoint's folder
  std::string net;
  std::string data;  ///< the data set's name
  std::uint32_t classes = 0;
  input::ClassLabels names;  ///< of the data's classes, else as the weights say; none: nobody does
  std::optional<std::uint64_t> steps;  ///< that its run had trained; none: it does not say
  std::uint64_t last_step = 0;         ///< of the job
  bool averages = false;  ///< they are of moving averages of the parameters, as far as it says
  actors::Evaluation evaluation;
};

/// The same numbers, bit for bit, as the evaluator of a run says of the same values, subset and
/// number of examples (from a file alone: if that run's evaluator.batch, job.threads and
/// job.cpu_isa were the defaults), where both compute on a CPU, or on the same device. Errors:
/// those of the files, one line each; data whose classes have other names than those of the
/// weights, or stand in another order; a tensor that the net has and the weights have not, have in
/// another shape, or that only they have.
Result<WeightsEvaluation> evaluate_weights(const actors::TrainedWeights& weights,
                                           const EvaluateOptions& options, const Console& console);

}  // namespace sterna::launcher
