// A net's gradients on their way from a device to packets in the host's memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernels/device/device_array.h"
#include "launcher/bench/codec/device/device_encoding.h"

namespace sterna::launcher {

/// All gradients are there at once; their tensors go in groups, whose packets one stream copies
/// while another encodes the next. As DeviceEncoding is owned.
class PacketsToHost {
 public:
  /// Of `setup.net`. Errors: the device's.
  static Result<PacketsToHost> make(kernels::Device& device, kernels::DeviceStream& stream,
                                    const DeviceCodecSetup& setup);

  /// From gradients to packets in pinned memory, as often as the first group has buffers.
  DeviceContender to_host() const;
  /// As many bytes that only come down.
  DeviceContender pinned_copy() const;

  /// What to_host() has made, the tensors' planes one after the other.
  std::span<const std::byte> packets() const { return here_.elements(); }
  const std::vector<DeviceEncoding>& groups() const { return groups_; }

 private:
  explicit PacketsToHost(kernels::DeviceStream& stream) : stream_(&stream) {}
  Result<void> add(kernels::Device& device, const DeviceCodecSetup& setup,
                   const std::vector<std::size_t>& tensors);

  kernels::DeviceStream* stream_;
  std::vector<DeviceEncoding> groups_;
  std::size_t bytes_ = 0;  // of all packets
  std::unique_ptr<kernels::DeviceStream> copies_;
  std::unique_ptr<kernels::DeviceEvent> encoded_;
  std::unique_ptr<kernels::DeviceEvent> copied_;
  kernels::PinnedArray<std::byte> here_;
  kernels::DeviceArray<std::byte> there_;
};

}  // namespace sterna::launcher
