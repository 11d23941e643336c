// A worker in the place of one that was lost (ranks_beginning.h), and one that tells a server which
// is in such a place what it tells the server's partner.
#include <algorithm>

#include "actors/worker/worker.h"

namespace sterna::actors {

Task<Result<void>> Worker::rejoin() {
  JobConfig& job = args_.job;
  if (!job.workers_come_again()) {
    co_return Error{Errc::invalid_argument, "ranks of this job do not go on in another worker"};
  }
  if (!job.in_step()) {
    STERNA_CO_TRY(beginning_->find_pushes());
    kept_.begin_behind(beginning_->newest_version());
    co_return {};
  }
  Task<Result<std::uint64_t>> finding = beginning_->find_step([this](std::uint64_t earliest) {
    begins_at_ = earliest;
    begins_.notify_all();
  });
  STERNA_CO_ASSIGN(const std::uint64_t step, std::move(finding));
  if (step <= job.first_step) co_return {};
  job.first_position = job.position_of(step);
  job.first_step = step;
  job.resumes = true;
  meter_ = ProgressMeter(args_);
  co_return {};
}

Task<Result<void>> Worker::recall_scalers() {
  if (args_.job.gradient.scaler != ScalerRule::last_step) co_return {};
  Task<Result<std::vector<float>>> recalling = beginning_->scalers_before(*table_);
  STERNA_CO_ASSIGN(const std::vector<float> scalers, std::move(recalling));
  for (Rank& rank : ranks_) {
    if (pushes(rank)) rank.net->restore({.residuals = {}, .scalers = scalers});
  }
  co_return {};
}

Task<Result<Enlisted>> Worker::on(Enlist) {
  const ActorId from = sender();
  while (!begins_at_) co_await begins_.wait();
  // Of the step that a rank is in something may have been pushed.
  std::uint64_t step = *begins_at_ + 1;
  for (const Rank& rank : ranks_) step = std::max(step, rank.step + 1);
  STERNA_CO_TRY(enlist(servers_, process(), from, step));
  co_return Enlisted{step};
}

}  // namespace sterna::actors
