// Some tensors that a device encodes in one launch, and the same by the CPU's kernels.
#pragma once

#include <span>
#include <vector>

#include "kernels/device/tables.h"

namespace sterna::kernels {

struct EncodeCase {
  std::vector<std::vector<float>> tensors = {};
  float clip = 2.5F;
  StepOfRank draw = {};
  std::uint32_t first_tensor = 0;  ///< the first's place in the table of parameters
  /// What the last step has left, by tensor; empty: each tensor's own, twice as large.
  std::vector<float> last_scalers = {};
};

/// Fresh scalers and trits under them; then trits under the last step's scalers with statistics in
/// the same pass. All bits must be the CPU's.
Result<void> encodes_like_the_cpu(Device& device, const EncodeCase& what);

/// Residuals that take gradients in and keep what trits do not say.
Result<void> feeds_errors_back_like_the_cpu(Device& device, const EncodeCase& what);

/// The nearest bf16s.
Result<void> encodes_bf16_like_the_cpu(Device& device, const EncodeCase& what);

}  // namespace sterna::kernels
