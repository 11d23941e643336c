// Nets that move gradients without computing them: what a step costs beside its arithmetic.
#pragma once

#include <chrono>

namespace sterna::nets {

/// Images to 10 logits by one layer, and a tensor of 1,024 elements times each of the hidden
/// layers' sizes, whose gradient is drawn once, from a normal distribution, and the same in every
/// step. The last is complete first, as if it were the last layer's.
inline constexpr const char* kFixedGradientsName = "fixed_gradients";

/// The same, but its passes take as long as a large net's on an accelerator, evenly over the
/// tensors, and no core: what of an exchange hides behind them can be seen on any machine.
inline constexpr const char* kPacedFixedGradientsName = "fixed_gradients_paced";
inline constexpr std::chrono::milliseconds kPacedForward{67};
inline constexpr std::chrono::milliseconds kPacedBackward{133};

}  // namespace sterna::nets
