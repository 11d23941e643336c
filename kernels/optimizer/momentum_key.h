// The key of three optimizers.
#pragma once

#include "runtime/base/section.h"

namespace sterna::kernels {

inline constexpr NumberKey kMomentumKey = {
    "momentum",
    0.9,
    {.low = 0, .high = 1, .high_open = true},
    "for momentum, nesterov and rmsprop: how much of the last change stays in the next"};

}  // namespace sterna::kernels
