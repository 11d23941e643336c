// Ranks of a worker that to the servers are one (gradient.host): each computes its own batch, their
// gradients meet in one average, and the first rank pushes it, offers its scalers, keeps what error
// feedback leaves of it, and begins it. Side by side on several replicas they take turns in rank
// order, replica by replica, so that few gradients are early.
#include <algorithm>

#include "actors/encode/device_sums.h"
#include "actors/worker/net_memory.h"
#include "actors/worker/worker.h"

namespace sterna::actors {
namespace {

Result<std::unique_ptr<AverageSums>> sums_on(const Worker::Devices& devices, std::size_t tensors) {
  if (devices.empty()) return std::unique_ptr<AverageSums>(std::make_unique<HostSums>(tensors));
  STERNA_ASSIGN(auto made, DeviceSums::make(devices, tensors));
  return std::unique_ptr<AverageSums>(std::move(made));
}

}  // namespace

Result<std::shared_ptr<RankNet>> Worker::make_averaged_net(Rank& rank) {
  const JobConfig& job = args_.job;
  // The watcher's turn is over when packets leave; they do so on the thread of the last rank, which
  // may outlive this actor.
  const auto watcher = std::make_shared<std::weak_ptr<RankNet>>();
  if (pushes(rank)) {
    STERNA_ASSIGN(Residuals residuals, residuals_of(rank.rank));
    GradientEncoder::Events events = events_of(rank);
    events.packets = [watcher, send = std::move(events.packets)](
                         std::uint64_t step, std::uint32_t shard, std::vector<Packet> packets) {
      if (const std::shared_ptr<RankNet> net = watcher->lock()) net->sent(packets);
      send(step, shard, std::move(packets));
    };
    const Replica& replica = *rank.seat->replica;
    STERNA_ASSIGN(auto arithmetic,
                  arithmetic_for(job, rank.rank, replica, table_, false, std::move(residuals)));
    const std::uint32_t replicas =
        replicas_of(job, args_.ranks, static_cast<std::uint32_t>(devices_.size()));
    STERNA_ASSIGN(auto sums, sums_on(devices_of(replicas), table_->tensors.size()));
    average_ = std::make_shared<HostAverage>(
        job, *table_, std::move(sums),
        std::make_unique<GradientEncoder>(job, table_, process().loop(), std::move(events),
                                          std::move(arithmetic)));
  }
  STERNA_ASSIGN(const auto net,
                RankNet::make_averaged(job, rank.rank, rank.seat->replica, table_, average_));
  if (pushes(rank)) *watcher = net;
  return net;
}

Task<void> Worker::may_add(const Rank& rank, std::uint64_t step) {
  if (pushes(rank)) {
    average_->begin(step);
    averaging_ = step;
    averaged_.notify_all();
    co_return;
  }
  const auto turn = [&](const Rank& one) { return (one.rank - args_.first_rank) / seats_.size(); };
  const auto early = [&] {
    return averaging_ != step || std::ranges::any_of(ranks_, [&](const Rank& one) {
             return turn(one) < turn(rank) && one.added <= step;
           });
  };
  while (early()) co_await averaged_.wait();
}

Task<void> Worker::all_added(const Rank& rank, std::uint64_t step) {
  const auto lacks = [&](const Rank& one) { return one.added <= step; };
  if (!pushes(rank)) {
    while (ranks_.front().pushed <= step) co_await pushed_.wait();
    co_return;
  }
  while (std::ranges::any_of(ranks_, lacks)) co_await averaged_.wait();
}

bool Worker::computing(const Rank& rank) const {
  if (!averages()) return rank.net->computing();
  return std::ranges::any_of(ranks_, [](const Rank& one) { return one.net->computing(); });
}

}  // namespace sterna::actors
