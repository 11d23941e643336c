#include "runtime/loop/end_signals.h"

#include <chrono>
#include <csignal>

namespace sterna {
namespace {

/// What has come already is told in the loop's first turn, which this makes it take.
constexpr Duration kOneTurn = std::chrono::milliseconds(1);

}  // namespace

bool is_ignored(int signal) {
  struct sigaction handles {};
  return ::sigaction(signal, nullptr, &handles) == 0 && handles.sa_handler == SIG_IGN;
}

EndSignals::EndSignals(UvLoop& loop)
    : loop_(loop),
      interrupt_(loop, SIGINT, [this] { heard(SIGINT); }),
      terminate_(loop, SIGTERM, [this] { heard(SIGTERM); }) {
  if (!is_ignored(SIGHUP)) hang_up_.emplace(loop, SIGHUP, [this] { heard(SIGHUP); });
}

int EndSignals::first() {
  loop_.run_until([this] { return first_ != 0; }, loop_.now() + kOneTurn);
  return first_;
}

void EndSignals::heard(int signal) {
  if (first_ == 0) first_ = signal;
}

}  // namespace sterna
