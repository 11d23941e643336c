// UpdateRule: how a step's average changes the parameters, by the job's optimizer, schedule and
// weight decay. Servers, workers that keep parameters and the local trainer all step by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "actors/job/job.h"
#include "kernels/optimizer/optimizer.h"
#include "kernels/optimizer/schedule.h"
#include "nets/tensor/parameter.h"

namespace sterna::actors {

/// The schedule's with the warm-up and the scaling that the job asks for. Errors: invalid_argument
/// for a schedule that does not exist.
Result<kernels::LearningRate> learning_rate_of(const JobConfig& job);

class UpdateRule {
 public:
  /// Errors: invalid_argument for an optimizer or schedule that does not exist.
  static Result<UpdateRule> make(const JobConfig& job);

  /// Numbers kept per parameter: what each of them is before the first step.
  std::span<const float> slots() const { return optimizer_.slots; }
  /// Slots of a part of the parameters, as they are before the first step.
  std::vector<std::shared_ptr<Buffer>> make_slots(const nets::ParameterSpec& parameter,
                                                  std::size_t elements) const;
  /// Of one step. They come from functions that may differ in a bit from machine to machine: where
  /// several processes must step alike, one computes them for all.
  kernels::StepConstants constants(std::uint64_t step) const {
    return constants_(rate_(step), step);
  }
  /// Of what is trained, without moving averages.
  kernels::UpdateOptions options(const nets::ParameterSpec& parameter,
                                 const kernels::StepConstants& constants) const;
  /// The same of any parameter, statistics included, with the step's own constants.
  kernels::UpdateOptions options_at(const nets::ParameterSpec& parameter, std::uint64_t step) const;

 private:
  kernels::Optimizer optimizer_;
  kernels::ConstantsOfStep constants_;
  kernels::LearningRate rate_;
  float decay_ = 0;  // of the server; 0 where the workers' gradients have it
};

}  // namespace sterna::actors
