#include "runtime/base/clock.h"

#include <ctime>

namespace sterna {

Time BootClock::now() const {
  constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
  timespec since{};
  clock_gettime(CLOCK_BOOTTIME, &since);
  return {since.tv_sec * kNanosecondsPerSecond + since.tv_nsec};
}

}  // namespace sterna
