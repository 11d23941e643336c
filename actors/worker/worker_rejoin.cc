// A worker in the place of one that was lost. Servers know the earliest step of which a packet of a
// rank is missing; all its ranks begin at the smallest. What is pushed twice is the same bits, and
// is ignored.
#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "actors/worker/worker.h"

namespace sterna::actors {

Task<Result<void>> Worker::rejoin() {
  JobConfig& job = args_.job;
  if (!job.workers_come_again()) {
    co_return Error{Errc::invalid_argument, "ranks of this job do not go on in another worker"};
  }
  std::deque<Task<Result<Rejoined>>> all;
  std::deque<std::string> asked;
  for (std::uint32_t i = 0; i < args_.ranks; ++i) {
    for (Server& server : servers_) {
      const Rejoin question{.rank = args_.first_rank + i, .incarnation = identity().incarnation};
      all.push_back(server.peer.ask(question, job.deadlines.start));
      asked.push_back(server.peer.name());
    }
  }
  // Of a job that is done its last step is computed once more: somebody may wait for its loss.
  std::uint64_t step = job.steps - 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Result<Rejoined> answer = co_await std::move(all[i]);
    STERNA_CO_ASSIGN(const Rejoined there, std::move(answer).in(asked[i]));
    step = std::min(step, there.step);
  }
  log(fmt::format("going on at step {}, in place of a worker that was lost", step));
  rejoins_ = true;
  if (step <= job.first_step) co_return {};
  job.first_position = job.position_of(step);
  job.first_step = step;
  job.resumes = true;
  meter_ = ProgressMeter(args_);
  co_return {};
}

}  // namespace sterna::actors
