// Timers: a binary heap of (time, slot) with lazy cancellation.
//
// Every ask arms one, so arming must cost a few nanoseconds: deadlines mostly grow, so a push
// rarely sifts; cancelling only marks the slot. When more than half of the heap is cancelled
// entries, it is rebuilt, so memory stays below twice the live timers.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/loop/loop.h"

namespace sterna {

class Timers {
 public:
  /// What fires. Called with the timer already disarmed; may arm and cancel others.
  class Target {
   public:
    virtual void timer_fired() = 0;

   protected:
    ~Target() = default;
  };
  /// Names an armed timer; 0 is never one. Not reused (slot and generation).
  using Id = std::uint64_t;

  /// `target` must outlive the timer or cancel it.
  Id arm(Time when, Target& target);
  /// Harmless if it has fired or was cancelled.
  void cancel(Id id);
  /// The target has moved in memory.
  void retarget(Id id, Target& target);

  /// The earliest armed time, or kNever.
  Time next();
  /// Fires at most `budget` timers due at `now`; true if more are due.
  bool fire(Time now, int budget);
  std::size_t armed() const { return armed_; }
  /// Entries held, cancelled ones included.
  std::size_t heap_size() const { return heap_.size(); }

 private:
  struct Slot {
    Target* target = nullptr;
    std::uint32_t generation = 1;
  };
  struct Entry {
    Time when;
    std::uint64_t order;  // arming order breaks ties, so that a simulation is deterministic
    Id id;
  };
  bool live(Id id) const;
  void release(Id id);
  void drop_cancelled_top();
  void rebuild();

  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::uint64_t order_ = 0;
  std::size_t armed_ = 0;
};

}  // namespace sterna
