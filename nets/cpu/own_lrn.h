// Local response normalization at the power that nets take, 3/4, where oneDNN 2.6 is wrong or slow:
// its gradient of bf16 is wrong from 32 channels on (by half at alpha = 0.3), and in AVX2 it has
// but one kernel of fp32, forward over five channels, which takes 2.4 ns an element where ours
// takes 0.9; else that for reference, which takes 20 forward and 230 backward.
#pragma once

#include <memory>

#include "kernels/isa/isa.h"
#include "nets/backend/lrn.h"
#include "nets/cpu/team.h"

namespace sterna::nets {

/// Computes in fp32, in AVX2, or in AVX-512, which all CPUs have that compute with bf16. Null where
/// `spec` is not of the kind, or of fp32 and `isa` is another than AVX2: for AVX-512 oneDNN has
/// all.
std::unique_ptr<Lrn> make_own_lrn(const LrnSpec& spec, kernels::Isa isa, const Team& team);

}  // namespace sterna::nets
