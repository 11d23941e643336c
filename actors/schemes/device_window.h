// DeviceWindow: the steps that a rank on a device makes by itself between two exchanges, and what
// they come to, which it pushes. WindowSteps is the same on a CPU.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "actors/schemes/device_local_steps.h"
#include "actors/schemes/device_optimizer.h"
#include "actors/schemes/window_steps.h"
#include "kernels/device/device_array.h"

namespace sterna::actors {

class DeviceWindow final : public DeviceLocalSteps {
 public:
  /// Of a scheme with windows of which ranks push `pushed`. Makes all that steps take, and waits
  /// until it is there. Errors: as UpdateRule's; the device's.
  template <Pushed pushed>
  static Result<std::unique_ptr<DeviceLocalSteps>> make(const JobConfig& job, std::uint32_t rank,
                                                        std::shared_ptr<const ParameterTable> table,
                                                        std::shared_ptr<kernels::Device> device,
                                                        nets::Net& net) {
    return make_pushing(pushed, job, rank, std::move(table), std::move(device), net);
  }

  std::span<const float> place(std::uint32_t tensor) const override {
    return {tensors_[tensor].sum.data(), tensors_[tensor].sum.size()};
  }
  Result<nets::Gradient> gradient(nets::Net& net, std::uint32_t tensor,
                                  const nets::Gradient& gradient) override;
  Result<void> came(nets::Net& net, const TableChunk& place,
                    std::span<const float> theirs) override;
  Result<std::vector<KeptArray>> kept(nets::Net& net) override { return optimizer_.slots(net); }
  Result<void> restored(nets::Net& net, bool /*place*/) override { return optimizer_.restore(net); }

 private:
  struct Tensor {
    bool begun = false;                              // the sum is this window's
    std::unique_ptr<kernels::DeviceEvent> complete;  // what is pushed is there
    kernels::DeviceArray<float> sum;   // of the window's gradients, then what is pushed
    kernels::DeviceArray<float> base;  // what came, where differences are pushed
  };
  DeviceWindow(DeviceOptimizer optimizer, std::shared_ptr<const ParameterTable> table,
               std::shared_ptr<kernels::Device> device, std::uint64_t window, Pushed pushed);
  static Result<std::unique_ptr<DeviceLocalSteps>> make_pushing(
      Pushed pushed, const JobConfig& job, std::uint32_t rank,
      std::shared_ptr<const ParameterTable> table, std::shared_ptr<kernels::Device> device,
      nets::Net& net);
  Result<void> make_tensor(std::uint32_t tensor, float* values, kernels::DeviceStream& stream);
  /// The sum becomes what is pushed.
  Result<void> close(std::uint32_t tensor, const float* values, kernels::DeviceStream& stream);

  DeviceOptimizer optimizer_;
  std::shared_ptr<const ParameterTable> table_;
  std::shared_ptr<kernels::Device> device_;
  std::uint64_t window_;
  Pushed pushed_;
  std::vector<Tensor> tensors_;
};

/// The scheme, with such local steps on CPUs and on devices.
template <Pushed pushed>
Scheme with_windows(Scheme scheme) {
  scheme.local_steps = WindowSteps::make<pushed>;
  scheme.device_steps = DeviceWindow::make<pushed>;
  return scheme;
}

}  // namespace sterna::actors
