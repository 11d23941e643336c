// DeviceElastic: elastic averaging of a rank on a device. elastic.cc says what it is, and does the
// same on a CPU. What a rank has of its own are the net's parameters there; of aeamsgd, whose net
// has them a step of its velocity ahead, they lie beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/schemes/device_local_steps.h"
#include "actors/schemes/device_optimizer.h"
#include "kernels/device/device_array.h"

namespace sterna::actors {

class DeviceElastic final : public DeviceLocalSteps {
 public:
  /// Makes all that steps take, and waits until it is there. Errors: as UpdateRule's; the device's.
  static Result<std::unique_ptr<DeviceLocalSteps>> make(const JobConfig& job, std::uint32_t rank,
                                                        std::shared_ptr<const ParameterTable> table,
                                                        std::shared_ptr<kernels::Device> device,
                                                        nets::Net& net);
  ~DeviceElastic() override;

  std::span<const float> place(std::uint32_t tensor) const override {
    return {tensors_[tensor].push.data(), tensors_[tensor].push.size()};
  }
  Result<nets::Gradient> gradient(nets::Net& net, std::uint32_t tensor,
                                  const nets::Gradient& gradient) override;
  bool follows_what_is_sent() const override { return true; }
  Result<void> sent(nets::Net& net, const TableChunk& place,
                    std::span<const float> decoded) override;
  Result<void> came(nets::Net& net, const TableChunk& place,
                    std::span<const float> theirs) override;
  Result<std::vector<KeptArray>> kept(nets::Net& net) override;
  Result<void> restored(nets::Net& net, bool place) override;

 private:
  /// As elastic.cc has them. What the host sends of a chunk lies in `here` until its event.
  struct Tensor {
    kernels::DeviceArray<float> x, v;  // of aeamsgd
    kernels::DeviceArray<float> theirs, push;
    kernels::PinnedArray<float> here;
    std::vector<std::unique_ptr<kernels::DeviceEvent>> left;  // by chunk
    std::unique_ptr<kernels::DeviceEvent> complete;           // what is pushed is there
    std::size_t began = 0;                                    // elements that have first values
    float batches = 0;  // of statistics, whose sum since the last push is in `push`
    std::vector<float> own_here, velocity_here;  // what kept() gives
  };
  DeviceElastic(const JobConfig& job, DeviceOptimizer optimizer,
                std::shared_ptr<const ParameterTable> table,
                std::shared_ptr<kernels::Device> device);
  Result<void> make_tensor(std::uint32_t tensor, float* values, kernels::DeviceStream& stream);
  Result<void> put_push(Tensor& tensor, const float* x, kernels::DeviceStream& stream);
  /// As elastic.cc's.
  Result<void> put_statistic(Tensor& tensor, std::span<const float> g,
                             kernels::DeviceStream& stream);
  /// v' = delta v - rate g, x' = x + v'.
  Result<void> put_velocity(Tensor& tensor, std::span<const float> g, float* values,
                            kernels::DeviceStream& stream);
  /// The net's, of so many elements: x + delta v.
  Result<void> put_ahead(Tensor& tensor, std::size_t first, std::size_t count, float* values,
                         kernels::DeviceStream& stream);
  /// Puts a chunk's numbers on their way to the device.
  Result<void> send(const TableChunk& place, std::span<const float> numbers, float* to,
                    kernels::DeviceStream& stream);
  /// What a rank has of its own: of a net with these values.
  float* own(Tensor& tensor, float* values) const { return nesterov_ ? tensor.x.data() : values; }
  Result<void> copy_statistic(nets::Net& net, std::uint32_t tensor, bool to_device);
  /// Copies x and v, and what there is of statistics, between the device and what kept() gives.
  Result<void> copy_own(nets::Net& net, bool to_device);

  DeviceOptimizer optimizer_;  // of aeasgd; the rate of both
  std::shared_ptr<const ParameterTable> table_;
  std::shared_ptr<kernels::Device> device_;
  float alpha_;
  float delta_;
  bool nesterov_;
  kernels::DeviceArray<float> scratch_;  // of the stream that writes, as large as any tensor
  std::vector<Tensor> tensors_;
};

}  // namespace sterna::actors
