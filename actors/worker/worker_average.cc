// Ranks of a worker that to the servers are one (gradient.host): each computes its own batch, their
// gradients meet in one average, and the first rank pushes it, offers its scalers, keeps what error
// feedback leaves of it, and begins it. Side by side on several replicas they take turns in rank
// order, replica by replica, so that few gradients are early.
#include <algorithm>

#include "actors/worker/ranks/net_memory.h"
#include "actors/worker/worker.h"

namespace sterna::actors {

Task<Result<std::shared_ptr<RankNet>>> Worker::make_averaged_net(Rank& rank) {
  const JobConfig& job = args_.job;
  // The watcher's turn is over when packets leave; they do so on the thread of the last rank, which
  // may outlive this actor.
  const auto watcher = std::make_shared<std::weak_ptr<RankNet>>();
  if (pushes(rank)) {
    GradientEncoder::Events events = events_of(rank);
    events.packets = [watcher, send = std::move(events.packets)](
                         std::uint64_t step, std::uint32_t shard, std::vector<Packet> packets) {
      if (const std::shared_ptr<RankNet> net = watcher->lock()) net->sent(packets);
      send(step, shard, std::move(packets));
    };
    auto making = make_average(rank, std::move(events));
    STERNA_CO_ASSIGN(average_, std::move(making));
  }
  auto making = make_there(
      [job, number = rank.rank, replica = rank.seat->replica, table = table_, average = average_] {
        return RankNet::make_averaged(job, number, replica, table, average);
      });
  STERNA_CO_ASSIGN(const auto net, std::move(making));
  if (pushes(rank)) *watcher = net;
  co_return net;
}

Task<Result<std::shared_ptr<HostAverage>>> Worker::make_average(const Rank& rank,
                                                                GradientEncoder::Events events) {
  STERNA_CO_ASSIGN(Residuals found, residuals_of(rank.rank));
  const auto residuals = std::make_shared<Residuals>(std::move(found));
  const std::uint32_t replicas =
      replicas_of(args_.job, args_.ranks, static_cast<std::uint32_t>(devices_.size()));
  auto making = make_there([job = args_.job, number = rank.rank, replica = rank.seat->replica,
                            devices = devices_of(devices_, replicas), table = table_,
                            &clock = process().loop(), events = std::move(events), residuals] {
    return average_for(job, number, *replica, devices, table, clock, events, std::move(*residuals));
  });
  co_return co_await std::move(making);
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
    Task<void> making = pushes_->until_made(ranks_.front().rank, step);
    co_await std::move(making);
    co_return;
  }
  while (std::ranges::any_of(ranks_, lacks)) co_await averaged_.wait();
}

bool Worker::computing(const Rank& rank) const {
  if (!averages()) return rank.net->computing();
  return std::ranges::any_of(ranks_, [](const Rank& one) { return one.net->computing(); });
}

}  // namespace sterna::actors
