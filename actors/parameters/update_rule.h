// UpdateRule: how a step's average changes the parameters, by the job's optimizer, schedule and
// weight decay. Servers, workers that keep parameters and the local trainer all step by it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "actors/job/job.h"
#include "kernels/optimizer/optimizer.h"
#include "kernels/optimizer/schedule.h"
#include "nets/tensor/parameter.h"

namespace sterna::actors {

/// Errors: invalid_argument for a schedule that does not exist.
Result<kernels::LearningRate> learning_rate_of(const JobConfig& job);

class UpdateRule {
 public:
  /// Errors: invalid_argument for an optimizer or schedule that does not exist.
  static Result<UpdateRule> make(const JobConfig& job);

  /// Numbers kept per parameter.
  std::size_t slots() const { return optimizer_.slots; }
  /// Of one step. They come from functions that may differ in a bit from machine to machine: where
  /// several processes must step alike, one computes them for all.
  kernels::StepConstants constants(std::uint64_t step) const {
    return constants_(rate_(step), step);
  }
  kernels::UpdateOptions options(const nets::ParameterSpec& parameter,
                                 const kernels::StepConstants& constants) const;

 private:
  kernels::Optimizer optimizer_;
  kernels::ConstantsOfStep constants_;
  kernels::LearningRate rate_;
  float decay_ = 0;  // added to the average; 0 where the workers' gradients have it
};

}  // namespace sterna::actors
