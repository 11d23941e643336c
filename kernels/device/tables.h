// From tensors to the tables of chunks that a device's launches read: the index arithmetic of
// kernels/trits/encode_launch.h, kernels/sums/sum_launch.h and kernels/optimizer/update_launch.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/device/device_array.h"
#include "kernels/optimizer/optimizer.h"

namespace sterna::kernels {

/// A tensor to be encoded. Addresses are the device's.
struct EncodedTensor {
  std::uint32_t tensor = 0;  ///< its place in the table of parameters
  std::uint64_t elements = 0;
  float* values = nullptr;          ///< its gradient; its residual, with error feedback
  const float* incoming = nullptr;  ///< with error feedback: its gradient
  std::byte* planes = nullptr;      ///< as ChunkWork says
  bool fed_back = false;
  bool bf16 = false;  ///< `planes` are bf16s
  /// Where the scaler is read under which trits are drawn; null: what was measured last is used.
  const float* scaler = nullptr;
};

/// The tables of some tensors that are encoded together, again and again, in the device's memory.
class EncodePlan {
 public:
  /// `draw` is the device's and stays. Waits until the tables are there.
  static Result<EncodePlan> make(Device& device, DeviceStream& stream,
                                 std::span<const EncodedTensor> tensors, const StepOfRank* draw,
                                 float clip);

  const EncodeLaunch& launch() const { return launch_; }
  /// Of `count` of the tensors, from the one at `first` of those that it was made of.
  EncodeLaunch launch(std::size_t first, std::size_t count) const;
  /// By tensor, of the device: what was measured last, and the scalers that it made.
  const DeviceArray<TensorMeasured>& found() const { return found_; }
  const DeviceArray<float>& scalers() const { return scalers_; }

 private:
  EncodePlan() = default;

  DeviceArray<ChunkWork> chunks_;
  DeviceArray<TensorWork> tensors_;
  DeviceArray<ChunkMeasured> measured_;
  DeviceArray<TensorMeasured> found_;
  DeviceArray<float> scalers_;
  std::vector<std::size_t> first_chunks_;  // by tensor, and behind the last
  EncodeLaunch launch_;
};

/// Appends the work that makes the sums of a tensor of `elements` elements from its ranks' packets.
void append_sums(const DevicePacket* packets, std::uint64_t elements, std::uint32_t ranks,
                 std::byte* sums, std::vector<SumWork>& to);

/// A tensor to be stepped; as UpdateWork, of the whole tensor.
struct UpdatedTensor {
  std::uint64_t elements = 0;
  const DevicePacket* packets = nullptr;
  const std::byte* sums = nullptr;
  const float* scaler = nullptr;
  const float* current = nullptr;
  float* next = nullptr;
  float* slots[kMostDeviceSlots] = {};
};

/// Its slots lie one after the other from `first` on.
inline void set_slots(UpdatedTensor& tensor, float* first, std::size_t slots) {
  for (std::size_t i = 0; i < slots; ++i) tensor.slots[i] = first + i * tensor.elements;
}

/// What a device's step reads of a server's.
DeviceStep device_step(const UpdateOptions& options);
/// Appends the work that steps a tensor.
void append_update(const UpdatedTensor& tensor, std::vector<UpdateWork>& to);

}  // namespace sterna::kernels
