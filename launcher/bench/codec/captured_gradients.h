// Gradients as training makes them: what codecs are measured on beside drawn numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "launcher/bench/figures.h"

namespace sterna::launcher {

/// LeNet's at batch 64, tensor by tensor, after so many steps with momentum on the training images
/// that are found as a run finds them. Errors: those of finding and reading images.
Result<std::vector<std::vector<float>>> capture_lenet_gradients(std::uint64_t steps,
                                                                const BenchProgress& progress);

}  // namespace sterna::launcher
