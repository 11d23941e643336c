// A weights file's evaluation after the run: what `sterna eval` does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/evaluator/evaluation.h"
#include "actors/job/sections.h"
#include "launcher/text/console.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

struct EvaluateFileOptions {
  std::string weights;  ///< a safetensors file, or a run's directory, which has one
  /// The cluster file of its net and data; empty: resolved.toml beside it, and where there is none
  /// what the file says of itself.
  std::string config;
  std::string data;  ///< the folder of the data set; empty: as the cluster file says
  std::string subset = actors::kTestSubset;
  std::uint64_t examples = 0;  ///< at most; 0: as many as the end of a run evaluates
};

struct FileEvaluation {
  std::string weights;  ///< the file
  std::string net;
  std::string data;  ///< the data set's name
  std::uint32_t classes = 0;
  std::optional<std::uint64_t> steps;  ///< that its run had trained; none: it does not say
  bool averages = false;  ///< they are of moving averages of the parameters, as far as it says
  actors::Evaluation evaluation;
};

/// The same numbers, bit for bit, as the evaluator of a run says of the same parameters, subset and
/// number of examples (from the file alone: if that run's evaluator.batch, job.threads and
/// job.cpu_isa were the defaults). Errors: those of the files, one line each; a tensor that the net
/// has and the file has not, has in another shape, or that only the file has.
Result<FileEvaluation> evaluate_file(const EvaluateFileOptions& options, const Console& console);

}  // namespace sterna::launcher
