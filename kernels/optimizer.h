// Decode, sum, average and optimizer step in one pass over memory: a parameter server's whole work
// on a shard once a step's packets are there.
#pragma once

#include <span>

#include "kernels/aggregate.h"
#include "kernels/isa.h"

namespace sterna::kernels {

enum class Optimizer {
  gd,        ///< w' = w - lr g
  momentum,  ///< a' = m a + g; w' = w - lr a' (TensorFlow's, without Nesterov)
};

struct UpdateOptions {
  Optimizer optimizer = Optimizer::gd;
  float learning_rate = 0;
  float momentum = 0;
  /// Where > 0, g = average + weight_decay * w (decay_at = "server"), else g = average.
  float weight_decay = 0;
};

/// next = one optimizer step from `current` with the average of `packets` as the gradient.
///
/// All spans have one length, except that `accumulator` (the momentum slot a, updated in place) is
/// empty for gd. `next` must not overlap `current`, which stays as it was for those who still send
/// it. Each operation written above is one fp32 operation with its own rounding (no FMA): the bits
/// are the same on every instruction set.
void update(std::span<const Packet> packets, const UpdateOptions& options,
            std::span<const float> current, std::span<float> accumulator, std::span<float> next,
            Isa isa);

}  // namespace sterna::kernels
