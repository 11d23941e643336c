// Local response normalization of bf16 at the power that nets take, 3/4. oneDNN 2.6 has a kernel
// for that, too, whose gradient is wrong from 32 channels on (by half at alpha = 0.3).
#pragma once

#include <memory>

#include "nets/backend/lrn.h"

namespace sterna::nets {

/// Whether `spec` is of the kind.
bool is_bf16_lrn(const LrnSpec& spec);

/// Computes in fp32, on one thread, in AVX-512, which all CPUs have that compute with bf16.
std::unique_ptr<Lrn> make_bf16_lrn(const LrnSpec& spec);

}  // namespace sterna::nets
