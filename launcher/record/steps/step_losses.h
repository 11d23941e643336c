// StepLosses: what all ranks' losses of a step came to, from what each worker tells in its own
// time.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "actors/job/job.h"
#include "actors/job/observer.h"
#include "launcher/view/result_json.h"

namespace sterna::launcher {

class StepLosses {
 public:
  explicit StepLosses(const actors::JobConfig& job);

  /// What is complete by this, or nothing. Where all ranks make each step: their mean, summed in
  /// the order of the ranks, so that the same steps have the same bits wherever the ranks are. Of
  /// ranks that step by themselves: its own. A loss that no rank of this job can have had is
  /// ignored.
  std::vector<LossMetrics> add(const actors::RankLoss& loss);

 private:
  /// Steps that some rank has not told of. Workers tell ten times a second, so that of many quick
  /// steps many are kept; memory is bounded by what that many ranks' losses take.
  static constexpr std::size_t kMostLosses = 1U << 18U;
  struct Step {
    std::vector<actors::RankLoss> by_rank;
    std::vector<bool> told;
    std::uint32_t missing = 0;
  };

  bool in_step_;
  std::uint32_t ranks_;
  std::uint64_t steps_;
  std::uint64_t next_;  // steps before it are over
  std::map<std::uint64_t, Step> open_;
};

}  // namespace sterna::launcher
