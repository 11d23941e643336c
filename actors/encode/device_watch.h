// DeviceWatch: what somebody looks at now and then of a device's numbers. It comes down chunk by
// chunk, on a stream of its own into pinned memory, and is waited for: what is not looked at costs
// nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "actors/encode/device_arithmetic.h"
#include "actors/parameters/parameter_table.h"
#include "kernels/device/device_array.h"
#include "kernels/sums/aggregate.h"
#include "nets/tensor/gradient.h"

namespace sterna::actors {

/// Used by one thread at a time. What it gives stays until the next call of that function. All
/// errors are the device's.
class DeviceWatch {
 public:
  /// Makes all that the table's largest chunk takes.
  static Result<std::unique_ptr<DeviceWatch>> make(std::shared_ptr<kernels::Device> device,
                                                   const ParameterTable& table);
  ~DeviceWatch();
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;

  /// A chunk of a tensor's gradient, once that is complete.
  Result<std::span<const float>> gradient(const nets::Gradient& gradient, const TableChunk& chunk);
  /// Where a chunk's parameters may be read to.
  std::span<float> room(const TableChunk& chunk) { return room_.elements().first(chunk.count); }
  /// A chunk of a tensor's packet, which lies there: fp32 or planes.
  Result<kernels::Packet> packet(const PacketPlace& place, kernels::Packing packing,
                                 const TableChunk& chunk);

 private:
  explicit DeviceWatch(std::shared_ptr<kernels::Device> device) : device_(std::move(device)) {}

  std::shared_ptr<kernels::Device> device_;
  std::unique_ptr<kernels::DeviceStream> stream_;
  kernels::PinnedArray<float> values_;
  kernels::PinnedArray<float> room_;
  kernels::PinnedArray<float> scaler_;
};

}  // namespace sterna::actors
