#include "runtime/loop/lease.h"

#include <algorithm>
#include <utility>

namespace sterna {

Lease::Lease(Loop& loop, const Clock& clock, Duration duration, std::function<void()> lost)
    : loop_(loop),
      clock_(clock),
      duration_(duration),
      lost_(std::move(lost)),
      until_(clock.now() + duration) {
  loop_.add(*this);
}

Lease::~Lease() { loop_.remove(*this); }

void Lease::renew(Time asked) {
  turn();
  if (!over_) until_ = std::max(until_, asked + duration_);
}

bool Lease::ready() { return !over_ && clock_.now() >= until_; }

void Lease::turn() {
  if (!ready()) return;
  over_ = true;
  lost_();
}

Time Lease::next_deadline() { return over_ ? kNever : loop_.now() + (until_ - clock_.now()); }

}  // namespace sterna
