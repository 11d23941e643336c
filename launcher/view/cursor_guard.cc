#include "launcher/view/cursor_guard.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>

namespace sterna::launcher {
namespace {

constexpr std::array<int, 3> kEnding = {SIGQUIT, SIGTERM, SIGHUP};

/// Where the cursor is hidden; -1: nowhere. A signal's handler has nothing else to know it by.
std::atomic<int> hidden_on{-1};

/// Only what a signal's handler may call. A terminal that takes nothing (Ctrl-S) is not waited for.
void show_and_end(int signal) {
  pollfd terminal{hidden_on, POLLOUT, 0};
  if (::poll(&terminal, 1, 0) == 1 && terminal.revents == POLLOUT) {
    (void)!::write(terminal.fd, kShowCursor.data(), kShowCursor.size());
  }
  ::signal(signal, SIG_DFL);
  (void)::raise(signal);  // comes once this handler has returned
}

/// Puts `next` in the place of `now`, and of nothing else.
void replace_handler(int signal, void (*now)(int), void (*next)(int)) {
  struct sigaction handles {};
  if (::sigaction(signal, nullptr, &handles) != 0) return;
  if ((handles.sa_flags & SA_SIGINFO) != 0 || handles.sa_handler != now) return;
  ::signal(signal, next);
}

}  // namespace

CursorGuard::CursorGuard(int terminal) {
  hidden_on = terminal;
  for (const int signal : kEnding) replace_handler(signal, SIG_DFL, show_and_end);
}

CursorGuard::~CursorGuard() {
  for (const int signal : kEnding) replace_handler(signal, show_and_end, SIG_DFL);
  hidden_on = -1;
}

}  // namespace sterna::launcher
