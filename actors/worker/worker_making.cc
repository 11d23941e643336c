// What a worker makes before its first step: replicas of the net, what each rank computes with on
// them, and on devices what would have fitted where that does not. With gradient.host its ranks are
// one to the servers: each computes its own batch, their gradients meet in one average
// (ranks_average.h), and the first rank pushes it, offers its scalers, and keeps what error
// feedback leaves of it.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "actors/worker/ranks/net_memory.h"
#include "actors/worker/ranks/ranks_on_devices.h"
#include "actors/worker/worker.h"
#include "runtime/host/free_memory.h"

namespace sterna::actors {

std::uint32_t Worker::replicas() const {
  const auto devices = static_cast<std::uint32_t>(devices_.size());
  return replicas_of(args_.job, args_.ranks, devices > 0 ? devices : cores_);
}

Task<Result<void>> Worker::make_replicas() {
  // A device says itself what does not fit, and lack_of_memory() what would.
  std::optional<std::uint64_t> available = devices_.empty() ? free_memory() : std::nullopt;
  if (const KeptMemory* kept = process().kept_memory(); kept != nullptr && available) {
    *available += kept->size();  // what a worker before took is this one's
  }
  STERNA_CO_TRY(check_nets_fit(args_.job, args_.ranks, replicas(), available));
  Task<Result<void>> making = make_seats();
  if (const Result<void> made = co_await making; !made) {
    if (devices_.empty()) co_return made.error();
    auto explaining = lack_of_memory(made.error());
    co_return co_await explaining;
  }
  if (exchanges()) STERNA_CO_TRY(begin_exchanging());
  for (const auto& device : devices_) planned_.push_back(device->allocations());
  co_return {};
}

Task<Result<void>> Worker::begin_exchanging() {
  const Devices devices = devices_of(devices_, seats_.size());
  const auto begin = [devices]() -> Result<std::unique_ptr<kernels::DeviceExchange>> {
    return kernels::make_exchange(devices).in("gradient.exchange = \"nccl\"");
  };
  STERNA_CO_ASSIGN(std::unique_ptr<kernels::DeviceExchange> exchange, compute(begin));
  if (devices.size() > 1) {
    log(fmt::format("{} devices exchange gradients by {}", devices.size(), exchange->name()));
  }
  exchanged_.emplace(*context_, table_, *served_, incoming(), std::move(exchange));
  co_return {};
}

Task<Error> Worker::lack_of_memory(Error refused) {
  average_.reset();
  ranks_.clear();
  seats_.clear();  // what they had is free
  MadeOnDevices what{.net = args_.job.net,
                     .key = "job.batch",
                     .sizes = {args_.job.batch, args_.job.micro_batch},
                     .splits = true,
                     .devices = devices_,
                     .make = nullptr};
  const RanksOnDevices ranks{.args = args_,
                             .shards = static_cast<std::uint32_t>(servers_.size()),
                             .replicas = replicas(),
                             .exchanges = exchanges(),
                             .keeps = residuals_ && residuals_->outlive_worker()};
  what.make = [ranks, &clock = process().loop()](const BatchSizes& sizes,
                                                 const MadeOnDevices::Devices& on) {
    return make_once(ranks, sizes, on, clock);
  };
  auto explaining = compute([refused = std::move(refused), what = std::move(what)] {
    return memory_error(refused, what);
  });
  co_return co_await explaining;
}

Task<Result<void>> Worker::make_seats() {
  const auto devices = static_cast<std::uint32_t>(devices_.size());
  const std::uint32_t all = replicas();
  for (std::uint32_t i = 0; i < all; ++i) {
    Seat& seat = seats_.emplace_back();
    std::shared_ptr<kernels::Device> on = devices > 0 ? devices_[i % devices] : nullptr;
    STERNA_CO_ASSIGN(seat.replica, compute([job = args_.job, device = std::move(on)] {
                       return Replica::make(job, device);
                     }));
    if (devices > 0 && !table_) {
      log("computes on " + seat.replica->computed_by().text());
    }
    if (!table_) {
      table_ = std::make_shared<const ParameterTable>(seat.replica->parameters(), args_.job,
                                                      static_cast<std::uint32_t>(servers_.size()));
      // The one before may have written its part of this version, with what it kept: with zeros it
      // is another one, of a checkpoint that may be there.
      residuals_.emplace(*context_, table_, [this](std::uint64_t step) {
        if (args_.job.in_step()) kept_.begin_behind(step);
      });
      Task<void> taking = residuals_->take_memory();
      co_await taking;
      pulls_.emplace(*context_, servers_, table_, pool_,
                     ParameterPulls::Options{
                         .begins = identity().incarnation == 1,
                         .rejoins = rejoins(),
                         .exchanges = exchanges(),
                         .came = [this](std::uint64_t version) { pushes_->forget_before(version); },
                     });
      table_made_.notify_all();
    }
    seat.incoming.emplace(seat.replica, table_, process().loop(), trace_, args_.job.first_step,
                          [this] { wrote_.notify_all(); });
    seat.replica->set_table(table_, process().loop(), [&seat, loop = poster()] {
      loop.post([&seat] { seat.incoming->write_settled(); });
    });
    auto planning =
        make_there([replica = seat.replica, i, all, exchanges = exchanges()]() -> Result<void> {
          return exchanges ? replica->exchange(i, all) : replica->plan_steps();
        });
    STERNA_CO_TRY(std::move(planning));
    Task<Result<void>> making = make_ranks(seat, ranks_of_seat(args_, devices > 0, i, all));
    STERNA_CO_TRY(std::move(making));
  }
  co_return {};
}

Task<Result<void>> Worker::make_ranks(Seat& seat, std::vector<std::uint32_t> numbers) {
  for (const std::uint32_t number : numbers) {
    Rank& rank = ranks_.emplace_back();
    rank.rank = number;
    rank.seat = &seat;
    batches_->begin(number, beginning_->first_step_of(number), seat.replica->image_bytes());
    rank.version = args_.job.first_step;
    pushes_->begin(number, args_.job.first_step);
    rank.pull = {.rank = number, .incoming = &*seat.incoming, .came = [this, number] {
                   pushes_->of(number).answered.notify_all();
                 }};
    rank.kept = beginning_->newest_version();
    seat.ranks.push_back(&rank);
    auto making = averages() ? make_averaged_net(rank) : make_net(rank, numbers.size() > 1);
    STERNA_CO_ASSIGN(rank.net, std::move(making));
    rank.trace = RankTrace(process().tracer(), number, first_traced(args_.job.trace));
    rank.net->set_trace(process().tracer());
  }
  seat.incoming->go_through(seat.ranks.front()->net->local_steps());
  co_return {};
}

Task<Result<std::shared_ptr<RankNet>>> Worker::make_net(Rank& rank, bool shares) {
  STERNA_CO_ASSIGN(Residuals found, residuals_of(rank.rank));
  const auto residuals = std::make_shared<Residuals>(std::move(found));
  auto making = make_there([job = args_.job, number = rank.rank, replica = rank.seat->replica,
                            shares, table = table_, &clock = process().loop(),
                            events = events_of(rank), residuals] {
    return RankNet::make(job, number, replica, shares, table, clock, events, std::move(*residuals));
  });
  co_return co_await making;
}

Result<Residuals> Worker::residuals_of(std::uint32_t rank) {
  if (!beginning_->goes_on(rank)) return residuals_->begin(rank);
  return residuals_->go_on(rank, beginning_->first_push_of(rank));
}

GradientEncoder::Events Worker::events_of(Rank& rank) {
  const Poster loop = poster();
  GradientEncoder::Events events;
  events.packets = [this, &rank, loop](std::uint64_t step, std::uint32_t shard,
                                       std::vector<Packet> packets) {
    loop.post([this, &rank, step, shard, packets = std::move(packets)]() mutable {
      push(rank, step, shard, std::move(packets));
    });
  };
  events.offers = [this, &rank, loop](std::uint64_t step, std::uint32_t shard,
                                      std::vector<Offer::OwnScaler> scalers) {
    loop.post([this, &rank, step, shard, scalers = std::move(scalers)]() mutable {
      run(agree(rank, step, shard, std::move(scalers)));
    });
  };
  return events;
}

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
  co_return co_await making;
}

}  // namespace sterna::actors
