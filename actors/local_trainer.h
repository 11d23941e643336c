// LocalTrainer: the same training step in one process, without actors, messages or codec. What
// `sterna bench train` divides by.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/job/job.h"
#include "actors/parameters/update_rule.h"
#include "kernels/isa/isa.h"
#include "nets/net.h"

namespace sterna::actors {

class LocalTrainer {
 public:
  /// The job's net, initialised as the parameter servers would, for one rank.
  static Result<LocalTrainer> make(const JobConfig& job);

  nets::Net& net() { return *net_; }
  /// Forward, backward and update of step `step` (from 0); the loss, weight decay included.
  /// Errors: non_finite for the loss, invalid_argument for a batch of another shape.
  Result<double> step(std::uint64_t step, const nets::PixelImages& images,
                      std::span<const std::uint16_t> labels);

 private:
  class Updates;
  LocalTrainer() = default;

  std::unique_ptr<nets::Net> net_;
  std::vector<std::vector<std::shared_ptr<Buffer>>> slots_;  // by tensor: those of the optimizer
  UpdateRule rule_;
  InitSection init_;
  std::uint64_t seed_ = 0;
  kernels::Isa isa_ = kernels::Isa::scalar;
};

}  // namespace sterna::actors
