// What a worker tells the observer of its steps.
#include <utility>

#include <fmt/format.h>

#include "actors/worker/worker.h"

namespace sterna::actors {

Traffic Worker::traffic() const {
  Traffic traffic = pushes_->traffic();
  traffic += pulls_->traffic();
  traffic.bytes_before_backward_ended = early_bytes_;
  if (const Links* links = process().links()) {
    for (const std::uint64_t bytes : links->counters().bytes_out) traffic.bytes_up += bytes;
    for (const std::uint64_t bytes : links->counters().bytes_in) traffic.bytes_down += bytes;
  }
  for (const Rank& rank : ranks_) {
    traffic.nonzero_elements += rank.counts.nonzero;
    traffic.measured_elements += rank.counts.measured;
    traffic.saturated_elements += rank.counts.saturated;
  }
  return traffic;
}

/// Sums over the ranks.
std::vector<TensorTotals> Worker::totals() const {
  std::vector<TensorTotals> sums;
  for (const TableTensor& tensor : table_->tensors) {
    sums.push_back({.tensor = tensor.spec.name, .codec = tensor.codec, .elements = tensor.count});
  }
  for (const Rank& rank : ranks_) {
    if (pushes(rank)) rank.net->add_to(sums);
  }
  for (const Seat& seat : seats_) seat.replica->add_to(sums);
  return sums;
}

void Worker::tell(Watched step) {
  if (telling_watched_) {
    ++lost_watched_;
    return;
  }
  telling_watched_ = true;
  ++unacknowledged_;
  run(tell_observer(std::move(step)));
}

Task<void> Worker::tell_observer(Watched step) {
  step.worker = identity().name;
  step.lost = lost_watched_;
  Task<Result<void>> answer = observer_->ask(std::move(step), args_.job.deadlines.step);
  // Without an answer this one is lost to who looks on, and the steps go on.
  if (const Result<void> taken = co_await answer; !taken) ++lost_watched_;
  telling_watched_ = false;
  --unacknowledged_;
  finish();
}

void Worker::step_done(std::uint64_t step, Rank& rank, const nets::Net::Loss& loss) {
  if (meter_.add(step, rank.rank, loss, now())) {
    observer_->tell(meter_.progress(identity().name, traffic(), now()));
  }
  finish();
}

void Worker::log_allocations() {
  for (std::size_t i = 0; i < planned_.size(); ++i) {
    const kernels::DeviceAllocations all = devices_[i]->allocations();
    const std::uint64_t later = (all.device - planned_[i].device) + (all.host - planned_[i].host);
    log(
        fmt::format("device {}: memory was allocated {} times, {} more of the host's; {} since the "
                    "first step began",
                    devices_[i]->facts().index, all.device, all.host, later));
  }
}

void Worker::finish() {
  if (!meter_.complete() || unacknowledged_ > 0 || pushes_->unanswered() > 0) return;
  if (meter_.has_news()) {
    observer_->tell(meter_.progress(identity().name, traffic(), now()));
  }
  trace_.flush();
  log_allocations();
  WorkerDone done = meter_.done(identity().name, traffic(), totals(), now());
  if (!devices_.empty()) done.computed_by = seats_.front().replica->computed_by();
  observer_->tell(std::move(done));
}

}  // namespace sterna::actors
