#include "actors/worker/progress_meter.h"

#include <algorithm>
#include <utility>

namespace sterna::actors {
namespace {

/// Of so many steps the median is taken.
constexpr std::size_t kStepTimes = 4096;

}  // namespace

void ProgressMeter::begin(Time now) {
  if (!std::exchange(began_, true)) began_at_ = last_step_at_ = now;
}

void ProgressMeter::waited_for_data(Time ready, Time now) {
  if (began_ && now > ready) data_seconds_ += std::chrono::duration<double>(now - ready).count();
}

double ProgressMeter::seconds(Time now) const {
  return began_ ? std::chrono::duration<double>(now - began_at_).count() : 0;
}

RankLoss ProgressMeter::tell(std::uint64_t step, std::uint32_t rank, const nets::Net::Loss& loss) {
  const double decay = loss.regularization;
  const RankLoss told{
      .step = step, .rank = rank, .loss = loss.cross_entropy + decay, .decay_loss = decay};
  if (news_.size() == Progress::kMostLosses) {
    news_.pop_front();
    ++lost_;
  }
  return news_.emplace_back(told);
}

bool ProgressMeter::add(std::uint64_t step, std::uint32_t rank, const nets::Net::Loss& loss,
                        Time now) {
  const auto [entry, fresh] = losses_.try_emplace(step);
  Losses& losses = entry->second;
  if (fresh) losses = {.by_rank = std::vector<RankLoss>(args_.ranks), .missing = args_.ranks};
  losses.by_rank[rank - args_.first_rank] = tell(step, rank, loss);
  if (--losses.missing > 0) return false;

  set_last(losses.by_rank);
  losses_.erase(entry);
  took(now - last_step_at_);
  last_step_at_ = now;
  ++steps_done_;
  rank_steps_ += args_.ranks;
  const bool reports = steps_here() == 1 || complete() || now - last_report_at_ >= kInterval;
  if (reports) last_report_at_ = now;
  return reports;
}

void ProgressMeter::set_last(const std::vector<RankLoss>& losses) {
  last_loss_ = last_decay_loss_ = 0;
  for (const RankLoss& one : losses) {
    last_loss_ += one.loss;
    last_decay_loss_ += one.decay_loss;
  }
  last_loss_ /= static_cast<double>(losses.size());
  last_decay_loss_ /= static_cast<double>(losses.size());
}

void ProgressMeter::took(Duration step) {
  if (step_times_.size() < kStepTimes) step_times_.emplace_back();
  step_times_[times_++ % kStepTimes] = step.count();
}

bool ProgressMeter::add_apart(std::uint32_t rank, const nets::Net::Loss& loss,
                              std::uint64_t version, Time now) {
  apart_[rank] = tell(version, rank, loss);
  std::vector<RankLoss> last;
  for (const auto& [number, one] : apart_) last.push_back(one);
  set_last(last);
  // Of one rank, if the worker has several: they step beside each other.
  took((now - last_step_at_) * args_.ranks);
  last_step_at_ = now;
  steps_done_ = std::max(steps_done_, version);
  const bool first = rank_steps_++ == 0;
  const bool reports = first || now - last_report_at_ >= kInterval;
  if (reports) last_report_at_ = now;
  return reports;
}

Progress ProgressMeter::progress(std::string worker, const Traffic& traffic, Time now) {
  const std::deque<RankLoss> news = std::exchange(news_, {});
  return {.worker = std::move(worker),
          .step = steps_done_,
          .loss = last_loss_,
          .decay_loss = last_decay_loss_,
          .examples = rank_steps_ * args_.job.batch,
          .seconds = seconds(now),
          .traffic = traffic,
          .data_seconds = data_seconds_ / args_.ranks,
          .losses = {news.begin(), news.end()},
          .lost_losses = lost_};
}

WorkerDone ProgressMeter::done(std::string worker, const Traffic& traffic,
                               std::vector<TensorTotals> tensors, Time now) const {
  std::vector<std::int64_t> times = step_times_;
  if (times.empty()) times.push_back(0);  // a rank of others' pace: they were done before it began
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return {.worker = std::move(worker),
          .steps = complete() ? args_.job.steps : steps_done_,
          .loss = last_loss_,
          .decay_loss = last_decay_loss_,
          .seconds = seconds(now),
          .median_step_seconds = static_cast<double>(*middle) * 1e-9,
          .traffic = traffic,
          .tensors = std::move(tensors)};
}

}  // namespace sterna::actors
