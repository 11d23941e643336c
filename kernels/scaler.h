// The scaler s of a gradient tensor: what a trit of 1 stands for (TernGrad, Wen et al. 2017,
// section 3.3: gradient clipping by c times the standard deviation).
#pragma once

#include <span>

#include "kernels/isa.h"
#include "runtime/base/result.h"

namespace sterna::kernels {

/// s = clip * sigma where clip > 1e-5, else max |g|. An empty gradient has s = 0.
///
/// Sigma is the standard deviation over all n elements (divided by n), defined to the bit by
/// kernels/TRITS.md, so that every instruction set and device agrees on it. A NaN or an infinity in
/// the gradient, or squares that overflow fp32, is Errc::non_finite with the element's index; the
/// caller adds rank, step and tensor.
Result<float> scaler(std::span<const float> gradient, float clip, Isa isa);

}  // namespace sterna::kernels
