// DeviceWindow: the steps that a rank on a device makes by itself between two exchanges, and what
// they come to, which it pushes (WindowSteps is the same on a CPU, bit for bit where gradients
// are). All of it lies there, and is done on the stream that writes the net's parameters: the next
// pass waits for it, and it for the last one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/schemes/window_steps.h"
#include "kernels/device/device_array.h"
#include "nets/net.h"

namespace sterna::actors {

/// Of one net, and used by one thread at a time.
class DeviceWindow {
 public:
  /// Of a scheme with windows of which ranks push `pushed`. Makes all that steps take, and waits
  /// until it is there. Errors: as UpdateRule's; the device's.
  static Result<std::unique_ptr<DeviceWindow>> make(const JobConfig& job, std::uint32_t rank,
                                                    std::shared_ptr<const ParameterTable> table,
                                                    std::shared_ptr<kernels::Device> device,
                                                    Pushed pushed, nets::Net& net);
  ~DeviceWindow();
  DeviceWindow(const DeviceWindow&) = delete;
  DeviceWindow& operator=(const DeviceWindow&) = delete;

  /// Where what is pushed of a tensor lies.
  std::span<const float> place(std::uint32_t tensor) const {
    return {tensors_[tensor].sum.data(), tensors_[tensor].sum.size()};
  }
  /// The gradients of this step follow.
  void begin(const RankStep& step) { step_ = step; }
  /// Puts the step from a tensor's gradient on its way, which stays until the next pass. What is to
  /// be pushed of it, which stays until the next call for that tensor; empty: nothing yet. Errors:
  /// the device's.
  Result<nets::Gradient> gradient(nets::Net& net, std::uint32_t tensor,
                                  const nets::Gradient& gradient);
  /// What came of a chunk has been written to the net. Errors: the device's.
  Result<void> came(nets::Net& net, const TableChunk& place);

  /// Its optimizer's slots, read from the device. Errors: the device's.
  Result<std::vector<KeptArray>> kept(nets::Net& net);
  /// What kept() gave is of a checkpoint now. Errors: the device's.
  Result<void> restored(nets::Net& net);

 private:
  /// All that the host sends for one step.
  struct Sent {
    kernels::DeviceStep step;
    kernels::DevicePacket gradient;
  };
  struct Tensor {
    bool begun = false;                              // the sum is this window's
    std::unique_ptr<kernels::DeviceEvent> complete;  // what is pushed is there
    std::unique_ptr<kernels::DeviceEvent> sent;      // what was sent last has left
    kernels::PinnedArray<Sent> sent_here;
    kernels::DeviceArray<Sent> sent_there;
    kernels::DeviceArray<float> sum;    // of the window's gradients, then what is pushed
    kernels::DeviceArray<float> base;   // what came, where differences are pushed
    kernels::DeviceArray<float> slots;  // one after the other
    kernels::DeviceArray<kernels::UpdateWork> work;
    kernels::UpdateLaunch launch;
  };
  DeviceWindow(LocalOptimizer optimizer, std::shared_ptr<const ParameterTable> table,
               std::shared_ptr<kernels::Device> device, std::uint64_t window,
               kernels::DeviceRule rule, Pushed pushed);
  bool steps(std::uint32_t tensor) const {
    const TableTensor& place = table_->tensors[tensor];
    return place.spec.role != nets::Role::statistic && !place.frozen;
  }
  Result<void> make_tensor(std::uint32_t tensor, float* values, kernels::DeviceStream& stream);
  Result<void> step(std::uint32_t tensor, const nets::Gradient& gradient,
                    kernels::DeviceStream& stream);
  /// The sum becomes what is pushed.
  Result<void> close(std::uint32_t tensor, const float* values, kernels::DeviceStream& stream);
  /// Copies each slot between the device and its place in the host's memory.
  Result<std::vector<KeptArray>> copy_slots(nets::Net& net, bool to_device);

  LocalOptimizer optimizer_;  // its numbers; of the slots what kept() gives
  std::shared_ptr<const ParameterTable> table_;
  std::shared_ptr<kernels::Device> device_;
  std::uint64_t window_;
  kernels::DeviceRule rule_;
  Pushed pushed_;
  RankStep step_;
  std::vector<Tensor> tensors_;
};

}  // namespace sterna::actors
