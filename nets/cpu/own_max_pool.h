// Maximum over any windows, channels last, as many channels at a time as a vector has; oneDNN 2.6
// takes several times as long. (Windows that tile an image without remainder: halving_pool.h.)
#pragma once

#include <memory>

#include "kernels/isa/isa.h"
#include "nets/backend/max_pool.h"
#include "nets/cpu/team.h"

namespace sterna::nets {

/// In AVX-512, of at least eight channels in AVX2, or plain. bf16s in AVX-512, which all CPUs have
/// that compute with them.
std::unique_ptr<MaxPool> make_own_max_pool(const MaxPoolSpec& spec, kernels::Isa isa,
                                           const Team& team);

}  // namespace sterna::nets
