// The loop: one thread, one clock, everything a process does. Real (UvLoop) or simulated (SimLoop).
#pragma once

#include <functional>
#include <limits>

#include "runtime/base/clock.h"

namespace sterna {

constexpr Time kNever{std::numeric_limits<std::int64_t>::max()};

class Loop : public Clock {
 public:
  /// Something that has work on the loop thread: a process's mailboxes, a transport's sockets.
  class Source {
   public:
    virtual ~Source() = default;
    /// Does a bounded amount of work. Called once per turn of the loop.
    virtual void turn() = 0;
    /// True if turn() should be called again without waiting. Called for every source after each
    /// turn, and before the loop sleeps.
    virtual bool ready() = 0;
    /// When turn() must be called at the latest even if nothing else happens.
    virtual Time next_deadline() = 0;
  };

  /// Loop thread only. A source must be removed before it is destroyed.
  virtual void add(Source& source) = 0;
  virtual void remove(Source& source) = 0;

  /// From any thread: runs `work` on the loop thread, in the order of posting.
  virtual void post(std::function<void()> work) = 0;

  /// Runs until `done()` is true (checked between turns) or `deadline` passes; true if done.
  virtual bool run_until(const std::function<bool()>& done, Time deadline) = 0;
};

}  // namespace sterna
