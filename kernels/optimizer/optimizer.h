// Decode, sum, average and optimizer step in one pass over memory: a parameter server's whole work
// on a shard once a step's packets are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/isa/isa.h"
#include "kernels/sums/aggregate.h"
#include "kernels/sums/sums.h"
#include "runtime/base/result.h"
#include "runtime/base/section.h"

namespace sterna::kernels {

/// The fp32 constants of one step, in the order that their optimizer says.
struct StepConstants {
  float value[5] = {};
};

/// Some parameters on their way through a step.
struct StepTile {
  const float* current;   ///< w
  const float* gradient;  ///< g
  std::size_t count;
  float* const* slots;  ///< updated in place
  float* next;          ///< w'
  bool past_cache;      ///< `next` is too long to stay in the cache; 64-byte aligned then
  float decay = 0;      ///< of weights, for an optimizer that decays by itself
};
using StepFunction = void (*)(const StepConstants& constants, const StepTile& tile);

/// Of step `step`, the first is 0, with that step's learning rate. In fp64, rounded once.
using ConstantsOfStep = std::function<StepConstants(double learning_rate, std::uint64_t step)>;

/// A rule by which a gradient changes parameters: one file of its own (adam.cc, ...), which has the
/// formula and the keys that the rule brings, and a line in optimizer.cc.
struct Optimizer {
  std::string_view name;
  /// Numbers kept per parameter: what each of them is before the first step.
  std::span<const float> slots = {};
  ConstantsOfStep (*constants)(const Numbers& values) = nullptr;  ///< with these of its keys
  StepFunction scalar = nullptr;
  StepFunction avx2 = nullptr;
  StepFunction avx512 = nullptr;
  std::span<const NumberKey> keys = {};
  /// Weight decay is no part of its gradient but a term of its step (StepTile::decay).
  bool decays = false;
};

inline constexpr std::size_t kMostSlots = 2;

/// invalid_argument for a name that is none of theirs.
Result<Optimizer> find_optimizer(std::string_view name);
std::vector<Optimizer> optimizers();
std::vector<std::string_view> optimizer_names();

struct UpdateOptions {
  Optimizer optimizer;
  StepConstants constants{};
  /// Where > 0, g = average + weight_decay * w (decay_at = "server"), else g = average; an
  /// optimizer that decays by itself has g = average and takes this into its step.
  float weight_decay = 0;
  /// By how much a moving average of the parameters moves (average_part), where one is kept.
  float average_part = 0;
};

/// Where a step's parameters lie, all of one length. `next` is `current` itself, or apart from it:
/// then `current` stays as it was, for those who still send it.
struct Parameters {
  std::span<const float> current;
  std::span<const std::span<float>> slots;  ///< as many as the optimizer has
  std::span<float> next;
  /// A moving average of the parameters, and where it is to lie: in the same place, or apart.
  /// Empty: none is kept.
  std::span<const float> average = {};
  std::span<float> next_average = {};
};

/// next = one optimizer step from `current` with the average of `packets` as the gradient, and the
/// moving average, if there is one, moves towards it in the same pass. Each
/// operation of the formulas is one fp32 operation with its own rounding (no FMA): the bits are the
/// same on every instruction set.
void update(std::span<const Packet> packets, const UpdateOptions& options,
            const Parameters& parameters, Isa isa);

/// A step whose gradient is the average that decode_sums makes of `sums`.
struct SumStep {
  SumPacket sums;
  UpdateOptions options;
};

/// next = these steps from `current`, one after the other, at least one: the bits of as many single
/// updates, but the parameters and slots come from memory and go back to it only once.
void update(std::span<const SumStep> steps, const Parameters& parameters, Isa isa);

}  // namespace sterna::kernels
