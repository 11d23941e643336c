// Local response normalization at the power that nets take, 3/4, where oneDNN 2.6 has nothing to be
// used: of bf16 it has a kernel whose gradient is wrong from 32 channels on (by half at alpha =
// 0.3), and of fp32 without AVX-512 only that for reference, which takes 20 and 230 ns an element.
#pragma once

#include <memory>

#include "nets/backend/lrn.h"

namespace sterna::nets {

/// Computes in fp32, on one thread, in AVX2, or in AVX-512, which all CPUs have that compute with
/// bf16. Null where `spec` is not of the kind, or oneDNN has a kernel.
std::unique_ptr<Lrn> make_own_lrn(const LrnSpec& spec);

}  // namespace sterna::nets
