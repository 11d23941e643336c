// The arithmetic of gradients on a device: statistics and trits are made there, on a stream of its
// own that waits for each gradient and for nothing else, so that the backward pass goes on
// meanwhile; what reaches the host are the packets' bytes and a few numbers.
//
// What the device has no pass for (other codecs, scalers by bucket, error feedback) is done on the
// host, by HostArithmetic, with a gradient that was copied there.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "actors/codecs/codec.h"
#include "actors/encode/encode_arithmetic.h"
#include "actors/encode/host_arithmetic.h"
#include "kernels/device/tables.h"

namespace sterna::actors {

/// Where a rank's packet of a tensor stays, in a device's memory.
struct PacketPlace {
  std::byte* payload = nullptr;  ///< planes, or fp32
  float* scaler = nullptr;       ///< of planes
};

class DeviceArithmetic final : public EncodeArithmetic {
 public:
  /// Of what is trained. Where there is such, its packets do not come to the host: they are fp32,
  /// or planes with the tensor's one scaler, and nothing else.
  using Places = std::function<PacketPlace(std::uint32_t tensor)>;

  /// `host` does the rest. `copies`: what is kept is copied, on the device. `places` may be null.
  /// Errors: the device's.
  static Result<std::unique_ptr<DeviceArithmetic>> make(
      const JobConfig& job, std::uint32_t rank, kernels::Isa isa,
      std::shared_ptr<const ParameterTable> table, std::shared_ptr<kernels::Device> device,
      std::unique_ptr<HostArithmetic> host, bool copies = false, Places places = nullptr);
  ~DeviceArithmetic() override;
  DeviceArithmetic(const DeviceArithmetic&) = delete;
  DeviceArithmetic& operator=(const DeviceArithmetic&) = delete;

  void begin(std::uint64_t step) override;
  /// What has become of earlier orders is told first.
  Result<void> start(const Order& order, Listener& listener) override;
  Result<void> finish(Listener& listener) override;
  nets::Gradient keep(std::uint32_t tensor, const nets::Gradient& gradient) override;
  std::vector<std::vector<float>> residuals() const override { return host_->residuals(); }
  void restore(const std::vector<std::vector<float>>& residuals) override {
    host_->restore(residuals);
  }
  Result<void> give_back(const Packet& packet) override { return host_->give_back(packet); }
  void settle(std::span<const std::uint32_t> repeated) override { host_->settle(repeated); }

 private:
  /// The tables of one tensor whose gradient lies at one place.
  struct Plan {
    const float* values = nullptr;
    kernels::EncodePlan tables;
  };
  /// Of one tensor; all is made when it is first needed.
  struct Tensor {
    std::vector<Plan> plans;  // of the gradient, and of its copy
    std::unique_ptr<kernels::DeviceEvent> done;
    kernels::DeviceArray<std::byte> planes;
    kernels::DeviceArray<float> scaler;  // that trits stand for
    kernels::DeviceArray<float> copy;
    kernels::PinnedArray<std::byte> planes_here;
    kernels::PinnedArray<float> scaler_here;
    kernels::PinnedArray<kernels::TensorMeasured> found_here;
    kernels::PinnedArray<float> values_here;  // what the host encodes
  };
  DeviceArithmetic(const JobConfig& job, std::uint32_t rank, kernels::Isa isa,
                   std::shared_ptr<const ParameterTable> table,
                   std::shared_ptr<kernels::Device> device, std::unique_ptr<HostArithmetic> host,
                   bool copies, Places places);

  /// Whether the tensor's packets stay on the device.
  bool stays(std::uint32_t tensor) const {
    return places_ != nullptr && table_->tensors[tensor].spec.role != nets::Role::statistic;
  }
  /// Where the device makes the tensor's packets.
  PacketPlace place_of(std::uint32_t tensor) const {
    if (stays(tensor)) return places_(tensor);
    return {tensors_[tensor].planes.data(), tensors_[tensor].scaler.data()};
  }
  /// Whether the device makes this step's packets of the tensor.
  bool here(std::uint32_t tensor) const;
  GradientCodec codec(std::uint32_t tensor) const {
    return codec_of(table_->codec_at(tensor, job_, step_));
  }
  Result<void> enqueue(const Order& order);
  Result<void> fetch(const Order& order);
  Result<const kernels::EncodePlan*> plan_of(std::uint32_t tensor, const nets::Gradient& gradient);
  /// Tells what the oldest order came to, which the device has done.
  Result<void> tell(Listener& listener);
  Result<void> tell_here(const Order& order, Listener& listener);
  Result<void> pack(std::uint32_t tensor, float scaler, Listener& listener);
  /// The same error that the host would have.
  Error non_finite(const Order& order);
  std::size_t elements(std::uint32_t tensor) const { return table_->tensors[tensor].count; }

  JobConfig job_;
  std::uint32_t rank_;
  kernels::Isa isa_;
  std::shared_ptr<const ParameterTable> table_;
  std::shared_ptr<kernels::Device> device_;
  std::unique_ptr<HostArithmetic> host_;
  bool copies_;
  Places places_;
  std::uint64_t step_ = 0;
  std::unique_ptr<kernels::DeviceStream> stream_;
  kernels::DeviceArray<kernels::StepOfRank> draw_;
  kernels::PinnedArray<kernels::StepOfRank> draw_here_;
  BufferPool pool_;
  std::vector<Tensor> tensors_;
  std::deque<Order> under_way_;
  std::optional<Error> failed_;  // what was found while another order was given
};

}  // namespace sterna::actors
