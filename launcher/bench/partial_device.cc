#include "launcher/bench/partial_device.h"

#include "kernels/device/device_exchange.h"

namespace sterna::launcher {

class PartialDevice::Stream final : public kernels::DeviceStream {
 public:
  Stream(PartialDevice& device, std::unique_ptr<DeviceStream> whole)
      : device_(device), whole_(std::move(whole)) {}

  Result<void> copy(void* to, const void* from, std::size_t bytes) noexcept override {
    return whole_->copy(to, from, bytes);
  }
  Result<void> record(kernels::DeviceEvent& event) noexcept override {
    return whole_->record(event);
  }
  Result<void> wait_for(kernels::DeviceEvent& event) noexcept override {
    return whole_->wait_for(event);
  }
  Result<void> finish() noexcept override { return whole_->finish(); }
  Result<void> encode(kernels::EncodePass pass,
                      const kernels::EncodeLaunch& launch) noexcept override {
    return whole_->encode(pass, launch);
  }
  Result<void> encode_bf16(const kernels::EncodeLaunch& launch) noexcept override {
    return whole_->encode_bf16(launch);
  }
  Result<void> sum_trits(const kernels::SumLaunch& launch) noexcept override {
    return whole_->sum_trits(launch);
  }
  Result<void> update(const kernels::UpdateLaunch& launch) noexcept override {
    return whole_->update(launch);
  }
  Result<void> layer(const kernels::LayerLaunch& launch) noexcept override {
    ++device_.given_.launches;
    return device_.does_ == Does::all ? whole_->layer(launch) : Result<void>();
  }
  Result<void> begin_recording() noexcept override { return whole_->begin_recording(); }
  Result<std::unique_ptr<kernels::DeviceRecording>> end_recording() noexcept override {
    return whole_->end_recording();
  }
  Result<void> repeat(kernels::DeviceRecording& recording) noexcept override {
    return whole_->repeat(recording);
  }
  Result<std::unique_ptr<kernels::DeviceOperation>> product(
      const kernels::ProductShape& shape) noexcept override {
    return whole_->product(shape);
  }
  Result<std::unique_ptr<kernels::DeviceOperation>> convolution(
      const kernels::ConvolutionShape& shape) noexcept override {
    return whole_->convolution(shape);
  }
  Result<void> run(kernels::DeviceOperation& operation,
                   const kernels::OperationTensors& tensors) noexcept override {
    ++device_.given_.operations;
    return whole_->run(operation, tensors);
  }

 private:
  PartialDevice& device_;
  std::unique_ptr<DeviceStream> whole_;
};

Result<std::unique_ptr<kernels::DeviceStream>> PartialDevice::make_stream() noexcept {
  STERNA_ASSIGN(auto whole, whole_->make_stream());
  return std::unique_ptr<kernels::DeviceStream>(std::make_unique<Stream>(*this, std::move(whole)));
}

/// None: its streams would have to be the other device's.
Result<std::unique_ptr<kernels::DeviceExchange>> PartialDevice::exchange(
    const std::vector<std::shared_ptr<kernels::Device>>& /*all*/) noexcept {
  return std::unique_ptr<kernels::DeviceExchange>();
}

}  // namespace sterna::launcher
