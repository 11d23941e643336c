// CursorGuard: who hides a terminal's cursor shows it again, also where a signal ends this process
// at once (Ctrl-\, a kill, a terminal that is closed).
#pragma once

#include <string_view>

namespace sterna::launcher {

/// Lines wrap again, and the cursor is shown.
inline constexpr std::string_view kShowCursor = "\x1b[?7h\x1b[?25h";

/// While it lives SIGQUIT, SIGTERM and SIGHUP write kShowCursor to the terminal before they do what
/// they do by default. One that is ignored or somebody else's is left alone. One guard at a time.
class CursorGuard {
 public:
  /// By its descriptor, which stays open.
  explicit CursorGuard(int terminal);
  CursorGuard(const CursorGuard&) = delete;
  CursorGuard& operator=(const CursorGuard&) = delete;
  ~CursorGuard();
};

}  // namespace sterna::launcher
