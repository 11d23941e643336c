// A clock that stands still until a test moves it.
#pragma once

#include "runtime/base/clock.h"

namespace sterna::launcher {

class TestClock final : public Clock {
 public:
  Time now() const override { return time; }
  Time time;
};

}  // namespace sterna::launcher
