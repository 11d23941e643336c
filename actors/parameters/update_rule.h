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

/// Whether weights decay by ranks' own steps, apart from their gradients (AdamW).
bool decays_locally(const JobConfig& job);

class UpdateRule {
 public:
  /// Errors: invalid_argument for an optimizer or schedule that does not exist.
  static Result<UpdateRule> make(const JobConfig& job);
  /// Of ranks that step by themselves ([local_optimizer]); their gradients have the weight decay,
  /// unless decays_locally().
  static Result<UpdateRule> make_local(const JobConfig& job);
  /// Not a gradient but a difference, which is added: a step against it at a rate of 1.
  static UpdateRule make_adding();

  /// Numbers kept per parameter: what each of them is before the first step.
  std::span<const float> slots() const { return optimizer_.slots; }
  /// Slots of a part of the parameters, as they are before the first step.
  std::vector<std::shared_ptr<Buffer>> make_slots(const nets::ParameterSpec& parameter,
                                                  std::size_t elements) const;
  /// The same, one after the other.
  std::vector<float> initial_slots(std::size_t elements) const;
  /// Of one step. They come from functions that may differ in a bit from machine to machine: where
  /// several processes must step alike, one computes them for all.
  kernels::StepConstants constants(std::uint64_t step) const {
    return constants_(rate_(step), step - slots_begin_);
  }
  /// The slots are as before their first step at this one: what corrects that they begin so (Adam)
  /// counts from there, and rates do not. 0, unless it is said.
  void begin_slots_at(std::uint64_t step) { slots_begin_ = step; }
  std::uint64_t slots_begin() const { return slots_begin_; }
  double rate(std::uint64_t step) const { return rate_(step); }
  /// Of a rank's own step, of which its slots have seen so many, with the rate of the version that
  /// it began from.
  kernels::StepConstants local_constants(std::uint64_t version, std::uint64_t step,
                                         double factor) const {
    return constants_(rate_(version) * factor, step);
  }
  /// Of what is trained, without moving averages.
  kernels::UpdateOptions options(const nets::ParameterSpec& parameter,
                                 const kernels::StepConstants& constants) const;
  /// The same of any parameter, statistics included, with the step's own constants.
  kernels::UpdateOptions options_at(const nets::ParameterSpec& parameter, std::uint64_t step) const;

 private:
  static Result<UpdateRule> make(const OptimizerSection& chosen, const JobConfig& job);

  kernels::Optimizer optimizer_;
  kernels::ConstantsOfStep constants_;
  kernels::LearningRate rate_;
  float decay_ = 0;  // 0 where the gradients have it
  std::uint64_t slots_begin_ = 0;
};

}  // namespace sterna::actors
