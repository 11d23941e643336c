// EvaluationBench: a net that only infers and the subsets of a data set that it is tried on. What a
// run's evaluator and `sterna eval` have in common, so that both say the same of the same
// parameters, bit for bit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/evaluator/evaluation.h"
#include "actors/job/job.h"
#include "input/batches/prepare.h"
#include "input/formats/labels.h"
#include "input/formats/source.h"
#include "nets/net.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// Used by one thread at a time.
struct EvaluationBench {
  struct Subset {
    std::string name;  ///< of evaluator.subsets
    std::shared_ptr<const input::Source> source;
    input::Preparation how;
  };
  std::unique_ptr<nets::Net> net;
  std::vector<Subset> subsets;  ///< those of the job; that which stands for the run is the last
  input::ClassLabels labels;    ///< the classes' names; none: nothing names them

  /// Reads the job's data, which may take seconds. `device`: what computes; null: the CPU. Errors:
  /// those of the net, of the data and of the device.
  static Result<EvaluationBench> make(const JobConfig& job,
                                      std::shared_ptr<kernels::Device> device = nullptr);
  /// Of at most so many of its examples: see evaluate().
  Result<Evaluation> evaluate(const Subset& subset, std::uint64_t examples) const {
    return actors::evaluate(*net, *subset.source, subset.how, examples);
  }
};

/// How many examples of a subset are evaluated of a version: of the last all test examples.
std::uint64_t examples_of(const JobConfig& job, const std::string& subset, std::uint64_t version);

/// One subset's evaluation, of at most so many examples, of the parameters that `fill` gives the
/// net, from wherever it has them. `device`: as above. Errors: those of `fill`, too.
Result<Evaluation> evaluate_parameters(const JobConfig& job, const std::string& subset,
                                       std::uint64_t examples,
                                       const std::function<Result<void>(nets::Net& net)>& fill,
                                       std::shared_ptr<kernels::Device> device = nullptr);

}  // namespace sterna::actors
