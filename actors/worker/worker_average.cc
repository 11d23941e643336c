// Ranks of a worker that to the servers are one (gradient.host): each computes its own batch, their
// gradients meet in one average (ranks_average.h), and the first rank pushes it, offers its
// scalers, keeps what error feedback leaves of it, and begins it.
#include <algorithm>
#include <utility>

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
    STERNA_CO_ASSIGN(std::shared_ptr<HostAverage> sums, std::move(making));
    average_.emplace(args_, replicas(), std::move(sums));
  }
  auto making = make_there([job, number = rank.rank, replica = rank.seat->replica, table = table_,
                            sums = average_->sums()] {
    return RankNet::make_averaged(job, number, replica, table, sums);
  });
  STERNA_CO_ASSIGN(const auto net, std::move(making));
  if (pushes(rank)) *watcher = net;
  co_return net;
}

Task<Result<std::shared_ptr<HostAverage>>> Worker::make_average(const Rank& rank,
                                                                GradientEncoder::Events events) {
  STERNA_CO_ASSIGN(Residuals found, residuals_of(rank.rank));
  const auto residuals = std::make_shared<Residuals>(std::move(found));
  auto making = make_there([job = args_.job, number = rank.rank, replica = rank.seat->replica,
                            devices = devices_of(devices_, replicas()), table = table_,
                            &clock = process().loop(), events = std::move(events), residuals] {
    return average_for(job, number, *replica, devices, table, clock, events, std::move(*residuals));
  });
  co_return co_await std::move(making);
}

bool Worker::computing(const Rank& rank) const {
  if (!averages()) return rank.net->computing();
  return std::ranges::any_of(ranks_, [](const Rank& one) { return one.net->computing(); });
}

}  // namespace sterna::actors
