#include "runtime/sim/sim_loop.h"

#include <algorithm>

namespace sterna {

void SimLoop::add(Source& source) { sources_.push_back(&source); }

void SimLoop::remove(Source& source) {
  // Only blanked: we may be in the middle of a turn.
  std::replace(sources_.begin(), sources_.end(), &source, static_cast<Source*>(nullptr));
}

void SimLoop::post(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(std::move(work));
}

void SimLoop::at(Time when, std::function<void()> work) {
  events_.push({std::max(when, now_), order_++, std::move(work)});
}

bool SimLoop::turn() {
  std::vector<std::function<void()>> posted;
  {
    const std::lock_guard lock(mutex_);
    posted.swap(posted_);
  }
  for (const auto& work : posted) work();
  bool busy = !posted.empty();
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i] != nullptr && sources_[i]->ready()) {
      sources_[i]->turn();
      busy = true;
    }
  }
  std::erase(sources_, nullptr);
  while (!events_.empty() && events_.top().when <= now_) {
    const std::function<void()> work = events_.top().work;
    events_.pop();
    work();
    busy = true;
  }
  return busy;
}

Time SimLoop::next_event() {
  Time next = events_.empty() ? kNever : events_.top().when;
  for (Source* source : sources_) {
    if (source != nullptr) next = std::min(next, source->next_deadline());
  }
  return next;
}

bool SimLoop::run_until(const std::function<bool()>& done, Time deadline) {
  while (!done()) {
    if (turn()) continue;
    const Time next = next_event();
    {
      const std::lock_guard lock(mutex_);
      if (!posted_.empty()) continue;
    }
    if (next == kNever || next > deadline) {
      now_ = next == kNever ? now_ : std::max(now_, deadline);
      return done();
    }
    now_ = std::max(now_, next);
  }
  return true;
}

}  // namespace sterna
