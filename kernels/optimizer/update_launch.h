// What a device is told to step: tables in its memory, so that one launch serves all parameters.
// Plain data that host and device read alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/sums/sum_launch.h"

namespace sterna::kernels {

/// The rules that a device has: all of optimizer.h, and `average`, which writes the gradient
/// itself.
enum class DeviceRule : std::uint32_t {
  average,
  gd,
  momentum,
  nesterov,
  adam,
  adamw,
  rmsprop,
  adagrad
};

/// That of an optimizer by its name; nothing: no device has it.
constexpr std::optional<DeviceRule> device_rule(std::string_view name) {
  if (name == "gd") return DeviceRule::gd;
  if (name == "momentum") return DeviceRule::momentum;
  if (name == "nesterov") return DeviceRule::nesterov;
  if (name == "adam") return DeviceRule::adam;
  if (name == "adamw") return DeviceRule::adamw;
  if (name == "rmsprop") return DeviceRule::rmsprop;
  if (name == "adagrad") return DeviceRule::adagrad;
  return std::nullopt;
}

/// Numbers that a rule keeps for each parameter, at most.
inline constexpr std::size_t kMostDeviceSlots = 2;

/// The constants of a step as StepConstants orders them; in the device's memory, as a step that is
/// captured once takes new ones each time.
struct DeviceStep {
  float value[5] = {};
  float weight_decay = 0;  ///< as UpdateOptions'
};

/// Elements [first, first + count) of a tensor; `first` is a multiple of 512, `count` at most
/// 65,536. All that follows has the element `first` of the tensor as its first.
struct UpdateWork {
  /// Those of all ranks of the tensor; or, null, the sums of their trits and their scaler.
  const DevicePacket* packets = nullptr;
  const std::byte* sums = nullptr;  ///< of the whole tensor; 16-byte aligned
  const float* scaler = nullptr;    ///< of the sums
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  const float* current = nullptr;
  float* next = nullptr;                ///< `current`, or a packet of fp32, or apart from all
  float* slots[kMostDeviceSlots] = {};  ///< the optimizer's, in its order
};

struct UpdateLaunch {
  const UpdateWork* work = nullptr;
  std::uint32_t count = 0;  ///< of work
  std::uint32_t ranks = 0;
  DeviceRule rule = DeviceRule::average;
  bool from_sums = false;
  const DeviceStep* step = nullptr;  ///< not of `average`
  /// What the sum of the packets is divided by; 0: `ranks`. Ranks' fp32 that are summed with 1, and
  /// that sum stepped with as one packet divided by their number, give the bits of one pass.
  std::uint32_t divisor = 0;
};

constexpr std::uint32_t divisor_of(const UpdateLaunch& launch) {
  return launch.divisor != 0 ? launch.divisor : launch.ranks;
}

/// Puts one launch on a stream of CUDA's (update.cu) and returns a cudaError_t.
int cuda_update(const UpdateLaunch& launch, CUstream_st* stream);

}  // namespace sterna::kernels
