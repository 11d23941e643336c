// A net that moves gradients without computing them: what a step costs beside its arithmetic.
#pragma once

#include <cstdint>
#include <span>

#include "nets/graph.h"

namespace sterna::nets {

/// Images to 10 logits by one layer, and a tensor of 1,024 elements times each of `sizes`, whose
/// gradient is drawn once, from a normal distribution, and the same in every step. The last is
/// complete first, as if it were the last layer's.
Activation& build_exchange(Graph& graph, std::size_t batch, std::span<const std::uint32_t> sizes);

}  // namespace sterna::nets
