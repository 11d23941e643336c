// ScalerBoard: where the ranks agree on the scalers of one shard, each the largest that any rank
// offers (TernGrad's scaler sharing, Wen et al. 2017, section 3.3), or the mean of what all offer.
//
// Synchronous steps: no rank is more than one step ahead of another, so that of each scaler only
// the step that is being agreed and the one before are kept. Nothing depends on the order of
// arrival.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/job/messages.h"
#include "actors/parameters/parameter_table.h"

namespace sterna::actors {

class ScalerBoard {
 public:
  /// For the scalers of `table` that are agreed at `shard`, from `first_step` on; `rule` is not
  /// own.
  ScalerBoard(const ParameterTable& table, std::uint32_t shard, std::uint32_t ranks,
              std::uint64_t first_step, ScalerRule rule);

  /// Takes one rank's scalers, all or none of them. Errors (invalid_argument: its sender broke the
  /// rules): a scaler of another shard, one that is negative or not finite, a step that is not the
  /// next, a rank that offers another value than before. Returns whether some scaler became agreed.
  Result<bool> offer(const Offer& offer);
  /// Once all ranks have offered theirs of `step`.
  std::optional<float> agreed(std::uint64_t step, std::uint32_t index) const;

 private:
  struct Entry {
    bool here = false;
    std::uint64_t step = 0;  ///< that is being agreed
    std::uint32_t missing = 0;
    std::vector<std::optional<float>> offered;  ///< by rank
    float last = 0;                             ///< of the step before
  };
  Result<void> check(const Offer& offer) const;

  /// Of what all ranks have offered, in fp64 and in their order where it is a mean.
  float combined(const Entry& entry) const;

  ScalerRule rule_;
  std::uint32_t ranks_;
  std::uint64_t first_step_;
  std::vector<Entry> entries_;
};

}  // namespace sterna::actors
