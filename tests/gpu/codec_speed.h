// How fast a device's codec is beside a kernel that only reads, in the same run: times between two
// events, launches included, medians, each buffer too long ago to be in the device's cache.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/device/device.h"
#include "nets_tensors.h"

namespace sterna::kernels {

/// A figure's name, what it must reach and what it should.
struct SpeedGoal {
  std::string name;
  double floor;
  double aim;
  bool less_is_better;
};

/// Those that are measured here.
std::vector<SpeedGoal> codec_speed_goals();

struct SpeedOptions {
  std::size_t elements = 25'600'000;
  std::vector<std::size_t> net = resnet50_tensors();  ///< of `encode_net`: its tensors' elements
  int rounds = 15;
  /// No buffer is used again before so many bytes, or twice the device's cache, were read.
  std::size_t least_cache = std::size_t{64} << 20U;
};

/// The goals' figures, and the device's own: `read_gbps`.
Result<std::map<std::string, double>> codec_speed(Device& device, const SpeedOptions& options);

}  // namespace sterna::kernels
