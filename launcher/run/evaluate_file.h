// A weights file's evaluation after the run: what `sterna eval` does.
#pragma once

#include <cstdint>
#include <string>

#include "actors/evaluator/evaluation.h"
#include "launcher/text/console.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

struct EvaluateFileOptions {
  std::string weights;  ///< a safetensors file, or a run's directory, which has one
  std::string config;   ///< the cluster file of its net and data; empty: resolved.toml beside it
  std::string data;     ///< the folder of the data set; empty: as the cluster file says
  std::string subset;   ///< of evaluator.subsets
  std::uint64_t examples = 0;  ///< at most; 0: as many as the end of a run evaluates
};

struct FileEvaluation {
  std::string weights;  ///< the file
  std::string net;
  std::string data;  ///< the data set's name
  std::uint32_t classes = 0;
  std::string steps;  ///< of the run that wrote it; empty: it does not say
  actors::Evaluation evaluation;
};

/// The same numbers, bit for bit, as the evaluator of a run says of the same parameters, subset and
/// number of examples. Errors: those of the files, one line each; a tensor that the net has and the
/// file has not, has in another shape, or that only the file has.
Result<FileEvaluation> evaluate_file(const EvaluateFileOptions& options, const Console& console);

}  // namespace sterna::launcher
