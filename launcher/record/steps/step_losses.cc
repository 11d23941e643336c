#include "launcher/record/steps/step_losses.h"

#include <algorithm>

namespace sterna::launcher {

StepLosses::StepLosses(const actors::JobConfig& job)
    : in_step_(job.in_step()), ranks_(job.ranks), steps_(job.steps), next_(job.first_step) {}

std::vector<LossMetrics> StepLosses::add(const actors::RankLoss& loss) {
  if (loss.rank >= ranks_ || loss.step >= steps_) return {};
  if (!in_step_) {
    return {{.step = static_cast<std::int64_t>(loss.step),
             .rank = loss.rank,
             .loss = loss.loss,
             .decay_loss = loss.decay_loss}};
  }
  if (loss.step < next_) return {};
  const auto [entry, fresh] = open_.try_emplace(loss.step);
  Step& step = entry->second;
  if (fresh) {
    step = {.by_rank = std::vector<actors::RankLoss>(ranks_),
            .told = std::vector<bool>(ranks_),
            .missing = ranks_};
  }
  if (!step.told[loss.rank]) {
    step.told[loss.rank] = true;
    step.by_rank[loss.rank] = loss;
    --step.missing;
  }
  if (step.missing > 0) {
    const std::size_t most = std::max<std::size_t>(kMostLosses / ranks_, 4);
    if (open_.size() > most) {
      next_ = open_.begin()->first + 1;  // nobody waits for what is missing of it
      open_.erase(open_.begin());
    }
    return {};
  }
  LossMetrics mean{.step = static_cast<std::int64_t>(loss.step + 1)};  // they count steps done
  for (const actors::RankLoss& one : step.by_rank) {
    mean.loss += one.loss;
    mean.decay_loss += one.decay_loss;
  }
  mean.loss /= ranks_;
  mean.decay_loss /= ranks_;
  next_ = loss.step + 1;
  open_.erase(open_.begin(), open_.upper_bound(loss.step));
  return {mean};
}

}  // namespace sterna::launcher
