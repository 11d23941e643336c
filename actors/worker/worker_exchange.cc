// A worker whose ranks' gradients meet on its devices (gradient.exchange): each device gets all
// ranks' packets, or what they come to, and steps its one copy of the parameters from them. The
// host learns when a packet is there and says what is put on which stream; no gradient comes to it,
// and parameters only for versions that the evaluator or a checkpoint takes. Statistics, which need
// no step of devices, take the way of a CPU's gradients.
//
// Ranks are in step: nobody begins a step before all packets of the one before are there, so that
// what is exchanged is of one version.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/worker/ranks/net_memory.h"
#include "actors/worker/worker.h"

namespace sterna::actors {

Task<Result<void>> Worker::begin_exchanging() {
  exchanging_ = std::make_unique<Exchanging>();
  const Devices devices = devices_of(devices_, seats_.size());
  const auto begin = [devices]() -> Result<std::unique_ptr<kernels::DeviceExchange>> {
    return kernels::make_exchange(devices).in("gradient.exchange = \"nccl\"");
  };
  STERNA_CO_ASSIGN(exchanging_->exchange, compute(begin));
  if (devices.size() > 1) {
    log(fmt::format("{} devices exchange gradients by {}", devices.size(),
                    exchanging_->exchange->name()));
  }
  const ExchangedSteps& steps = *seats_.front().replica->exchanged();
  for (std::uint32_t tensor = 0; tensor < table_->tensors.size(); ++tensor) {
    exchanging_->missing.push_back(args_.ranks);
    if (steps.has(tensor)) ++exchanging_->tensors;
  }
  co_return {};
}

void Worker::packet_is_there(std::uint32_t tensor) {
  if (--exchanging_->missing[tensor] > 0) return;
  exchanging_->missing[tensor] = args_.ranks;
  exchanging_->complete.push_back(tensor);
  exchanging_->came.notify_all();
}

Task<Result<void>> Worker::exchange_all() {
  if (args_.job.keeps_averages()) {
    Task<Result<void>> beginning = begin_averages();
    STERNA_CO_TRY(std::move(beginning));
  }
  for (std::uint64_t step = args_.job.first_step; step < args_.job.steps; ++step) {
    Task<Result<void>> exchange = exchange_version(step);
    STERNA_CO_TRY(std::move(exchange));
  }
  co_return {};
}

/// As the shard has drawn or read them, which it has by the time that ranks have computed.
Task<Result<void>> Worker::begin_averages() {
  if (args_.job.first_step == args_.job.steps) co_return {};
  while (exchanging_->complete.empty()) co_await exchanging_->came.wait();
  auto beginning =
      compute([replica = seats_.front().replica, averages = served_->shard->first_averages()] {
        return replica->begin_averages(averages);
      });
  const Result<void> begun = co_await std::move(beginning);
  if (!begun) co_return at_step(args_.job.first_step, "moving averages", begun.error());
  co_return {};
}

Task<Result<void>> Worker::exchange_version(std::uint64_t step) {
  while (exchanging_->complete.empty()) co_await exchanging_->came.wait();
  while (!served_->shard->may_begin(step + 1)) {
    served_->changed();
    co_await served_->released.wait();
  }
  exchanging_->step = step;
  const Shard::Wanted wanted = served_->shard->begin(step + 1);
  for (std::size_t left = exchanging_->tensors; left > 0; --left) {
    while (exchanging_->complete.empty()) co_await exchanging_->came.wait();
    const Result<void> exchanged = exchange_next();
    if (!exchanged) co_return at_step(step, "exchange", exchanged.error());
  }
  Task<Result<void>> giving = give_version(step + 1, wanted);
  co_return co_await std::move(giving);
}

Result<void> Worker::exchange_next() {
  const std::uint32_t tensor = exchanging_->complete.front();
  exchanging_->complete.pop_front();
  if (seats_.size() > 1) {
    std::vector<ExchangedSteps*> all;
    for (const Seat& seat : seats_) all.push_back(seat.replica->exchanged());
    STERNA_TRY(ExchangedSteps::exchange(all, *exchanging_->exchange, tensor, exchanging_->step));
  }
  for (Seat& seat : seats_) {
    seat.steps.push_back(tensor);
    write_settled(seat);
  }
  return {};
}

Task<Result<void>> Worker::give_version(std::uint64_t version, Shard::Wanted wanted) {
  std::vector<Shard::Made> made;
  if (wanted.any()) {
    Seat& first = seats_.front();
    while (!first.steps.empty()) co_await first.ready.wait();
    auto reading =
        compute([replica = first.replica, keeps = wanted.kept] { return replica->made(keeps); });
    Result<std::vector<Shard::Made>> read = co_await std::move(reading);
    if (!read) co_return at_step(version, "parameters", read.error());
    made = std::move(*read);
  } else {
    for (std::uint32_t chunk = 0; chunk < table_->chunks.size(); ++chunk) {
      if (!seats_.front().replica->exchanged()->has(table_->chunks[chunk].tensor)) continue;
      made.push_back({.chunk = chunk, .parameters = nullptr, .slots = {}, .average = nullptr});
    }
  }
  for (Shard::Made& chunk : made) served_->shard->made(version, wanted, std::move(chunk));
  served_->changed();
  co_return {};
}

}  // namespace sterna::actors
