// Maximum over any windows, channels last, as many channels at a time as a vector has; oneDNN 2.6
// takes several times as long. (Windows that tile an image without remainder: halving_pool.h.)
#pragma once

#include <memory>

#include "kernels/isa/isa.h"
#include "nets/backend/max_pool.h"

namespace sterna::nets {

/// On one thread, in AVX-512, or of fp32 and at least eight channels in AVX2. Null where the CPU
/// has neither, or a byte does not count a window's pixels.
std::unique_ptr<MaxPool> make_own_max_pool(const MaxPoolSpec& spec, kernels::Isa isa);

}  // namespace sterna::nets
