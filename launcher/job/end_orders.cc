#include "launcher/job/end_orders.h"

#include <csignal>
#include <utility>

#include "runtime/loop/end_signals.h"

namespace sterna::launcher {

namespace {

/// Between two SIGTERMs that are one.
constexpr Duration kToldOnce = std::chrono::seconds(1);

/// What a run says to Ctrl-Z: its processes would give up who is stopped.
constexpr std::string_view kNotSuspended =
    "Ctrl-Z would end this run and is ignored; Ctrl-C ends it, and `sterna up` starts one without "
    "a terminal";

}  // namespace

EndOrders::EndOrders(UvLoop& loop, const Clock& clock, Hooks hooks)
    : clock_(clock),
      hooks_(std::move(hooks)),
      interrupt_(loop, SIGINT, [this] { interrupt(); }),
      terminate_(loop, SIGTERM, [this] { tell_to_end(); }),
      suspend_(loop, SIGTSTP, [this] { hooks_.say(kNotSuspended); }) {
  // The terminal was closed; under nohup that is nothing to us.
  if (!is_ignored(SIGHUP)) hang_up_.emplace(loop, SIGHUP, [this] { interrupt(); });
}

void EndOrders::interrupt() {
  if (std::exchange(interrupted_, true)) second_ = true;
  hooks_.interrupted();
}

void EndOrders::tell_to_end() {
  const Time now = clock_.now();
  const bool before = std::exchange(told_to_end_, true);
  // Who tells a whole group, and one of it that hands it on, mean it once.
  if (before && now - told_at_ < kToldOnce) return;
  told_at_ = now;
  if (before || !hooks_.ends_by_itself()) interrupt();
}

void EndOrders::hear_earlier(int signal) {
  if (signal == 0 || interrupted_) return;
  signal == SIGTERM ? tell_to_end() : interrupt();
}

}  // namespace sterna::launcher
