// A moving average of parameters, which steps with them while their tile is in the cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa/isa.h"
#include "kernels/optimizer/optimizer.h"

namespace sterna::kernels {

/// By how much the average moves towards what step `step` (the first is 0) has led to:
/// 1 - min(decay, (1 + step) / (10 + step)), as in TensorFlow's ExponentialMovingAverage; the
/// initial parameters are soon forgotten so. In fp64, rounded once: the same bits on every machine.
float average_part(double decay, std::uint64_t step);

/// Some parameters that a step has led to.
struct AverageTile {
  const float* made;     ///< w'
  const float* average;  ///< e
  std::size_t count;
  float* next;          ///< gets w' too
  float* next_average;  ///< e'; `average` itself or apart
  bool past_cache;      ///< as StepTile's, of `next`
};

/// e' = e - part (e - w'), each operation with a rounding of its own.
void move_average(float part, const AverageTile& tile, Isa isa);

/// How batch norm's moving statistics take in those of a batch, as if these were gradients g:
/// w' = w - part (w - g), `part` being the first constant (average_part). No rule that a file may
/// name, and nothing decays.
Optimizer statistics_rule();

}  // namespace sterna::kernels
