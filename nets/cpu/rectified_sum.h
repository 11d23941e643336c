// Sums of which a ReLU follows. oneDNN 2.6 passes memory once forward, but twice on the way back
// where a part of the gradient lies apart.
#pragma once

#include <memory>

#include "nets/backend/rectified_sum.h"
#include "nets/cpu/team.h"

namespace sterna::nets {

/// bf16s in AVX-512, which all CPUs have that compute with them.
std::unique_ptr<RectifiedSum> make_rectified_sum(const RectifiedSumSpec& spec, const Team& team);

}  // namespace sterna::nets
