// What a net is, without making it: its table, its arithmetic and its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nets/backend/operation.h"
#include "nets/graph/memory_plan.h"
#include "nets/net_options.h"
#include "nets/tensor/parameter.h"

namespace sterna::nets {

struct NetDescription {
  std::vector<ParameterSpec> parameters;  ///< as Net::parameters()
  std::size_t trained = 0;                ///< how many of them: all but the statistics
  /// Multiplications and additions of one image's forward pass, in convolutions and dense layers; a
  /// training step takes three times as many.
  std::uint64_t flops = 0;
  std::vector<Operation> operations;  ///< of one pass, in the order in which it runs
  std::size_t dropouts = 0;           ///< layers of it, where NetOptions::keep is below 1
  std::uint64_t passes = 1;           ///< of a step: micro-batches in a batch
  ActivationMemory activations;       ///< of one pass

  /// Of what is trained.
  std::uint64_t trained_elements() const;
  /// What a process needs to train it: parameters, their gradients (with their sums over several
  /// passes) and activations, in bytes.
  std::uint64_t training_bytes() const;
  /// The same with activations that lie as close as their lives allow at the fullest moment.
  std::uint64_t least_training_bytes() const;
};

/// In milliseconds, and without memory for numbers, however large the net is. Errors: those of
/// make_net() but for the backend's.
Result<NetDescription> describe_net(const NetOptions& options);

}  // namespace sterna::nets
