#include "kernels/device/partial_device.h"

#include "kernels/device/device_exchange.h"

namespace sterna::kernels {

class PartialDevice::Stream final : public DeviceStream {
 public:
  Stream(PartialDevice& device, std::unique_ptr<DeviceStream> whole)
      : device_(device), whole_(std::move(whole)) {}

  Result<void> copy(void* to, const void* from, std::size_t bytes) noexcept override {
    return whole_->copy(to, from, bytes);
  }
  Result<void> record(DeviceEvent& event) noexcept override { return whole_->record(event); }
  Result<void> wait_for(DeviceEvent& event) noexcept override { return whole_->wait_for(event); }
  Result<void> finish() noexcept override { return whole_->finish(); }
  Result<void> encode(EncodePass pass, const EncodeLaunch& launch) noexcept override {
    return whole_->encode(pass, launch);
  }
  Result<void> encode_bf16(const EncodeLaunch& launch) noexcept override {
    return whole_->encode_bf16(launch);
  }
  Result<void> sum_trits(const SumLaunch& launch) noexcept override {
    return whole_->sum_trits(launch);
  }
  Result<void> update(const UpdateLaunch& launch) noexcept override {
    return whole_->update(launch);
  }
  Result<void> layer(const LayerLaunch& launch) noexcept override {
    ++device_.given_.launches;
    return device_.does_ == Does::all ? whole_->layer(launch) : Result<void>();
  }
  Result<void> begin_recording() noexcept override { return whole_->begin_recording(); }
  Result<std::unique_ptr<DeviceRecording>> end_recording() noexcept override {
    return whole_->end_recording();
  }
  Result<void> repeat(DeviceRecording& recording) noexcept override {
    return whole_->repeat(recording);
  }
  Result<std::unique_ptr<DeviceOperation>> product(const ProductShape& shape) noexcept override {
    return whole_->product(shape);
  }
  Result<std::unique_ptr<DeviceOperation>> convolution(
      const ConvolutionShape& shape) noexcept override {
    return whole_->convolution(shape);
  }
  Result<void> run(DeviceOperation& operation, const OperationTensors& tensors) noexcept override {
    ++device_.given_.operations;
    return whole_->run(operation, tensors);
  }

 private:
  PartialDevice& device_;
  std::unique_ptr<DeviceStream> whole_;
};

Result<std::unique_ptr<DeviceStream>> PartialDevice::make_stream() noexcept {
  STERNA_ASSIGN(auto whole, whole_->make_stream());
  return std::unique_ptr<DeviceStream>(std::make_unique<Stream>(*this, std::move(whole)));
}

/// None: its streams would have to be the other device's.
Result<std::unique_ptr<DeviceExchange>> PartialDevice::exchange(
    const std::vector<std::shared_ptr<Device>>& /*all*/) noexcept {
  return std::unique_ptr<DeviceExchange>();
}

}  // namespace sterna::kernels
