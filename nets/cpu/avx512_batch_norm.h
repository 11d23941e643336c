// Batch normalization, channels last, at the speed of memory: oneDNN 2.6 takes twice as long for
// that format, and ten times where channels do not fill vectors.
#pragma once

#include <memory>

#include "nets/backend/batch_norm.h"
#include "nets/cpu/team.h"

namespace sterna::nets {

/// Computes in fp32, its sums of some pixels at a time in fp64, in AVX-512.
std::unique_ptr<BatchNorm> make_avx512_batch_norm(const BatchNormSpec& spec, const Team& team);

}  // namespace sterna::nets
