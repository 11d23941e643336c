// Gradients on a device, and their way to trits there.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/device/device_array.h"
#include "kernels/device/tables.h"
#include "launcher/bench/codec/device/device_codec.h"
#include "launcher/bench/codec/device/device_rounds.h"

namespace sterna::launcher {

/// Some tensors that are encoded together, as often as there are buffers. What it gives points into
/// it. Single owner; it outlives the work that it puts on the stream.
class DeviceEncoding {
 public:
  static constexpr float kClip = 2.5F;
  /// What trits are drawn with; a tensor's number is its place among the tensors.
  static constexpr kernels::StepOfRank kDraw{1, 1, 0};

  /// Of so many elements each, of a normal distribution, the same in all buffers; their scalers are
  /// measured. Errors: the device's.
  static Result<DeviceEncoding> make(kernels::Device& device, kernels::DeviceStream& stream,
                                     const DeviceCodecSetup& setup,
                                     const std::vector<std::size_t>& tensors);

  /// These passes, one after the other, of each buffer.
  DeviceContender contender(std::string name, const std::vector<kernels::EncodePass>& passes) const;
  /// Statistics, then trits, of one buffer.
  Result<void> encode(std::size_t buffer) const;

  std::size_t bytes() const { return bytes_; }  ///< of the gradients of one buffer
  std::size_t buffers() const { return plans_.size(); }
  /// Of one buffer: the tensors' one after the other, of which gradients begin at multiples of 64
  /// floats; and a scaler each.
  const kernels::DeviceArray<float>& gradients(std::size_t buffer) const {
    return gradients_[buffer];
  }
  const kernels::DeviceArray<std::byte>& planes(std::size_t buffer) const {
    return planes_[buffer];
  }
  const kernels::DeviceArray<float>& scalers(std::size_t buffer) const {
    return plans_[buffer].scalers();
  }

 private:
  explicit DeviceEncoding(kernels::DeviceStream& stream) : stream_(&stream) {}

  kernels::DeviceStream* stream_;
  std::size_t bytes_ = 0;
  kernels::DeviceArray<kernels::StepOfRank> draw_;
  std::vector<kernels::DeviceArray<float>> gradients_;
  std::vector<kernels::DeviceArray<std::byte>> planes_;
  std::vector<kernels::EncodePlan> plans_;
};

}  // namespace sterna::launcher
