// LocalTrainer: the same training step in one process, without actors, messages or codec. What
// `sterna bench train` divides by.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/job/job.h"
#include "actors/parameters/update_rule.h"
#include "actors/trainer_steps.h"
#include "kernels/device/device.h"
#include "kernels/isa/isa.h"
#include "nets/net.h"

namespace sterna::actors {

class LocalTrainer {
 public:
  /// The job's net, initialised as the parameter servers would, for one rank; it computes and steps
  /// on `device`, which may be that of others, or, null, on the CPU. Errors: the net's, the
  /// device's.
  static Result<LocalTrainer> make(const JobConfig& job,
                                   std::shared_ptr<kernels::Device> device = nullptr);

  nets::Net& net() { return *net_; }
  /// Forward, backward and update of step `step` (from 0); the loss, weight decay included. On a
  /// device the update is on its way then, and the next step waits for it there. Errors: non_finite
  /// for the loss, invalid_argument for a batch of another shape; the device's.
  Result<double> step(std::uint64_t step, const nets::PixelImages& images,
                      std::span<const std::uint16_t> labels);

 private:
  class Updates;
  LocalTrainer() = default;
  Result<void> initialize(const JobConfig& job);
  void step_here(const Updates& updates, std::uint64_t step);

  std::unique_ptr<TrainerSteps> steps_;                      // null: on the CPU
  std::unique_ptr<nets::Net> net_;                           // ends before what its stream works on
  std::vector<std::vector<std::shared_ptr<Buffer>>> slots_;  // there by tensor: the optimizer's
  UpdateRule rule_;
  InitSection init_;
  std::uint64_t seed_ = 0;
  kernels::Isa isa_ = kernels::Isa::scalar;
};

}  // namespace sterna::actors
