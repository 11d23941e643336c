#include "actors/worker/ranks/ranks_on_devices.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/worker/ranks/net_memory.h"
#include "actors/worker/ranks/rank_net.h"
#include "actors/worker/ranks/replica.h"

namespace sterna::actors {
namespace {

/// Of one rank, where somebody asks for their size and nobody for what they are.
Residuals residuals_of(const RanksOnDevices& ranks, const ParameterTable& table) {
  const JobConfig& job = ranks.args.job;
  if (!job.gradient.error_feedback) return {};
  if (!ranks.keeps) return {job, table};
  const std::size_t bytes = Residuals::bytes_of(job, table);
  // Never written, so that it takes nothing of the host's.
  const auto memory =
      std::make_shared_for_overwrite<std::uint64_t[]>(bytes / sizeof(std::uint64_t));
  const auto all = std::as_writable_bytes(std::span(memory.get(), bytes / sizeof(std::uint64_t)));
  return {job, table, {.owner = memory, .bytes = all}, 0};
}

}  // namespace

Result<void> make_once(const RanksOnDevices& ranks, const BatchSizes& sizes,
                       const MadeOnDevices::Devices& on, const Clock& clock) {
  JobConfig job = ranks.args.job;
  job.batch = sizes.batch;
  job.micro_batch = sizes.micro_batch;
  const auto devices = static_cast<std::uint32_t>(on.size());
  std::shared_ptr<const ParameterTable> table;
  std::shared_ptr<HostAverage> average;
  std::vector<std::shared_ptr<RankNet>> nets;  // all at a time
  for (std::uint32_t i = 0; i < ranks.replicas; ++i) {
    STERNA_ASSIGN(const auto replica, Replica::make(job, on[i % devices]));
    if (!table) {
      table = std::make_shared<const ParameterTable>(replica->parameters(), job, ranks.shards);
    }
    replica->set_table(table, clock, [] {});
    STERNA_TRY(ranks.exchanges ? replica->exchange(i, ranks.replicas) : replica->plan_steps());
    const auto numbers = ranks_of_seat(ranks.args, true, i, ranks.replicas);
    for (const std::uint32_t number : numbers) {
      if (job.averaged_ranks == 1) {
        STERNA_ASSIGN(nets.emplace_back(),
                      RankNet::make(job, number, replica, numbers.size() > 1, table, clock, {},
                                    residuals_of(ranks, *table)));
        continue;
      }
      if (job.pushes(number)) {
        STERNA_ASSIGN(average, average_for(job, number, *replica, devices_of(on, ranks.replicas),
                                           table, clock, {}, residuals_of(ranks, *table)));
      }
      STERNA_ASSIGN(nets.emplace_back(),
                    RankNet::make_averaged(job, number, replica, table, average));
    }
  }
  return {};
}

}  // namespace sterna::actors
