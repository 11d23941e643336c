// A net that moves gradients without computing them: what a step costs beside its arithmetic.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "nets/graph/graph.h"

namespace sterna::nets {

/// Images to 10 logits by one layer, and a tensor of 1,024 elements times each of `sizes`, whose
/// gradient is drawn once, from a normal distribution, and the same in every step. The last is
/// complete first, as if it were the last layer's.
Activation& build_exchange(Graph& graph, std::size_t batch, std::span<const std::uint32_t> sizes);

/// The same, but its passes take as long as a large net's on an accelerator, evenly over the
/// tensors: what of an exchange hides behind them can be seen on any machine.
Activation& build_paced_exchange(Graph& graph, std::size_t batch,
                                 std::span<const std::uint32_t> sizes);
inline constexpr std::chrono::milliseconds kPacedForward{67};
inline constexpr std::chrono::milliseconds kPacedBackward{133};

}  // namespace sterna::nets
