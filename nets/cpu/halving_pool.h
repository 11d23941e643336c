// Maximum over 2 × 2 windows that tile an image, channels last: the pooling of small nets, several
// times as fast as the general primitive, since no window overlaps another or the border.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa/isa.h"
#include "nets/cpu/team.h"
#include "nets/tensor/tensor.h"

namespace sterna::nets {

/// Of the pooled image: {rows, columns, channels} per batch element; twice as many rows and columns
/// before pooling. Rows of a batch follow each other, so `rows` is batch × height.
struct HalvingPool {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t channels = 0;
};

/// y = the maxima of x, and for each which of its window's four pixels (in row-major order) was the
/// first to hold it.
void halving_pool_forward(const HalvingPool& pool, kernels::Isa isa, const Team& team,
                          const Tensor& x, Tensor& y, std::uint8_t* winner);

/// dx = dy at the winners, 0 elsewhere.
void halving_pool_backward(const HalvingPool& pool, kernels::Isa isa, const Team& team,
                           const Tensor& dy, const std::uint8_t* winner, Tensor& dx);

}  // namespace sterna::nets
