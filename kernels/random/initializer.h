// The first values of parameters, drawn from the job's seed.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/isa/isa.h"

namespace sterna::kernels {

/// Elements of one tensor's start: `tensor` is its place in the table of parameters (stream
/// `initializer`).
struct InitialDraw {
  std::uint64_t seed = 0;
  std::uint32_t tensor = 0;
  std::uint32_t first = 0;  ///< the first element's index
};

/// Fills `out` from a normal distribution of mean 0 whose draws beyond two `stddev`s are drawn
/// again (so the result's own standard deviation is 0.8796 `stddev`), as TensorFlow's
/// truncated_normal.
///
/// Each element is a function of its index, its tensor and the seed alone, with the same bits on
/// every machine and instruction set (kernels/trits/TRITS.md). A tensor has fewer than 2^32
/// elements.
void truncated_normal(std::span<float> out, float stddev, const InitialDraw& draw, Isa isa);

/// The same of a normal distribution that is cut off at 6 `stddev`s, which one draw in 500 million
/// exceeds: TensorFlow's random_normal.
void normal(std::span<float> out, float stddev, const InitialDraw& draw);

/// Fills `out` uniformly between -limit and limit; of the same promises.
void uniform(std::span<float> out, float limit, const InitialDraw& draw, Isa isa);

}  // namespace sterna::kernels
