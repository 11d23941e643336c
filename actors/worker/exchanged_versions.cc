#include "actors/worker/exchanged_versions.h"

#include <utility>

namespace sterna::actors {

ExchangedVersions::ExchangedVersions(const WorkerContext& context,
                                     std::shared_ptr<const ParameterTable> table,
                                     ServedShard& served, std::vector<IncomingVersion*> devices,
                                     std::unique_ptr<kernels::DeviceExchange> exchange)
    : context_(context),
      table_(std::move(table)),
      served_(served),
      devices_(std::move(devices)),
      exchange_(std::move(exchange)),
      missing_(table_->tensors.size(), context.args.ranks) {
  const ExchangedSteps& steps = *devices_.front()->replica()->exchanged();
  for (std::uint32_t tensor = 0; tensor < table_->tensors.size(); ++tensor) {
    if (steps.has(tensor)) ++tensors_;
  }
}

void ExchangedVersions::packet_is_there(std::uint32_t tensor) {
  if (--missing_[tensor] > 0) return;
  missing_[tensor] = context_.args.ranks;
  complete_.push_back(tensor);
  came_.notify_all();
}

Task<Result<void>> ExchangedVersions::make_all() {
  const JobConfig& job = context_.job();
  if (job.keeps_averages()) {
    Task<Result<void>> beginning = begin_averages();
    STERNA_CO_TRY(std::move(beginning));
  }
  for (std::uint64_t step = job.first_step; step < job.steps; ++step) {
    Task<Result<void>> making = make(step);
    STERNA_CO_TRY(std::move(making));
  }
  co_return {};
}

/// As the shard has drawn or read them, which it has by the time that ranks have computed.
Task<Result<void>> ExchangedVersions::begin_averages() {
  const JobConfig& job = context_.job();
  if (job.first_step == job.steps) co_return {};
  while (complete_.empty()) co_await came_.wait();
  auto beginning = context_.compute(
      [replica = devices_.front()->replica(), averages = served_.shard->first_averages()] {
        return replica->begin_averages(averages);
      });
  const Result<void> begun = co_await beginning;
  if (!begun) co_return at_step(job.first_step, "moving averages", begun.error());
  co_return {};
}

Task<Result<void>> ExchangedVersions::make(std::uint64_t step) {
  while (complete_.empty()) co_await came_.wait();
  while (!served_.shard->may_begin(step + 1)) {
    served_.changed();
    co_await served_.released.wait();
  }
  const Shard::Wanted wanted = served_.shard->begin(step + 1);
  for (std::size_t left = tensors_; left > 0; --left) {
    while (complete_.empty()) co_await came_.wait();
    const Result<void> exchanged = exchange_next(step);
    if (!exchanged) co_return at_step(step, "exchange", exchanged.error());
  }
  Task<Result<void>> giving = give(step + 1, wanted);
  co_return co_await giving;
}

Result<void> ExchangedVersions::exchange_next(std::uint64_t step) {
  const std::uint32_t tensor = complete_.front();
  complete_.pop_front();
  if (devices_.size() > 1) {
    std::vector<ExchangedSteps*> all;
    for (IncomingVersion* device : devices_) all.push_back(device->replica()->exchanged());
    STERNA_TRY(ExchangedSteps::exchange(all, *exchange_, tensor, step));
  }
  for (IncomingVersion* device : devices_) device->step(tensor, step);
  return {};
}

Task<Result<void>> ExchangedVersions::give(std::uint64_t version, Shard::Wanted wanted) {
  IncomingVersion& first = *devices_.front();
  std::vector<Shard::Made> made;
  if (wanted.any()) {
    while (first.steps_wait()) co_await first.ready().wait();
    auto reading = context_.compute(
        [replica = first.replica(), keeps = wanted.kept] { return replica->made(keeps); });
    Result<std::vector<Shard::Made>> read = co_await reading;
    if (!read) co_return at_step(version, "parameters", read.error());
    made = std::move(*read);
  } else {
    for (std::uint32_t chunk = 0; chunk < table_->chunks.size(); ++chunk) {
      if (!first.replica()->exchanged()->has(table_->chunks[chunk].tensor)) continue;
      made.push_back({.chunk = chunk, .parameters = nullptr, .slots = {}, .average = nullptr});
    }
  }
  for (Shard::Made& chunk : made) served_.shard->made(version, wanted, std::move(chunk));
  served_.changed();
  co_return {};
}

}  // namespace sterna::actors
