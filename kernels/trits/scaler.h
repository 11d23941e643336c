// The scaler s of a gradient tensor: what a trit of 1 stands for (TernGrad, Wen et al. 2017,
// section 3.3: gradient clipping by c times the standard deviation).
#pragma once

#include <span>

#include "kernels/isa/isa.h"
#include "runtime/base/result.h"

namespace sterna::kernels {

/// s = clip * sigma where clip > 1e-5, else max |g|. An empty gradient has s = 0.
///
/// Sigma is the standard deviation over all n elements (divided by n), defined to the bit by
/// kernels/trits/TRITS.md, so that every instruction set and device agrees on it. A NaN or an
/// infinity in the gradient, or squares that overflow fp32, is Errc::non_finite with the element's
/// index; the caller adds rank, step and tensor.
Result<float> scaler(std::span<const float> gradient, float clip, Isa isa);

/// What a trit of 1 stands for under error feedback: s / clip for clip > 1, else s.
///
/// Trits are drawn so that s times them is x on average, at the price of an error that may be as
/// long as x, and a residual of such errors grows without end. Scaled down by clip, which bounds
/// what the draws add (s sum |x| <= clip sum x^2 under a rank's own s), each step leaves about
/// 1 - 1/clip of the squares: a contraction, as error feedback needs (Beznosikov et al. 2020,
/// arXiv 2002.12410).
constexpr float fed_back_scaler(float scaler, float clip) {
  return clip > 1 ? scaler / clip : scaler;
}

}  // namespace sterna::kernels
