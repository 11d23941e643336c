// max(0, x), of which what is no number stays so: oneDNN makes 0 of it, and the loss of a net whose
// parameters are broken looks as if nothing were wrong. bf16 by its bits, 32 at a time: oneDNN 2.6
// goes by way of fp32, and a million elements forward and back take it 0.28 ms, here 0.08
// (cifarnet's step in batches of 32: 10 ms).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kernels/isa/isa.h"
#include "nets/backend/eltwise.h"
#include "nets/cpu/team.h"

namespace sterna::nets {

// In AVX-512, which all CPUs have that compute with bf16.

/// x = max(0, x); NaNs stay NaNs.
void rectify_bf16(std::span<std::uint16_t> x);
/// dy = y > 0 ? dy : 0, of as many; where y is NaN it is either.
void gate_bf16(std::span<const std::uint16_t> y, std::span<std::uint16_t> dy);

/// Null where the function is another.
std::unique_ptr<Eltwise> make_own_relu(const EltwiseSpec& spec, kernels::Isa isa, const Team& team);

}  // namespace sterna::nets
