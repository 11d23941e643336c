// EndOrders: what a job was told about its end, by its terminal, by signals and by operators.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "runtime/base/clock.h"
#include "runtime/loop/signal_watch.h"
#include "runtime/loop/uv_loop.h"

namespace sterna::launcher {

/// Hears SIGINT, SIGTERM, SIGHUP where it is not ignored, and SIGTSTP as long as it lives.
class EndOrders {
 public:
  struct Hooks {
    /// The job ends now: at the first order, and again at the second.
    std::function<void()> interrupted;
    /// Whether it ends by itself, with a checkpoint, if it is told to end at this moment.
    std::function<bool()> ends_by_itself;
    /// A line for who looks at the screen.
    std::function<void(std::string_view line)> say;
  };
  /// `clock` tells two SIGTERMs from one that came twice; both outlive it.
  EndOrders(UvLoop& loop, const Clock& clock, Hooks hooks);

  /// At once; twice: without grace.
  void interrupt();
  /// As SIGTERM does: in good order where that may be.
  void tell_to_end();
  /// A signal that came before there was anybody to hear it; 0: none. What was heard since counts
  /// once.
  void hear_earlier(int signal);

  bool interrupted() const { return interrupted_; }
  /// By SIGTERM, as batch systems do; it may have come to an interruption since.
  bool told_to_end() const { return told_to_end_; }
  bool any() const { return interrupted_ || told_to_end_; }
  bool without_grace() const { return second_; }

 private:
  const Clock& clock_;
  Hooks hooks_;
  bool interrupted_ = false;
  bool second_ = false;
  bool told_to_end_ = false;
  Time told_at_;
  SignalWatch interrupt_;
  SignalWatch terminate_;
  SignalWatch suspend_;
  std::optional<SignalWatch> hang_up_;
};

}  // namespace sterna::launcher
