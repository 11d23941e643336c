// The first values of parameters, drawn from the job's seed.
#pragma once

#include <cstdint>
#include <span>

namespace sterna::kernels {

/// Fills `out` from a normal distribution of mean 0 whose draws beyond two `stddev`s are drawn
/// again (so the result's own standard deviation is 0.8796 `stddev`), as TensorFlow's
/// truncated_normal.
///
/// A function of its arguments alone, with the same bits on every machine: `tensor` is the place in
/// the table of parameters (stream `initializer`). Fewer than 2^32 elements.
void truncated_normal(std::span<float> out, float stddev, std::uint64_t seed, std::uint32_t tensor);

}  // namespace sterna::kernels
