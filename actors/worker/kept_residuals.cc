#include "actors/worker/kept_residuals.h"

#include <algorithm>

#include <fmt/format.h>

namespace sterna::actors {

Task<void> KeptResiduals::take_memory() {
  const JobConfig& job = context_.job();
  if (!job.gradient.error_feedback || !job.workers_come_again()) co_return;
  KeptMemory* const memory = context_.process.kept_memory();
  Result<KeptMemory::Region> taken = Error{Errc::unavailable, "this host keeps no memory for it"};
  if (memory != nullptr) {
    const std::size_t bytes =
        context_.args.ranks / job.averaged_ranks * Residuals::bytes_of(job, *table_);
    auto taking = context_.compute([memory, bytes] { return memory->take(bytes); });
    taken = co_await taking;
  }
  if (taken) {
    memory_ = std::move(*taken);
  } else {
    context_.process.log("what error feedback keeps will be lost with this worker: " +
                         taken.error().message);
  }
}

Residuals KeptResiduals::place_of(std::uint32_t rank) const {
  const JobConfig& job = context_.job();
  if (!memory_) return {job, *table_};
  const std::size_t before = (rank - context_.args.first_rank) / job.averaged_ranks;
  return {job, *table_, *memory_, before * Residuals::bytes_of(job, *table_)};
}

Residuals KeptResiduals::begin(std::uint32_t rank) {
  const JobConfig& job = context_.job();
  if (!job.gradient.error_feedback) return {};
  Residuals residuals = place_of(rank);
  if (memory_) residuals.start_at(job.first_step);
  return residuals;
}

Result<Residuals> KeptResiduals::go_on(std::uint32_t rank, std::uint64_t step) {
  const JobConfig& job = context_.job();
  if (!job.gradient.error_feedback) return Residuals();
  Residuals residuals = place_of(rank);
  if (residuals.whole_for(step)) return residuals;
  if (job.in_step() && !job.gradient.zeroes_residuals()) {
    return Error{Errc::not_found, fmt::format("step {}: what error feedback kept of rank {} was "
                                              "lost with the worker before",
                                              step, rank)};
  }
  lost_.from = lost_.ranks == 0 ? step : std::min(lost_.from, step);
  ++lost_.ranks;
  residuals.zero_before(step);
  on_lost_(step);
  return residuals;
}

}  // namespace sterna::actors
