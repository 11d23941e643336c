// TrainerSteps: how a LocalTrainer's parameters step where its net is on a device: there, tensor by
// tensor, as soon as a gradient is complete and no pass reads the old ones any more.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "actors/job/job.h"
#include "actors/parameters/device_update.h"
#include "nets/net.h"

namespace sterna::actors {

/// Of one net, whose stream that writes parameters it works on: it outlives the net, which waits
/// for that stream at its end. Used by one thread at a time.
class TrainerSteps {
 public:
  /// Makes all that steps of the net's trained parameters take, and waits until it is there.
  /// Errors: the device's; invalid_argument for an optimizer that no device steps by.
  static Result<std::unique_ptr<TrainerSteps>> make(const JobConfig& job, const UpdateRule& rule,
                                                    std::shared_ptr<kernels::Device> device,
                                                    nets::Net& net);
  TrainerSteps(const TrainerSteps&) = delete;
  TrainerSteps& operator=(const TrainerSteps&) = delete;

  /// Puts step `step` of a tensor on its way; of one that is not trained, nothing. Statistics are
  /// moved by the host, as a job's are, which waits for them. Errors: the device's.
  Result<void> step(nets::Net& net, std::size_t tensor, const nets::Gradient& gradient,
                    std::uint64_t step);

 private:
  TrainerSteps(const UpdateRule& rule, kernels::Isa isa, std::shared_ptr<kernels::Device> device)
      : rule_(rule), isa_(isa), device_(std::move(device)) {}
  Result<void> move_statistic(nets::Net& net, std::size_t tensor, const nets::Gradient& gradient,
                              std::uint64_t step) const;

  UpdateRule rule_;
  kernels::Isa isa_;  // of the host's
  std::shared_ptr<kernels::Device> device_;
  std::vector<std::optional<DeviceUpdate>> tensors_;  // those of the net that are trained
};

}  // namespace sterna::actors
