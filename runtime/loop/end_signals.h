// EndSignals: what tells a program to end (Ctrl-C, SIGTERM, a terminal that is closed), heard also
// between two of its jobs, each of which hears it only while it lasts.
#pragma once

#include <optional>

#include "runtime/loop/signal_watch.h"
#include "runtime/loop/uv_loop.h"

namespace sterna {

/// As under nohup.
bool is_ignored(int signal);

/// While it lives none of SIGINT, SIGTERM and SIGHUP ends this process: there are last words to say
/// and a terminal to put in order. SIGHUP that is ignored stays so.
class EndSignals {
 public:
  /// `loop` must outlive it.
  explicit EndSignals(UvLoop& loop);
  /// The first of them that has come, also where others have heard it; 0: none. Turns the loop.
  int first();

 private:
  void heard(int signal);
  UvLoop& loop_;
  int first_ = 0;
  SignalWatch interrupt_;
  SignalWatch terminate_;
  std::optional<SignalWatch> hang_up_;
};

}  // namespace sterna
