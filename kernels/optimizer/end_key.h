// The key of two schedules.
#pragma once

#include "runtime/base/section.h"

namespace sterna::kernels {

inline constexpr NumberKey kEndKey = {
    "end_learning_rate", 0, {.low = 0}, "polynomial and cosine: what the rate falls to at the end"};

}  // namespace sterna::kernels
