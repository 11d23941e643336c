// Time as a thing that is passed in, so that a test can own it.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>

namespace sterna {

using Duration = std::chrono::nanoseconds;

constexpr double in_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// A point on a monotonic clock. Meaningful only within one process (or one simulation).
struct Time {
  std::int64_t ns = 0;
  friend constexpr auto operator<=>(const Time&, const Time&) = default;
  /// At most the last one there is, which stands for never (kNever): of Duration::max(), say.
  friend constexpr Time operator+(Time t, Duration d) {
    constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
    return {d.count() > 0 && t.ns > kLast - d.count() ? kLast : t.ns + d.count()};
  }
  friend constexpr Duration operator-(Time a, Time b) { return Duration(a.ns - b.ns); }
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
};

/// The machine's monotonic clock.
class SteadyClock final : public Clock {
 public:
  Time now() const override {
    return {
        std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())
            .count()};
  }
};

/// The machine's clock since it was started, sleep included (CLOCK_BOOTTIME).
class BootClock final : public Clock {
 public:
  Time now() const override;
};

}  // namespace sterna
