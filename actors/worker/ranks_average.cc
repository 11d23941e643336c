#include "actors/worker/ranks_average.h"

#include <algorithm>
#include <utility>

namespace sterna::actors {

RanksAverage::RanksAverage(const WorkerArgs& args, std::uint32_t replicas,
                           std::shared_ptr<HostAverage> sums)
    : first_rank_(args.first_rank),
      replicas_(replicas),
      sums_(std::move(sums)),
      added_(args.ranks) {}

Task<void> RanksAverage::begin(std::uint32_t rank, std::uint64_t step) {
  if (rank == first_rank_) {
    sums_->begin(step);
    step_ = step;
    changed_.notify_all();
    co_return;
  }
  const std::size_t turn = (rank - first_rank_) / replicas_;
  while (step_ != step || waits(turn, step)) co_await changed_.wait();
}

bool RanksAverage::waits(std::size_t turn, std::uint64_t step) const {
  const std::size_t before = std::min(turn * replicas_, added_.size());
  return std::any_of(added_.begin(), added_.begin() + static_cast<std::ptrdiff_t>(before),
                     [&](std::uint64_t added) { return added <= step; });
}

void RanksAverage::added(std::uint32_t rank, std::uint64_t step) {
  added_[rank - first_rank_] = step + 1;
  changed_.notify_all();
}

Task<void> RanksAverage::until_complete(std::uint64_t step) {
  while (std::ranges::any_of(added_, [&](std::uint64_t added) { return added <= step; })) {
    co_await changed_.wait();
  }
}

}  // namespace sterna::actors
