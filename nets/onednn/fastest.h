// How fast oneDNN could be: the limit that a net's step is measured against.
#pragma once

#include <string>
#include <string_view>

#include "nets/backend/operation.h"

namespace sterna::nets {

/// The fastest implementation of each pass of an operation, over the formats of activations that
/// oneDNN knows; weights lie as it likes, and what brings data into a format is not counted.
struct FastestPasses {
  double seconds = 0;  ///< forward, and all gradients that are asked for; the calling thread's time
  std::string forward;
  std::string backward_data;
  std::string backward_weights;
};

/// The calling thread's own time, which a busy machine disturbs least.
double thread_seconds();

/// Whether oneDNN names it as plain C++ for reference: "ref:any", "bnorm_ref:any".
bool is_reference(std::string_view implementation);

/// Measured now, on one thread: each candidate `rounds` times, of which the fastest counts.
/// Implementations for reference are left out where there is another. A relayout takes none.
/// Throws what oneDNN throws.
FastestPasses measure_fastest(const Operation& operation, int rounds);

}  // namespace sterna::nets
