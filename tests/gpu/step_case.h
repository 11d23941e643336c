// A tensor's packets that a device sums, averages and steps with, and the same by the CPU's
// kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device/device.h"

namespace sterna::kernels {

struct StepCase {
  std::vector<std::size_t> elements;  ///< by tensor
  std::vector<Packing> packings;      ///< by rank, of all tensors
  std::uint64_t seed = 1;
};

/// The sums of trits, where all packings are planes, and what they stand for.
Result<void> sums_like_the_cpu(Device& device, const StepCase& what);

/// Averages and steps of every rule, from packets and (where all are planes) from sums.
Result<void> steps_like_the_cpu(Device& device, const StepCase& what);

/// Averages from sums of fp32, each written over the first rank's packet, as devices make them that
/// each sum a slice of all gradients. `what` has no other packings.
Result<void> averages_from_fp32_sums_like_the_cpu(Device& device, const StepCase& what);

}  // namespace sterna::kernels
