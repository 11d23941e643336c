#include "launcher/record/recent_ratio.h"

namespace sterna::launcher {
namespace {

/// Between two that are kept, in seconds.
constexpr double kInterval = RecentRatio::kSpan / 20;

}  // namespace

void RecentRatio::add(double seconds, double part, double whole) {
  if (kept_.empty()) kept_.push_back({seconds, 0, 0});
  if (last_.seconds - kept_.back().seconds >= kInterval) kept_.push_back(last_);
  last_ = {seconds, part, whole};
  while (kept_.size() > 1 && kept_[1].seconds <= seconds - kSpan) kept_.pop_front();
}

double RecentRatio::part() const { return kept_.empty() ? 0 : last_.part - kept_.front().part; }
double RecentRatio::whole() const { return kept_.empty() ? 0 : last_.whole - kept_.front().whole; }

}  // namespace sterna::launcher
