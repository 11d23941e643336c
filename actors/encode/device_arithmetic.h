// The arithmetic of gradients on a device: statistics and trits are made there, on a stream of its
// own that waits for each gradient and for nothing else, so that the backward pass goes on
// meanwhile; what reaches the host are the packets' bytes and a few numbers.
//
// With error feedback what the codec leaves stays on the device, too (device_residuals.h). Of a
// job whose workers come again it is on the host before the last packet of its step leaves, so that
// nobody can go on behind a step of which it is lost; where ranks are not in step, before any
// packet of its tensor does.
//
// What the device has no pass for (other codecs, scalers by bucket) is done on the host, by
// HostArithmetic, with a gradient that was copied there.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "actors/codecs/codec.h"
#include "actors/encode/device_residuals.h"
#include "actors/encode/encode_arithmetic.h"
#include "actors/encode/host_arithmetic.h"
#include "kernels/device/tables.h"

namespace sterna::actors {

/// Where a rank's packet of a tensor stays, in a device's memory.
struct PacketPlace {
  std::byte* payload = nullptr;  ///< planes, or fp32
  float* scaler = nullptr;       ///< of planes: what their trits stand for
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

  Result<void> expect(std::uint32_t tensor, std::span<const float> place) override;
  void begin(std::uint64_t step) override;
  /// What has become of earlier orders is told first.
  Result<void> start(const Order& order, Listener& listener) override;
  Result<void> finish(Listener& listener) override;
  nets::Gradient keep(std::uint32_t tensor, const nets::Gradient& gradient) override;
  Result<std::vector<std::vector<float>>> residuals() override;
  void restore(const std::vector<std::vector<float>>& residuals) override;
  Result<void> give_back(const Packet& packet) override;
  void settle(std::span<const std::uint32_t> repeated) override;

 private:
  /// The tables of one tensor whose gradient lies at one place.
  struct Plan {
    const float* gradient = nullptr;
    kernels::EncodePlan tables;
  };
  /// Of one tensor; all is made when it is expected, or first needed.
  struct Tensor {
    std::vector<Plan> plans;  // of each place where its gradients lie
    std::unique_ptr<kernels::DeviceEvent> done;
    kernels::DeviceArray<std::byte> payload;  // by the table's codec
    kernels::DeviceArray<float> scaler;       // under which trits are drawn
    kernels::DeviceArray<float> copy;
    kernels::PinnedArray<std::byte> payload_here;
    kernels::PinnedArray<float> scaler_here;
    kernels::PinnedArray<kernels::TensorMeasured> found_here;
    kernels::PinnedArray<float> values_here;  // what the host encodes, or what travels as fp32
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
    return {tensors_[tensor].payload.data(), tensors_[tensor].scaler.data()};
  }
  /// Whether the device makes packets by this codec, and keeps what it leaves.
  bool encodes(const GradientCodec& codec) const;
  /// Whether what is left of the tensor lies on the device. Also in a step in which it travels as
  /// fp32.
  bool feeds_back(std::uint32_t tensor) const {
    return host_->kept_residuals().has(tensor) && encodes(codec_of(table_->tensors[tensor].codec));
  }
  /// Whether the device makes this step's packets of the tensor.
  bool here(std::uint32_t tensor) const;
  GradientCodec codec(std::uint32_t tensor) const {
    return codec_of(table_->codec_at(tensor, job_, step_));
  }
  /// Whether it travels in this step as fp32 that were fetched, with what was left of it.
  bool fetched(std::uint32_t tensor) const {
    return !stays(tensor) && codec(tensor).packing == kernels::Packing::fp32;
  }
  float clip() const { return static_cast<float>(job_.gradient.clip); }
  Result<void> make_places(std::uint32_t tensor);
  Result<void> make_values_here(std::uint32_t tensor);
  Result<void> make_copy(std::uint32_t tensor);
  Result<void> enqueue(const Order& order);
  Result<void> put_trits(const Order& order, const kernels::EncodePlan& plan);
  Result<void> put_fed_back(float* scaler);
  Result<void> put_numbers(const Order& order, const kernels::EncodePlan& plan);
  Result<void> fetch(const Order& order);
  Result<void> fetch_values(std::uint32_t tensor, std::span<const float> from);
  Result<const kernels::EncodePlan*> plan_of(const Order& order);
  /// Of a gradient of the tensor that lies there.
  Result<const kernels::EncodePlan*> plan_at(std::uint32_t tensor, std::span<const float> place);
  /// Until this has passed, or nothing more is to be landed.
  Result<void> land_before(kernels::DeviceEvent& passes);
  /// Tells what the oldest order came to, which the device has done.
  Result<void> tell(Listener& listener);
  Result<void> tell_here(const Order& order, Listener& listener);
  /// What the device has made of the tensor in this step.
  ByteView made_of(std::uint32_t tensor) const;
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
  std::unique_ptr<DeviceResiduals> residuals_;
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
