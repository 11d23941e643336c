// What a server does with eight ranks' packets, on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/device/device_array.h"
#include "launcher/bench/codec/device/device_encoding.h"

namespace sterna::launcher {

/// Eight ranks' planes of one tensor, and the tables that sum them, or step with them. As
/// DeviceEncoding is owned.
class DeviceServer {
 public:
  static constexpr std::uint32_t kRanks = 8;
  /// The constants of its steps of momentum: rate and decay.
  static constexpr kernels::DeviceStep kStep{{0.01F, 0.9F}, 0};

  /// Of `setup.elements`; parameters and their momentum are zeros. Errors: the device's.
  static Result<DeviceServer> make(kernels::Device& device, kernels::DeviceStream& stream,
                                   const DeviceCodecSetup& setup);

  /// All ranks' trits to their sums.
  DeviceContender aggregate() const;
  /// A step of momentum from all ranks' trits and scalers.
  DeviceContender fused() const;
  /// The same from one fp32 gradient.
  DeviceContender momentum() const;

  /// The gradient that all ranks have; what the first buffers hold: all ranks' planes one after the
  /// other, their sums, and the parameters after a step.
  const DeviceEncoding& ranks() const { return *ranks_; }
  const kernels::DeviceArray<std::byte>& planes() const { return packed_.front().planes; }
  const kernels::DeviceArray<std::byte>& sums() const { return packed_.front().sums; }
  const kernels::DeviceArray<float>& stepped() const { return stepped_.front().next; }

 private:
  /// All ranks' packets, and where their sums go.
  struct Packed {
    kernels::DeviceArray<std::byte> planes;
    kernels::DeviceArray<kernels::DevicePacket> packets;
    kernels::DeviceArray<std::byte> sums;
    kernels::DeviceArray<kernels::SumWork> work;
  };
  /// Parameters, and both ways to step them.
  struct Stepped {
    kernels::DeviceArray<float> current;
    kernels::DeviceArray<float> next;
    kernels::DeviceArray<float> slot;
    kernels::DeviceArray<kernels::UpdateWork> of_trits;
    kernels::DeviceArray<kernels::UpdateWork> of_floats;
  };
  explicit DeviceServer(kernels::DeviceStream& stream) : stream_(&stream) {}
  Result<void> add_packed(kernels::Device& device, std::size_t elements);
  Result<void> add_stepped(kernels::Device& device, std::size_t elements);
  Result<void> step(const kernels::DeviceArray<kernels::UpdateWork>& work,
                    std::uint32_t ranks) const;

  kernels::DeviceStream* stream_;
  std::unique_ptr<DeviceEncoding> ranks_;
  kernels::DeviceArray<kernels::DeviceStep> step_;
  kernels::DeviceArray<kernels::DevicePacket> plain_;
  std::vector<Packed> packed_;
  std::vector<Stepped> stepped_;
};

}  // namespace sterna::launcher
